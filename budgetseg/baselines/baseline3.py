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
    """Where a policy ends up.

    With `rest`, what is left is spent on the descriptors that the policy still wants and that do not fit for all, the
    best first, for random supervoxels. In training that scores higher than the others in random order.
    """
    episode = arena.begin(budget_s, policy.among, None, seed)
    full_s, known = arena.full_s(policy.among), arena.model.classifiers.names
    columns = np.array([known.index(name) for name in policy.among], np.int32)
    subset, everyone = 0, np.arange(len(arena), dtype=np.int32)
    while wanted := policy.wanted(subset, episode.left_s / full_s):
        more = _next(arena, episode, everyone, columns[wanted], times_s)
        if more < 0:
            break
        subset |= 1 << wanted[more]
    if rest and wanted:
        anyone = np.random.default_rng(seed).permutation(everyone)
        follow(episode, arena.probabilities, _script(anyone, columns[wanted], 1), times_s)
    return episode.state


def _next(arena: Arena, episode: Episode, everyone: Int32, wanted: Int32, times_s: Float64) -> int:
    """Which of the descriptors is the first that fits for all supervoxels, and was computed; -1 if none is."""
    for k, d in enumerate(wanted):
        follow(episode, arena.probabilities, _script(everyone, wanted[[k]], len(everyone)), times_s)
        if episode.state.subsets[0] >> d & 1:
            return k
    return -1


def _script(regions: Int32, descriptors: Int32, group: int) -> Script:
    """One descriptor after the other, for these supervoxels."""
    return Script.of(np.tile(regions, len(descriptors)), np.repeat(descriptors, len(regions)), group)
