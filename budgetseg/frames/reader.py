"""Frames of a video by number, a window after the other."""

import math
import time
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

    Attributes
    ----------
    can_skip : whether frames can be left out without decoding them
    may_leave_out : whether those that need others may yet be
    alone : numbers of the only frames that are read, where that was decided; None for any
    patience_s : seconds in which the file is looked through for those
    """

    can_skip = may_leave_out = False
    alone: Sequence[int] | None = None
    patience_s = math.inf

    def __init__(self, source: VideoSource, threads: int) -> None:
        if isinstance(source.clip, ImageFolder | Container):
            source = replace(source, clip=replace(source.clip, threads=threads))
        self._source, self._stream, self._at = source, iter(source), 0
        self.can_skip, self.may_leave_out = source.can_skip, isinstance(source.clip, Container)
        self._times: dict[int, int] = {}

    @property
    def line(self) -> str:
        """What the costs of reading are known by."""
        return f"decode {self._source.clip.path.suffix}" + " alone" * (self.alone is not None)

    def leave_out(self, first: int = 0) -> bool:
        """From now on read only frames that decode without others; False where none from `first` on are known."""
        until = time.perf_counter() + self.patience_s
        self._times, self.may_leave_out = self._source.alone(lambda: time.perf_counter() > until), False
        if any(number >= first for number in self._times):
            self.alone, self.can_skip = sorted(self._times), True
        return self.can_skip

    def read(self, numbers: Sequence[int]) -> Iterator[tuple[int, UInt8]]:
        """Frames (H, W, 3) with their numbers; less where the video ends before it said so."""
        if self.alone is not None:
            for number, frame in self._source.pick_alone({number: self._times[number] for number in numbers}):
                yield number, frame.pixels
            return
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
