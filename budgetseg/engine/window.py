"""A window, the part of a video that is labelled at a time, and the reader that its frames come from."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from budgetseg.timing.prices import Prices
from budgetseg.types import UInt8
from budgetseg.video import VideoSource
from budgetseg.video.container import Container
from budgetseg.video.images import ImageFolder

__all__ = ["Reader", "Window"]

ALONE = " alone"
"""Ends the price of decoding frames that need no others."""


@dataclass(frozen=True, eq=False)
class Window:
    """Frames of a video that are labelled together.

    Attributes
    ----------
    number : of the window, from 0
    span : numbers of its frames in the video
    reader : gives its frames
    is_last : whether the video ends with this window
    """

    number: int
    span: range
    reader: "Reader"
    is_last: bool


class Reader:
    """Gives frames by number. Numbers must rise, except in folders of images, which are read in any order.

    Parameters
    ----------
    source : the video, at the size and stride at which it is read
    threads : number of threads that decode
    stride : one frame of the video in this many is a frame of `source`

    Attributes
    ----------
    key : name under which the price of decoding is kept
    source : the video
    can_skip : whether frames can be left out without decoding them
    may_leave_out : whether `leave_out` may still make that possible, by reading only frames that decode without others
    alone : numbers of the frames that decode without others, after `leave_out` has succeeded; None before
    n_decoded : number of frames decoded so far, including those on the way to a frame that was asked for
    n_there : number of frames of the source, once it turned out to have fewer than were asked for; None before
    """

    IMAGE_S = 1.5e-8
    """Seconds to decode a pixel of an image, as long as none was measured on this machine."""
    FILM_S = 3e-9
    """Seconds to decode a pixel of a video file, as long as none was measured on this machine."""

    def __init__(self, source: VideoSource, threads: int, stride: int = 1) -> None:
        if isinstance(source.clip, ImageFolder | Container):
            source = replace(source, clip=replace(source.clip, threads=threads))
        self.source = source
        self.stride = stride
        self.key = f"decode {source.clip.path.suffix}"
        self.can_skip = source.can_skip
        self.may_leave_out = isinstance(source.clip, Container)
        self.alone: Sequence[int] | None = None
        self.n_decoded = 0
        self.n_there: int | None = None
        self._stream = iter(source)
        self._at = 0
        self._times: dict[int, int] = {}
        self._entries: Mapping[int, int] | None = None

    def work(self, n_frames: int) -> float:
        """Pixels that must be decoded to read n_frames frames, including frames between them that cannot be skipped."""
        width, height = self.source.clip.size
        stride = 1 if self.can_skip else self.source.span.stride
        return float(n_frames * stride * width * height)

    def predict_s(self, prices: Prices, n_frames: int) -> float:
        """Predicted seconds to read n_frames frames; a guess for a kind of file that was never read on this machine."""
        if self.key in prices:
            return prices.predict(self.key, self.work(n_frames))
        return (self.IMAGE_S if self.source.can_skip else self.FILM_S) * self.work(n_frames)

    def leave_out(self, numbers: range, enough: Callable[[], bool] = lambda: False) -> bool:
        """From now on read only frames that decode without others. Returns False if no such frame of `numbers` exists.

        The search for them stops when `enough` returns True.
        """
        times = self._find_entries(enough)
        self.may_leave_out = False
        first = next((number for number in times if number in numbers), None)
        # What the container says of its frames is only certain once one of them was decoded.
        if first is None or not list(self.source.pick_alone({first: times[first]})):
            return False
        self._times = dict(times)
        self.alone = sorted(times)
        self.can_skip = True
        self.key += ALONE
        return True

    def entry(self, numbers: range, enough: Callable[[], bool] = lambda: False) -> int | None:
        """The frame nearest to the middle of some that can be read without those before it; None where none is known.

        `enough` ends the search for such frames.
        """
        middle = (numbers.start + numbers.stop) // 2
        if self.can_skip and self.alone is None:
            return middle
        inside = [number for number in self._find_entries(enough) if number in numbers]
        return min(inside, key=lambda number: abs(number - middle), default=None)

    def fetch(self, number: int) -> UInt8 | None:
        """One frame (H, W, 3), out of order; None where it is not there. Frames that are read in order go on as before.

        Where it cannot be read without others, the video is decoded from its beginning.
        """
        times = self._find_entries()
        if number in times:
            found = dict(self.source.pick_alone({number: times[number]}))
            return found[number].pixels if number in found else None
        return next((frame.pixels for frame in self.source.pick([number])), None)

    @property
    def fetch_key(self) -> str:
        """What one frame out of order is priced by, its pixels read by one thread."""
        return self.key if self.key.endswith(ALONE) else self.key + ALONE

    def _find_entries(self, enough: Callable[[], bool] = lambda: False) -> Mapping[int, int]:
        """Frames of a video file that decode without others, with their timestamps; looked for once."""
        if self._entries is None:
            self._entries = self.source.alone(enough)
        return self._entries

    def read(self, numbers: Sequence[int], late: Callable[[], bool] = lambda: False) -> Iterator[tuple[int, UInt8]]:
        """Frames (H, W, 3), uint8, with their numbers; fewer if the video is shorter than its file says.

        Where frames must be decoded on the way to one that was asked for, reading stops when `late` returns True.
        """
        found: Iterator[tuple[int, UInt8]]
        if self.can_skip and self.alone is None:
            found = self._picked(numbers)
        else:
            found = chain(
                self._in_order([number for number in numbers if number not in self._times], late),
                self._alone({number: self._times[number] for number in numbers if number in self._times}),
            )
        for numbered_frame in found:
            self.n_decoded += 1
            yield numbered_frame

    def _picked(self, numbers: Sequence[int]) -> Iterator[tuple[int, UInt8]]:
        known = self.source.n_frames
        wanted = [number for number in numbers if known is None or number < known]
        return zip(wanted, (frame.pixels for frame in self.source.pick(wanted)), strict=False)

    def _in_order(self, numbers: Sequence[int], late: Callable[[], bool]) -> Iterator[tuple[int, UInt8]]:
        for number in numbers:
            if number < self._at:  # the stream is past this frame
                continue
            for frame in self._stream:
                self._at += 1
                if self._at == number + 1:
                    yield number, frame.pixels
                    break
                self.n_decoded += 1
                if late():
                    return
            else:
                self.n_there = self._at
                return

    def _alone(self, times: dict[int, int]) -> Iterator[tuple[int, UInt8]]:
        if times:
            yield from ((number, frame.pixels) for number, frame in self.source.pick_alone(times))
