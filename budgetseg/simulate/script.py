"""Runs without a policy: a script lists what to compute, in groups that are computed as a whole or not at all."""

from typing import NamedTuple

import numpy as np
from numba import njit

from budgetseg.policy.episode import Episode
from budgetseg.policy.handle import attach, inlined
from budgetseg.policy.state import LEAST_S, LEFT_S, SLOWDOWN
from budgetseg.policy.steps import cost_of
from budgetseg.simulate.simulate import NOT_ASKED, look_up
from budgetseg.types import Float32, Float64, Int32, Int64

__all__ = ["Script", "follow"]


class Script(NamedTuple):
    """M choices to compute in this order, in G groups; no choice is twice in one group.

    Attributes
    ----------
    regions, descriptors : (M,) int32, supervoxel and descriptor of each choice
    first : (G + 1,) int64, group g holds choices first[g] to first[g + 1] - 1
    """

    regions: Int32
    descriptors: Int32
    first: Int64

    @classmethod
    def of(cls, regions: Int32, descriptors: Int32, group: int) -> "Script":
        """A script of choices (M,) in groups of `group` choices."""
        return cls(regions, descriptors, np.arange(0, len(regions) + 1, group))

    def then(self, other: "Script") -> "Script":
        """The choices of this script, followed by those of another."""
        return Script(
            np.concatenate([self.regions, other.regions]),
            np.concatenate([self.descriptors, other.descriptors]),
            np.concatenate([self.first, self.first[-1] + other.first[1:]]),
        )


def follow(episode: Episode, probabilities: Float32, script: Script, times_s: Float64 = NOT_ASKED) -> None:
    """Compute every group of a script that fits in what is left of the budget, from the table.

    Parameters
    ----------
    episode : the run; all supervoxels of the script must be candidates in it
    probabilities : (N, 2^D, L), H's probabilities given every subset of the descriptors
    script : what to compute
    times_s : (N, D) array that the time of each descriptor is written to; not written by default
    """
    _follow(episode.handle, probabilities, script, episode.order, times_s)


@njit(cache=True, nogil=True)
def _follow(handle, probabilities, script, order, times_s):  # type: ignore[no-untyped-def]
    world, state = attach(handle)
    for group in range(len(script.first) - 1):
        if state.scalars[LEFT_S] < state.scalars[LEAST_S] * state.scalars[SLOWDOWN]:
            break
        choices = range(script.first[group], script.first[group + 1])
        if _cost_of_all(world, state, script, choices) > state.scalars[LEFT_S]:
            continue
        for k in choices:
            i = script.regions[k]
            d = script.descriptors[k]
            if state.subsets[i] >> d & 1:
                continue
            look_up(handle, probabilities, order, np.int64(i), np.int64(d), times_s)


@inlined
def _cost_of_all(world, state, script, choices):  # type: ignore[no-untyped-def]
    """Seconds of several choices, computed one after the other: they share the resources that the first ones make."""
    due_s = state.due_s.copy()
    seconds = 0.0
    for k in choices:
        i = script.regions[k]
        d = script.descriptors[k]
        if state.subsets[i] >> d & 1:
            continue
        seconds += cost_of(world, state, i, d)
        cell = i * world.private_s.shape[1] + d
        for need in range(world.needs_first[cell], world.needs_first[cell + 1]):
            state.due_s[world.needed[need]] = 0.0
    state.due_s[:] = due_s
    return seconds
