"""Open videos: files that libav reads, or folders of images."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import cv2
import numpy as np

from budgetseg.errors import VideoError
from budgetseg.types import UInt8, Video
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.container import Container, open_container
from budgetseg.video.core import Clip, Frame, Span
from budgetseg.video.images import ImageFolder, open_folder

__all__ = ["VideoSource", "fitted", "open_video"]

_LONGEST_SIDE = 16384  # pixels; twice that of 8K, and less than what image libraries reject


@dataclass(frozen=True)
class VideoSource:
    """Frames of a video, decoded one by one on demand; it can be iterated several times.

    Attributes
    ----------
    clip : the whole file or folder
    span : frames of the clip that are returned
    size : width and height of the returned frames
    """

    clip: Clip
    span: Span
    size: tuple[int, int]

    @property
    def name(self) -> str:
        """A short name for tables and file names."""
        return self.clip.name

    @property
    def width(self) -> int:
        """Width of the returned frames."""
        return self.size[0]

    @property
    def height(self) -> int:
        """Height of the returned frames."""
        return self.size[1]

    @property
    def rate(self) -> float:
        """Mean frames per second of the returned frames: a stride of 2 halves the rate of the file."""
        return self.clip.rate / self.span.stride

    @property
    def n_frames(self) -> int | None:
        """Number of returned frames; None if the container does not state its number (see `count`)."""
        total = self.clip.n_frames
        return None if total is None else len(self.span.within(total))

    @property
    def duration_s(self) -> float | None:
        """Seconds that the span covers, at the mean rate; None if the file does not state it, and for images."""
        whole = self.clip.duration_s
        if whole is None:
            return None
        end = whole if self.span.end is None else min(whole, self.span.end / self.clip.rate)
        return max(0.0, end - self.span.start / self.clip.rate)

    @property
    def stems(self) -> tuple[str, ...] | None:
        """For image folders, the file name without suffix of each returned frame."""
        stems = self.clip.stems
        return None if stems is None else tuple(stems[index] for index in self.span.within(len(stems)))

    def count(self) -> int:
        """Exact number of returned frames, found by reading all of the file if it does not state its number.

        VideoError if there is none, which `open_video` cannot know for such a file.
        """
        total = self.clip.count()
        self.span.check_begins(total, self.clip.path)
        return len(self.span.within(total))

    def __iter__(self) -> Iterator[Frame]:
        for frame in self.clip.frames(self.span):
            yield Frame(frame.index, frame.time_s, fitted(frame.pixels, self.size))

    @property
    def can_skip(self) -> bool:
        """Whether frames can be left out without decoding them."""
        return isinstance(self.clip, ImageFolder | ArrayClip)

    def pick(self, numbers: Sequence[int]) -> Iterator[Frame]:
        """Frames with these rising numbers, counted from 0 among the returned frames."""
        if isinstance(self.clip, ImageFolder | ArrayClip):
            indices = [self.span.start + number * self.span.stride for number in numbers]
            for frame in self.clip.pick(indices):
                yield Frame(frame.index, frame.time_s, fitted(frame.pixels, self.size))
            return
        wanted = set(numbers)
        for number, frame in enumerate(islice(iter(self), max(wanted, default=-1) + 1)):
            if number in wanted:
                yield frame

    def alone(self, enough: Callable[[], bool] = lambda: False) -> dict[int, int]:
        """Frames of a video file that decode without others: numbers among the returned frames, and timestamps.

        Empty if the file does not prove any. The search ends when `enough` returns True.
        """
        times = self.clip.alone(enough) if isinstance(self.clip, Container) else {}
        first = self.span.start
        step = self.span.stride
        return {(index - first) // step: pts for index, pts in times.items() if self.span.keeps(index)}

    def pick_alone(self, times: Mapping[int, int]) -> Iterator[tuple[int, Frame]]:
        """Some of the frames from `alone`, with their numbers; no others are decoded."""
        assert isinstance(self.clip, Container)
        first = self.span.start
        step = self.span.stride
        for frame in self.clip.pick_alone({first + number * step: pts for number, pts in times.items()}):
            yield (frame.index - first) // step, Frame(frame.index, frame.time_s, fitted(frame.pixels, self.size))

    def pairs(self, n: int) -> Iterator[tuple[UInt8, UInt8]]:
        """At most n pairs of neighbouring frames (H, W, 3), spread about evenly; few others are decoded."""
        n_frames = self.count()
        firsts = sorted({int((k + 0.5) / n * (n_frames - 1)) for k in range(n)}) if n_frames > 1 else []
        if isinstance(self.clip, Container):
            starts = [self.span.start + first * self.span.stride for first in firsts]
            found = self.clip.pairs([start / max(self.clip.count(), 1) for start in starts], self.span.stride)
            yield from ((fitted(a, self.size), fitted(b, self.size)) for a, b in found)
            return
        for first in firsts:
            a, b = self.pick([first, first + 1])
            yield a.pixels, b.pixels

    def read(self) -> Video:
        """All frames in memory; VideoError if there is none."""
        frames = np.empty((self._guess(), self.height, self.width, 3), np.uint8)
        times: list[float] = []
        for frame in self:
            if len(times) == len(frames):
                frames = np.concatenate([frames, np.empty_like(frames)])
            frames[len(times)] = frame.pixels
            times.append(frame.time_s)
        if not times:
            raise VideoError(f"'{self.name}' has no frame; check start, end and stride")
        return Video(frames[: len(times)], np.array(times), self.name)

    def _guess(self) -> int:
        """Number of returned frames, about, at least 1. A guess may be high: memory that is not written is not used."""
        return self.n_frames or 1 + round((self.duration_s or 10.0) * self.rate)


def open_video(
    path: str | Path,
    *,
    size: tuple[int, int] | None = None,
    stride: int = 1,
    start: int = 0,
    end: int | None = None,
    threads: int | None = None,
    most_bytes: int | None = None,
) -> VideoSource:
    """Open the frames of a video file or of a folder of PNG or JPEG images, upright, as 8-bit RGB.

    Parameters
    ----------
    path : MP4, MKV, AVI, WebM, Y4M or anything else that libav opens, or a folder of images in natural order
    size : width and height to resize to; pixels are taken as square
    stride : take every `stride`-th frame of start..end
    start, end : frame numbers in presentation order, from 0, `end` not included
    threads : threads to decode with; None for as many as are of use. The frames are the same for any number.
    most_bytes : memory that a frame may need; None for what is free

    Raises
    ------
    VideoError
        If there is nothing to read, or what is there is damaged within start..end.

    Examples
    --------
    >>> video = open_video("drive.mp4", size=(320, 240), end=100).read()  # doctest: +SKIP
    >>> video.frames.shape  # doctest: +SKIP
    (100, 240, 320, 3)
    """
    path = Path(path)
    span = Span(start, end, stride)
    _check_size(size)
    if not path.exists():
        raise VideoError(f"there is no video at '{path}'; check the path")
    clip = _open_clip(path, span, threads, most_bytes)
    if clip.n_frames is not None:
        span.check_begins(clip.n_frames, path)
    return VideoSource(clip, span, size or clip.size)


def _open_clip(path: Path, span: Span, threads: int | None, most_bytes: int | None) -> Clip:
    try:
        if path.is_dir():
            return open_folder(path, threads, most_bytes)
        return open_container(path, span, threads, most_bytes)
    except OSError as error:
        raise VideoError(f"cannot read '{path}': {error.strerror}; check that you may read it") from error


def _check_size(size: tuple[int, int] | None) -> None:
    if size is not None and min(size) < 1:
        raise VideoError(f"size must be a width and a height of 1 or more. Got {size}; for example (480, 360)")
    if size is not None and max(size) > _LONGEST_SIDE:
        raise VideoError(f"size must be {_LONGEST_SIDE} or less a side. Got {size}; for example (480, 360)")


def fitted(pixels: UInt8, size: tuple[int, int]) -> UInt8:
    """`pixels` resized to `size`: averaged if it shrinks, interpolated if it grows."""
    height, width = pixels.shape[:2]
    if (width, height) == size:
        return pixels
    shrinks = size[0] <= width and size[1] <= height
    method = cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR
    return np.asarray(cv2.resize(pixels, size, interpolation=method), np.uint8)
