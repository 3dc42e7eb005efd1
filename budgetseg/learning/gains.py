"""What descriptors add to each other, from runs in which all supervoxels have the same ones.

score of every subset in whole videos ─► logarithm of what each descriptor adds to it ─► what a linear policy can say
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from budgetseg.learning.judge import Judge
from budgetseg.policy.features import CERTAIN
from budgetseg.simulate import Arena, reward
from budgetseg.types import Float64

__all__ = ["LEAST_GAIN", "Gains", "find_gains"]

LEAST_GAIN = 6e-4
"""Of the score: whatever adds less than this, or takes something away, counts as adding so much."""


@dataclass(frozen=True, eq=False)
class Gains:
    """What subsets of D descriptors are worth.

    Attributes
    ----------
    names : of all descriptors, in the order of their bits
    among : those of them that may be computed
    scores : (2^D,) where all supervoxels have a subset, what right pixels are worth; nan if it has others
    doubts : (2^D,) how sure H is then: mean logarithm of what its confidence lacks
    least : of the score: whatever adds less, or takes something away, counts as adding so much
    """

    names: tuple[str, ...]
    among: tuple[str, ...]
    scores: Float64
    doubts: Float64
    least: float = LEAST_GAIN

    @property
    def bits(self) -> int:
        """Of all that may be computed."""
        return sum(1 << self.names.index(name) for name in self.among)

    def best(self, n: int) -> list[int]:
        """The n subsets of the highest scores, best first, of those that are not empty."""
        known = 1 + np.flatnonzero(np.isfinite(self.scores[1:]))
        return list(known[np.argsort(-self.scores[known], kind="stable")][:n].tolist())

    def of(self, name: str) -> dict[str, float]:
        """The logarithm of what a descriptor adds, beside doubt, as a constant, "", and a share for each that is there.

        A fit over all subsets without it: where two are there, their shares are added.
        """
        bit, others = 1 << self.names.index(name), [other for other in self.among if other != name]
        without = [int(s) for s in np.flatnonzero(np.isfinite(self.scores)) if not s & bit]
        added = np.array([self.scores[s | bit] - self.scores[s] for s in without])
        there = [[1, *(s >> self.names.index(other) & 1 for other in others)] for s in without]
        target = np.log(np.maximum(added, self.least)) - self.doubts[without]
        fit = np.linalg.lstsq(np.array(there, np.float64), target, rcond=None)[0]
        return dict(zip(("", *others), fit.tolist(), strict=True))


def find_gains(judge: Judge, least: float = LEAST_GAIN) -> Gains:
    """From the videos of a judge, with the CRF, among the descriptors that it allows."""
    h = judge.arenas[0].model.classifiers
    subsets = [subset for subset in range(h.n_subsets) if not subset & ~h.subset_of(judge.names)]
    with ThreadPoolExecutor(judge.cores) as pool:
        found = list(pool.map(lambda subset: _try(judge, subset), subsets))
    scores, doubts = np.full((2, h.n_subsets), np.nan)
    scores[subsets], doubts[subsets] = np.transpose(found)
    return Gains(h.names, judge.names, scores, doubts, least)


def _try(judge: Judge, subset: int) -> tuple[float, float]:
    """Score and mean doubt where everyone has a subset."""
    n_pixels = sum(int(arena.graph.sizes.sum()) for arena in judge.arenas)
    score = sum(_score(judge, arena, subset) for arena in judge.arenas)
    return score, sum(_doubt(arena, subset) for arena in judge.arenas) / n_pixels


def _score(judge: Judge, arena: Arena, subset: int) -> float:
    state = arena.begin(np.inf, judge.names).state
    state.subsets[:] = subset
    state.probabilities[:] = arena.probabilities[:, subset]
    return reward(arena, state).score(judge.worth)


def _doubt(arena: Arena, subset: int) -> float:
    """Over all pixels; of who has nothing, it is as much as there can be."""
    sure = arena.probabilities[:, subset].max(axis=1) if subset else np.zeros(len(arena))
    return float(arena.graph.sizes @ np.log(CERTAIN - sure))
