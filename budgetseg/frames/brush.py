"""Labels of frame after frame before a time is over: along edges as long as there is time for it, else plainly."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from budgetseg.frames.carry import paint
from budgetseg.frames.sharpen import paint_sharp
from budgetseg.types import Float32, UInt8

__all__ = ["Again", "Hurried"]

KNOWN = 16.0
"""What was known before counts as so many frames."""
CAREFUL = 1.25
"""Edges of a frame wait until the others can be painted even if they take so many times what is foretold."""


@dataclass(eq=False)
class Again:
    """Paints as it was done before.

    Attributes
    ----------
    sure, skip : as of `Brush`
    sharp : frames to be painted along edges
    """

    sure: UInt8
    skip: Sequence[int]
    sharp: Collection[int]

    def fits(self) -> bool:
        """Always."""
        return True

    def fits_edges(self, t: int) -> bool:  # noqa: ARG002
        """Never: edges were followed at once."""
        return False

    def paint(self, t: int, probabilities: Float32, top: UInt8, frame: UInt8 | None, out: UInt8) -> None:
        """As of `Brush`."""
        if t in self.sharp and frame is not None:
            paint_sharp(probabilities, top, frame, out)
        else:
            paint(probabilities, top, out)


@dataclass(eq=False)
class Hurried:
    """Paints until a time; one frame is painted at any rate, others are copied after it.

    Attributes
    ----------
    sure : as of `Brush`
    now_s : seconds since the clock started
    end_s : when all must be done
    n_frames, n_copies : to be painted, and to be copied at any rate
    threads : that paint
    frame_s, plain_s, sharp_s : of a thread for a frame: to fuse and paint it, to paint it, to follow its edges instead
    copy_s : of all threads, to copy a frame
    sharp : frames painted along edges, and the seconds that this took
    skip : none
    """

    sure: UInt8
    now_s: Callable[[], float]
    end_s: float
    n_frames: int
    n_copies: int
    threads: int
    frame_s: float
    plain_s: float
    sharp_s: float
    copy_s: float
    sharp: dict[int, float] = field(default_factory=dict)
    skip: Sequence[int] = ()
    _n_begun: int = 0
    _painted: list[int] = field(default_factory=list)
    _started_s: float = 0.0

    def fits(self) -> bool:
        """Whether one more can be painted, and the others still be copied."""
        self._n_begun += 1
        if self._n_begun == 1:
            self._started_s = self.now_s()
        left_s = self.end_s - self.now_s() - (self.n_copies + self._n_left) * self.copy_s
        return self._n_begun == 1 or left_s >= self.frame_s

    def paint(self, t: int, probabilities: Float32, top: UInt8, frame: UInt8 | None, out: UInt8) -> None:
        """Along edges, if all others can still be painted after it."""
        others_s = CAREFUL * self._each_s * -(-self._n_left // self.threads) + self.n_copies * self.copy_s
        if frame is None or self.now_s() + self.sharp_s + others_s > self.end_s:
            paint(probabilities, top, out)
        else:
            started = time.perf_counter()
            paint_sharp(probabilities, top, frame, out)
            self.sharp[t] = time.perf_counter() - started
        self._painted.append(t)

    def fits_edges(self, t: int) -> bool:
        """Whether a frame that was painted plainly can yet be painted along its edges."""
        return t not in self.sharp and self.now_s() + self._each_s + self.sharp_s <= self.end_s

    @property
    def _n_left(self) -> int:
        return max(self.n_frames - self._n_begun, 0)

    @property
    def _each_s(self) -> float:
        """For a frame without its edges: what was known before, corrected by what was seen."""
        sharp_s = list(self.sharp.values())
        seen_s = self.threads * (self.now_s() - self._started_s) - sum(sharp_s) + len(sharp_s) * self.plain_s
        return (KNOWN * self.frame_s + max(seen_s, 0.0)) / (KNOWN + len(self._painted))
