"""Frames of a video by number, a window after the other."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import chain

from budgetseg.types import UInt8
from budgetseg.video import VideoSource
from budgetseg.video.container import Container
from budgetseg.video.images import ImageFolder

__all__ = ["Reader"]


class Reader:
    """Gives frames once, numbers rising; those of a folder of images also later, and out of order.

    Parameters
    ----------
    source : the video
    threads : to decode with

    Attributes
    ----------
    line : what the costs of reading are known by
    rate : of the video, frames a second
    can_skip : whether frames can be left out without decoding them
    may_leave_out : whether that may yet be so, by reading only frames that decode without others
    alone : numbers of those, where it was decided; None for any
    n_decoded : frames until now, those that nobody had asked for included
    """

    def __init__(self, source: VideoSource, threads: int) -> None:
        if isinstance(source.clip, ImageFolder | Container):
            source = replace(source, clip=replace(source.clip, threads=threads))
        self._source, self._stream, self._at = source, iter(source), 0
        self._times: dict[int, int] = {}
        self.line, self.rate = f"decode {source.clip.path.suffix}", source.rate
        self.can_skip, self.may_leave_out = source.can_skip, isinstance(source.clip, Container)
        self.alone: Sequence[int] | None = None
        self.n_decoded = 0

    def leave_out(self, numbers: range, enough: Callable[[], bool] = lambda: False) -> bool:
        """From now on read only frames that decode without others; False where none of these is known to.

        `enough` ends the search for them.
        """
        times, self.may_leave_out = self._source.alone(enough), False
        first = next((number for number in times if number in numbers), None)
        # Whether it is true shows when one is decoded.
        if first is None or not list(self._source.pick_alone({first: times[first]})):
            return False
        self._times, self.alone, self.can_skip = times, sorted(times), True
        self.line += " alone"
        return True

    def read(self, numbers: Sequence[int], late: Callable[[], bool] = lambda: False) -> Iterator[tuple[int, UInt8]]:
        """Frames (H, W, 3) with their numbers; less where the video ends before it said so.

        Where others must be decoded on the way to one, that ends when it is `late`.
        """
        found: Iterator[tuple[int, UInt8]]
        if self.can_skip and self.alone is None:
            found = zip(numbers, (frame.pixels for frame in self._source.pick(numbers)), strict=True)
        else:
            found = chain(
                self._in_order([number for number in numbers if number not in self._times], late),
                self._alone({number: self._times[number] for number in numbers if number in self._times}),
            )
        for one in found:
            self.n_decoded += 1
            yield one

    def _in_order(self, numbers: Sequence[int], late: Callable[[], bool]) -> Iterator[tuple[int, UInt8]]:
        for number in numbers:
            if number < self._at:  # it went by
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
                return

    def _alone(self, times: dict[int, int]) -> Iterator[tuple[int, UInt8]]:
        if times:
            yield from ((number, frame.pixels) for number, frame in self._source.pick_alone(times))
