"""What every source of frames has in common: the frame, the span of frames asked for, the contract of a clip."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from budgetseg.errors import VideoError
from budgetseg.types import UInt8

__all__ = ["Clip", "Frame", "Span"]


@dataclass(frozen=True, eq=False)
class Frame:
    """One decoded frame.

    Attributes
    ----------
    index : number of the frame in the file, from 0, in presentation order
    time_s : presentation time, 0 for the first frame of the file
    pixels : (H, W, 3) uint8, RGB
    """

    index: int
    time_s: float
    pixels: UInt8


@dataclass(frozen=True)
class Span:
    """Every `stride`-th frame from `start` up to, without, `end`; None means up to the last."""

    start: int = 0
    end: int | None = None
    stride: int = 1

    def __post_init__(self) -> None:
        if self.start < 0:
            raise VideoError(f"start must be 0 or more. Got {self.start}; frames are counted from 0")
        if self.end is not None and self.end <= self.start:
            raise VideoError(f"end must be after start. Got start={self.start}, end={self.end}; no frame lies between")
        if self.stride < 1:
            raise VideoError(f"stride must be 1 or more. Got {self.stride}; 1 takes every frame, 2 every second")

    def check_begins(self, n_frames: int, path: Path) -> None:
        """VideoError where the clip of `n_frames` at `path` ends before the span begins."""
        if n_frames <= self.start:
            raise VideoError(f"'{path}' has {n_frames} frames, none from start={self.start} on; choose a lower start")

    def within(self, n_frames: int) -> range:
        """Frame numbers of this span in a clip of `n_frames`."""
        return range(self.start, n_frames if self.end is None else min(self.end, n_frames), self.stride)

    def keeps(self, index: int) -> bool:
        """Whether frame `index`, if the clip has it, belongs to the span."""
        return self.start <= index and not self.ends_before(index) and (index - self.start) % self.stride == 0

    def ends_before(self, index: int) -> bool:
        """Whether frame `index` and all after it lie outside."""
        return self.end is not None and index >= self.end


class Clip(Protocol):
    """A whole file or folder of frames; what `VideoSource` takes its span from."""

    @property
    def path(self) -> Path:
        """The file or folder."""

    @property
    def name(self) -> str:
        """A short name for tables and file names."""

    @property
    def size(self) -> tuple[int, int]:
        """Width and height of the upright frames."""

    @property
    def rate(self) -> float:
        """Mean frames a second."""

    @property
    def duration_s(self) -> float | None:
        """Seconds from the first frame to the end of the last, if the file says."""

    @property
    def n_frames(self) -> int | None:
        """Frames in the clip, if that is known without reading it through."""

    @property
    def stems(self) -> tuple[str, ...] | None:
        """Name of each frame's file without its suffix, for image folders."""

    def count(self) -> int:
        """Frames in the clip, reading it through if need be."""

    def frames(self, span: Span) -> Iterator[Frame]:
        """Frames of `span` in order."""
