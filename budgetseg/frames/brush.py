"""Labels of frame after frame before a time is over: along edges as long as there is time for it, else plainly."""

import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field

from budgetseg.frames.carry import paint
from budgetseg.frames.sharpen import paint_sharp
from budgetseg.types import Float32, UInt8

__all__ = ["Again", "Hurried"]


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
    n_frames : to be painted
    threads : that paint
    frame_s, sharp_s : of a thread for a frame: to fuse and paint it, to follow its edges on top
    copy_s : of all threads, to copy a frame
    sharp : frames painted along edges, and the seconds that this took
    skip : none
    """

    sure: UInt8
    now_s: Callable[[], float]
    end_s: float
    n_frames: int
    threads: int
    frame_s: float
    sharp_s: float
    copy_s: float
    sharp: dict[int, float] = field(default_factory=dict)
    skip: Sequence[int] = ()
    _n_begun: int = 0

    def fits(self) -> bool:
        """Whether one more can be painted, and the others still be copied."""
        self._n_begun += 1
        left_s = self.end_s - self.now_s() - (self.n_frames - self._n_begun) * self.copy_s
        return self._n_begun == 1 or left_s >= self.frame_s

    def paint(self, t: int, probabilities: Float32, top: UInt8, frame: UInt8 | None, out: UInt8) -> None:
        """Along edges, if all others can still be painted after it."""
        others_s = self.frame_s * -(-(self.n_frames - self._n_begun) // self.threads)
        if frame is None or self.now_s() + self.sharp_s + others_s > self.end_s:
            paint(probabilities, top, out)
            return
        started = time.perf_counter()
        paint_sharp(probabilities, top, frame, out)
        self.sharp[t] = time.perf_counter() - started
