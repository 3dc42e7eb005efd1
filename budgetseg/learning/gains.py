"""Gains: how much each descriptor adds to the score, from runs in which all supervoxels have the same descriptors.

score of every subset in whole videos ─► logarithm of the gain of each descriptor ─► weights for a linear policy
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np

from budgetseg.learning.judge import Judge
from budgetseg.policy.settings import SETTINGS
from budgetseg.simulate import Arena, reward
from budgetseg.types import Float64

__all__ = ["Gains", "find_gains"]


@dataclass(frozen=True, eq=False)
class Gains:
    """Scores of all subsets of D descriptors.

    Attributes
    ----------
    names : of all descriptors, in the order of their bits
    descriptor_set : names of those that may be computed
    scores : (2^D,) score if all supervoxels have a subset; nan for subsets with other descriptors
    doubts : (2^D,) doubt of H with that subset, averaged over pixels; see `PolicySettings.certain`
    least : smallest gain that counts, as a share of the score; smaller and negative gains count as this much
    """

    names: tuple[str, ...]
    descriptor_set: tuple[str, ...]
    scores: Float64
    doubts: Float64
    least: float = 6e-4

    @property
    def bits(self) -> int:
        """The descriptors that may be computed, as bits."""
        return sum(1 << self.names.index(name) for name in self.descriptor_set)

    def best(self, n: int) -> list[int]:
        """The n subsets with the highest scores, best first; the empty one is left out."""
        known = 1 + np.flatnonzero(np.isfinite(self.scores[1:]))
        return list(known[np.argsort(-self.scores[known], kind="stable")][:n].tolist())

    def of(self, name: str) -> dict[str, float]:
        """Fit the logarithm of the gain of a descriptor, less doubt, by the descriptors that are there already.

        Returns a constant under "" and a summand for each of the other descriptors, which counts if it is there. The
        fit is over all subsets without the descriptor itself.
        """
        bit = 1 << self.names.index(name)
        others = [other for other in self.descriptor_set if other != name]
        without = [int(subset) for subset in np.flatnonzero(np.isfinite(self.scores)) if not subset & bit]
        added = np.array([self.scores[subset | bit] - self.scores[subset] for subset in without])
        present = [[1, *(subset >> self.names.index(other) & 1 for other in others)] for subset in without]
        target = np.log(np.maximum(added, self.least)) - self.doubts[without]
        fit = np.linalg.lstsq(np.array(present, np.float64), target, rcond=None)[0]
        return dict(zip(("", *others), fit.tolist(), strict=True))


def find_gains(judge: Judge, least: float = Gains.least) -> Gains:
    """Measure gains in the videos of a judge, with the CRF, for the descriptors that it allows."""
    h = judge.arenas[0].model.classifiers
    subsets = [subset for subset in range(h.n_subsets) if not subset & ~h.subset_of(judge.names)]
    with ThreadPoolExecutor(judge.cores) as pool:
        found = list(pool.map(lambda subset: _try(judge, subset), subsets))
    scores, doubts = np.full((2, h.n_subsets), np.nan)
    scores[subsets], doubts[subsets] = np.transpose(found)
    return Gains(h.names, judge.names, scores, doubts, least)


def _try(judge: Judge, subset: int) -> tuple[float, float]:
    """Score and mean doubt if all supervoxels have a subset."""
    n_pixels = sum(int(arena.graph.sizes.sum()) for arena in judge.arenas)
    score = sum(_score(judge, arena, subset) for arena in judge.arenas)
    return score, sum(_doubt(arena, subset) for arena in judge.arenas) / n_pixels


def _score(judge: Judge, arena: Arena, subset: int) -> float:
    state = arena.begin(np.inf, judge.names).state
    state.subsets[:] = subset
    state.probabilities[:] = arena.probabilities[:, subset]
    return reward(arena, state).score(judge.worth)


def _doubt(arena: Arena, subset: int) -> float:
    """Doubt of H with a subset, summed over all pixels; without descriptors it is the largest possible."""
    confidence = arena.probabilities[:, subset].max(axis=1) if subset else np.zeros(len(arena))
    return float(arena.graph.sizes @ np.log(np.float32(SETTINGS.certain) - confidence))
