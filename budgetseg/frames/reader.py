"""Frames of a video by number, a window after the other."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

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
    """

    def __init__(self, source: VideoSource, threads: int) -> None:
        if isinstance(source.clip, ImageFolder | Container):
            source = replace(source, clip=replace(source.clip, threads=threads))
        self._source, self._stream, self._at = source, iter(source), 0
        self.can_skip = source.can_skip

    def read(self, numbers: Sequence[int]) -> Iterator[tuple[int, UInt8]]:
        """Frames (H, W, 3) with their numbers; less where the video ends before it said so."""
        if self.can_skip:
            for number, frame in zip(numbers, self._source.pick(numbers), strict=True):
                yield number, frame.pixels
            return
        for number in numbers:
            for found in islice(self._stream, number - self._at, number - self._at + 1):
                self._at = number + 1
                yield number, found.pixels
            if self._at != number + 1:
                return
