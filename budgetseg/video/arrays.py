"""Frames in memory as a clip."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from budgetseg.types import UInt8
from budgetseg.video.core import Frame, Span

__all__ = ["ArrayClip"]


@dataclass(frozen=True, eq=False)
class ArrayClip:
    """Frames in memory (the contract is `Clip`).

    Attributes
    ----------
    pixels : (T, H, W, 3) uint8, RGB
    rate : frames per second
    name : for tables and file names
    """

    pixels: UInt8
    rate: float = 25.0
    name: str = "array"

    @property
    def path(self) -> Path:
        """A path made of the name, since there is no file."""
        return Path(f"{self.name}.array")

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.pixels.shape[2], self.pixels.shape[1]

    @property
    def duration_s(self) -> float:
        """Seconds from the first frame to the end of the last."""
        return len(self.pixels) / self.rate

    @property
    def n_frames(self) -> int:
        """Number of frames."""
        return len(self.pixels)

    @property
    def stems(self) -> None:
        """None: frames in memory have no file names."""
        return

    def count(self) -> int:
        """Number of frames."""
        return len(self.pixels)

    def frames(self, span: Span) -> Iterator[Frame]:
        """Frames of `span` in order."""
        return self.pick(span.within(len(self.pixels)))

    def pick(self, indices: Iterable[int]) -> Iterator[Frame]:
        """Frames of these numbers, in this order."""
        return (Frame(index, index / self.rate, self.pixels[index]) for index in indices)
