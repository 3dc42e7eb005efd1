"""The paper's baselines that need no learning: whole descriptors at random, and whole supervoxels at random."""

from collections.abc import Callable, Sequence

import numpy as np

from budgetseg.policy.state import State
from budgetseg.simulate.arena import Arena
from budgetseg.simulate.script import Script, follow
from budgetseg.simulate.simulate import NOT_ASKED
from budgetseg.types import Float64, Int32

__all__ = ["BASELINES", "baseline1", "baseline1_rest", "baseline2", "run_baseline"]


def baseline1(n: int, descriptors: Int32, _: np.random.Generator) -> Script:
    """Compute descriptors in the given order for all n supervoxels; one that does not fit for all is left out."""
    return Script.of(np.tile(np.arange(n, dtype=np.int32), len(descriptors)), np.repeat(descriptors, n), n)


def baseline1_rest(n: int, descriptors: Int32, rng: np.random.Generator) -> Script:
    """As `baseline1`, and spend what is left on the other descriptors, in the same order, for random supervoxels."""
    shuffled = rng.permutation(n).astype(np.int32)
    rest = Script.of(np.tile(shuffled, len(descriptors)), np.repeat(descriptors, n), 1)
    return baseline1(n, descriptors, rng).then(rest)


def baseline2(n: int, descriptors: Int32, rng: np.random.Generator) -> Script:
    """Compute all descriptors of random supervoxels; a supervoxel for which not all of them fit gets none."""
    shuffled = rng.permutation(n).astype(np.int32)
    return Script.of(np.repeat(shuffled, len(descriptors)), np.tile(descriptors, n), len(descriptors))


BASELINES: dict[str, Callable[[int, Int32, np.random.Generator], Script]] = {
    "baseline1": baseline1,
    "baseline1-rest": baseline1_rest,
    "baseline2": baseline2,
}
"""Baselines by name: each gives the script for n supervoxels, from descriptors in random order."""


def run_baseline(
    arena: Arena, name: str, names: Sequence[str], budget_s: float, seed: int = 0, times_s: Float64 = NOT_ASKED
) -> State:
    """Run a baseline, and return the state at its end.

    Parameters
    ----------
    arena : the video
    name : a name in `BASELINES`
    names : of descriptors that may be computed
    budget_s : seconds of simulated cost
    seed : of the order of descriptors and supervoxels
    times_s : (N, D) array that the time of each descriptor is written to; not written by default
    """
    rng = np.random.default_rng(seed)
    known = arena.model.classifiers.names
    descriptors = rng.permutation([known.index(descriptor) for descriptor in names]).astype(np.int32)
    episode = arena.begin(budget_s, names, None, seed)
    follow(episode, arena.probabilities, BASELINES[name](len(arena), descriptors, rng), times_s)
    return episode.state
