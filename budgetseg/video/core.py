"""What all sources of frames have in common: the frame, the span of frames to read, the contract of a clip."""

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
    """Every `stride`-th frame from `start` to before `end`; None means to the last frame."""

    start: int = 0
    end: int | None = None
    stride: int = 1

    def __post_init__(self) -> None:
        if self.start < 0:
            raise VideoError(f"start must be 0 or more. Got {self.start}; frames are counted from 0")
        if self.end is not None and self.end <= self.start:
            raise VideoError(
                f"the end must come after the start. Got frames {self.start} to {self.end}; no frame lies between"
            )
        if self.stride < 1:
            raise VideoError(f"stride must be 1 or more. Got {self.stride}; 1 takes every frame, 2 every second")

    def check_begins(self, n_frames: int, path: Path) -> None:
        """Raise VideoError if a clip of `n_frames` frames at `path` ends before the span begins."""
        if n_frames <= self.start:
            raise VideoError(
                f"'{path}' has {n_frames} frames, none from number {self.start} on; choose an earlier start"
            )

    def within(self, n_frames: int) -> range:
        """Frame numbers of this span in a clip of `n_frames` frames."""
        return range(self.start, n_frames if self.end is None else min(self.end, n_frames), self.stride)

    def keeps(self, index: int) -> bool:
        """Whether frame `index`, if the clip has it, belongs to the span."""
        return self.start <= index and not self.ends_before(index) and (index - self.start) % self.stride == 0

    def ends_before(self, index: int) -> bool:
        """Whether the span ends before frame `index`."""
        return self.end is not None and index >= self.end


class Clip(Protocol):
    """A whole file or folder of frames, of which a `VideoSource` gives a span."""

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
        """Mean frames per second."""

    @property
    def duration_s(self) -> float | None:
        """Seconds from the first frame to the end of the last, if the file states it."""

    @property
    def n_frames(self) -> int | None:
        """Number of frames, if that is known without reading all of the clip."""

    @property
    def stems(self) -> tuple[str, ...] | None:
        """Name of each frame's file without its suffix, for image folders."""

    def count(self) -> int:
        """Number of frames, found by reading all of the clip if necessary."""

    def frames(self, span: Span) -> Iterator[Frame]:
        """Frames of `span`, in order."""
