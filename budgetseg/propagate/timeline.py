"""Where frames lie along a video: the more has changed between two frames, the farther they lie from each other.

What is carried from frame to frame is worth less the more has changed on the way. A cut is a border: nothing is carried
across it.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from budgetseg.types import Float32, Float64, Int32, Int64

__all__ = ["Distances", "Timeline", "change"]


@dataclass(frozen=True, eq=False)
class Timeline:
    """Positions of the T frames of a window.

    Attributes
    ----------
    positions : (T,) float64, rising: the distance from the first frame, in frames of usual film
    shots : (T,) int32, rising: number of the shot that a frame belongs to
    """

    positions: Float64
    shots: Int32

    @classmethod
    def of(cls, positions: Sequence[float], cuts: Sequence[int]) -> "Timeline":
        """From positions, and the first frames of all shots but the first."""
        shots = np.searchsorted(cuts, np.arange(len(positions)), side="right")
        return cls(np.asarray(positions, np.float64), shots.astype(np.int32))

    @classmethod
    def even(cls, n_frames: int, step: float) -> "Timeline":
        """Frames that lie evenly, `step` from each other, in one shot."""
        return cls(step * np.arange(n_frames, dtype=np.float64), np.zeros(n_frames, np.int32))

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def step(self) -> float:
        """The distance between neighbours of an even video in which key frames serve as well as they do here.

        Key frames lie where frames change, so that a few large steps count less than in the mean: with steps s, it is
        the square of the mean of √s.
        """
        return round(float(np.sqrt(np.diff(self.positions)).mean() ** 2), 9) if len(self) > 1 else 0.0

    @property
    def cuts(self) -> list[int]:
        """First frames of all shots but the first."""
        return [int(t) + 1 for t in np.flatnonzero(np.diff(self.shots))]

    def distance(self, a: int, b: int) -> float:
        """Distance between two frames."""
        return abs(float(self.positions[a] - self.positions[b]))

    def nearest(self, places: Sequence[int]) -> Int64:
        """The place nearest to each frame, (T,): of its own shot where that has any, and the first of two."""
        known = np.asarray(places, np.int64)
        frames = np.arange(len(self))
        after = np.searchsorted(known, frames)
        before = known[np.maximum(after - 1, 0)]
        after = known[np.minimum(after, len(known) - 1)]
        distances = [
            np.abs(self.positions[side] - self.positions) + np.where(self.shots[side] == self.shots, 0.0, np.inf)
            for side in (before, after)
        ]
        is_elsewhere = np.isinf(distances[0]) & np.isinf(distances[1])
        plain = np.abs(before - frames) <= np.abs(after - frames)
        return np.where(np.where(is_elsewhere, plain, distances[0] <= distances[1]), before, after)


@dataclass(frozen=True)
class Distances:
    """How the change between neighbouring frames becomes a distance.

    Values were chosen on the training halves of SUNY, CamVid's training sequences, unlabelled film and composites of
    these: `python -m benchmarks.key_frames`. Placing hardly depends on them.

    Attributes
    ----------
    usual : change between neighbouring frames of usual film, which have a distance of 1; squares of changes add up
    least : distance between neighbouring frames that do not differ
    cut : change from which on there may be a cut: most of the contrast of a frame is not found in the frame before
    abrupt : times the median of smaller changes that a cut is, at least: frames far apart all differ, and are not all
        cuts
    border : distance between the frames before and after a cut, and the largest between any neighbours
    usual_rate : frames a second of usual film, which tell the distance until frames have been compared
    even : whether all neighbours are taken to lie as far from each other as they do in the mean, with no cut anywhere:
        the baseline `frames-even` of `budgetseg evaluate`
    """

    usual: float = 0.06
    least: float = 1.0
    cut: float = 0.6
    abrupt: float = 2.0
    border: float = 40.0
    usual_rate: float = 12.0
    even: bool = False

    def by_rate(self, rate: float) -> float:
        """The distance between neighbouring frames, by frames a second alone."""
        return min(max(self.usual_rate / rate, 1.0), self.border)

    def step(self, change: float, n_frames: int) -> float:
        """The distance between two frames, `n_frames` from each other, between which so much changes."""
        return min(max((change / self.usual) ** 2, self.least * n_frames), self.border)

    def timeline(self, n_frames: int, read: Sequence[int], changes: Sequence[float]) -> Timeline:
        """Positions of all frames of a window.

        Parameters
        ----------
        n_frames : T, of the window
        read : rising numbers of the K frames that were compared, at least one
        changes : (K - 1,) change between neighbours among them. A cut between two that are not next to each other is
            taken to lie in the middle
        """
        change = np.asarray(changes, np.float64)
        small = change[change <= self.cut]
        usual = float(np.median(small)) if len(small) else 0.0
        is_cut = change > max(self.cut, self.abrupt * usual)
        gaps = np.diff(read)
        steps = np.array([self.step(own, int(gap)) for own, gap in zip(changes, gaps, strict=True)])
        steps[is_cut] = self.border
        if self.even:
            counted = ~is_cut if not is_cut.all() else is_cut
            steps = gaps * (steps[counted].sum() / max(int(gaps[counted].sum()), 1))
            is_cut[:] = False
        known = np.concatenate([[0.0], np.cumsum(steps)])
        frames = np.arange(n_frames)
        # Before the first and after the last frame that was read, nothing is known to change.
        outside = np.minimum(frames - read[0], 0) + np.maximum(frames - read[-1], 0)
        positions = np.interp(frames, read, known) + self.least * outside
        starts = [(a + b + 1) // 2 for a, b, cut in zip(read, read[1:], is_cut, strict=False) if cut]
        shots = np.searchsorted(starts, frames, side="right").astype(np.int32)
        return Timeline(np.round(positions - positions[0], 3), shots)


def change(later: Float32, earlier: Float32, step: Float32 | None = None) -> float:
    """Share of the contrast of a frame's grey cells (h, w) that is not found in an earlier one.

    `step` is the flow: where the cells of the later frame lie in the earlier one, (h, w, 2); None for no motion.
    """
    moved: Float32 = earlier
    if step is not None:
        rows, columns = np.indices(later.shape, dtype=np.float32)
        moved = cv2.remap(  # type: ignore[assignment]
            earlier, columns + step[..., 0], rows + step[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
        )
    return float(np.abs(later - moved).mean() / max(later.std(), 1.0))
