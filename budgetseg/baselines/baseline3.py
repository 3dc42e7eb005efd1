"""The paper's Baseline3: a learned policy picks descriptors one after the other, each for the whole video.

The paper takes it from earlier work and does not say how state, reward and values look. Here the state is which
descriptors the video has and the budget left in hundredths of its full cost, the reward is the CRF's accuracy at the
end, and values are a table; see `learning.qlearning`.
"""

import numpy as np

from budgetseg.policy.baseline3 import Baseline3Policy
from budgetseg.policy.episode import Episode
from budgetseg.policy.state import State
from budgetseg.simulate.arena import Arena
from budgetseg.simulate.script import Script, follow
from budgetseg.simulate.simulate import NOT_ASKED
from budgetseg.types import Float64, Int32

__all__ = ["run_baseline3"]


def run_baseline3(
    arena: Arena,
    policy: Baseline3Policy,
    budget_s: float,
    seed: int = 0,
    times_s: Float64 = NOT_ASKED,
    rest: bool = False,
) -> State:
    """Run a policy of Baseline3, and return the state at its end.

    Parameters
    ----------
    arena : the video
    policy : picks descriptors
    budget_s : seconds of simulated cost
    seed : of the random order of supervoxels
    times_s : (N, D) array that the time of each descriptor is written to; not written by default
    rest : whether what is left is spent on the descriptors that the policy still wants and that do not fit for all
        supervoxels, the best first, for random ones. In training that scores higher than a random order of descriptors
    """
    episode = arena.begin(budget_s, policy.among, None, seed)
    full_s = arena.full_s(policy.among)
    known = arena.model.classifiers.names
    columns = np.array([known.index(name) for name in policy.among], np.int32)
    subset = 0
    regions = np.arange(len(arena), dtype=np.int32)
    while wanted := policy.wanted(subset, episode.left_s / full_s):
        place = _compute_next(arena, episode, regions, columns[wanted], times_s)
        if place < 0:
            break
        subset |= 1 << wanted[place]
    if rest and wanted:
        shuffled = np.random.default_rng(seed).permutation(regions)
        follow(episode, arena.probabilities, _script(shuffled, columns[wanted], 1), times_s)
    return episode.state


def _compute_next(arena: Arena, episode: Episode, regions: Int32, wanted: Int32, times_s: Float64) -> int:
    """Compute the first wanted descriptor that fits for all supervoxels. Returns its place in `wanted`, or -1."""
    for k, d in enumerate(wanted):
        follow(episode, arena.probabilities, _script(regions, wanted[[k]], len(regions)), times_s)
        if episode.state.subsets[0] >> d & 1:
            return k
    return -1


def _script(regions: Int32, descriptors: Int32, group: int) -> Script:
    """A script that computes one descriptor after the other for these supervoxels, in groups of `group` choices."""
    return Script.of(np.tile(regions, len(descriptors)), np.repeat(descriptors, len(regions)), group)
