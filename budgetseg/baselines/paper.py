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
    """Descriptors in the given order, each for all of n supervoxels; one that does not fit for all is left out."""
    return Script.of(np.tile(np.arange(n, dtype=np.int32), len(descriptors)), np.repeat(descriptors, n), n)


def baseline1_rest(n: int, descriptors: Int32, rng: np.random.Generator) -> Script:
    """As `baseline1`; what is left is spent on the other descriptors, in the same order, for random supervoxels."""
    anyone = rng.permutation(n).astype(np.int32)
    rest = Script.of(np.tile(anyone, len(descriptors)), np.repeat(descriptors, n), 1)
    return baseline1(n, descriptors, rng).then(rest)


def baseline2(n: int, descriptors: Int32, rng: np.random.Generator) -> Script:
    """All descriptors for random supervoxels, each that fits with all of them."""
    anyone = rng.permutation(n).astype(np.int32)
    return Script.of(np.repeat(anyone, len(descriptors)), np.tile(descriptors, n), len(descriptors))


BASELINES: dict[str, Callable[[int, Int32, np.random.Generator], Script]] = {
    "baseline1": baseline1,
    "baseline1-rest": baseline1_rest,
    "baseline2": baseline2,
}
"""What to compute for n supervoxels, given descriptors in random order."""


def run_baseline(
    arena: Arena, name: str, names: Sequence[str], budget_s: float, seed: int = 0, times_s: Float64 = NOT_ASKED
) -> State:
    """Where a baseline ends up that may compute the descriptors of these names."""
    rng, known = np.random.default_rng(seed), arena.model.classifiers.names
    descriptors = rng.permutation([known.index(own) for own in names]).astype(np.int32)
    episode = arena.begin(budget_s, names, None, seed)
    follow(episode, arena.probabilities, BASELINES[name](len(arena), descriptors, rng), times_s)
    return episode.state
