"""Runs without a policy: a script lists what to compute, in groups that are computed as a whole or not at all."""

from typing import NamedTuple

import numpy as np

from budgetseg.policy.compiled import compiled
from budgetseg.policy.episode import Episode
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
    paid_in = np.full(len(episode.world.resource_s), -1)
    _follow(episode.world, episode.state, probabilities, script, times_s, paid_in)


@compiled
def _follow(world, state, probabilities, script, times_s, paid_in):  # type: ignore[no-untyped-def]
    for group in range(len(script.first) - 1):
        if state.scalars.left_s < state.scalars.least_s * state.scalars.slowdown:
            break
        if _cost_of_group(world, state, script, group, paid_in) > state.scalars.left_s:
            continue
        for k in range(script.first[group], script.first[group + 1]):
            i = script.regions[k]
            d = script.descriptors[k]
            if state.subsets[i] >> d & 1:
                continue
            look_up(world, state, probabilities, np.int64(i), np.int64(d), times_s)


@compiled
def _cost_of_group(world, state, script, group, paid_in):  # type: ignore[no-untyped-def]
    """Seconds of the choices of a group, computed one after the other: they share the resources that the first makes.

    `paid_in` (R,) is the last group that was charged for each resource.
    """
    seconds = 0.0
    for k in range(script.first[group], script.first[group + 1]):
        i = script.regions[k]
        d = script.descriptors[k]
        if state.subsets[i] >> d & 1:
            continue
        cost_s = world.private_s[i, d]
        cell = i * world.private_s.shape[1] + d
        for need in range(world.needs_first[cell], world.needs_first[cell + 1]):
            r = world.needed[need]
            if paid_in[r] != group:
                paid_in[r] = group
                cost_s += state.due_s[r]
        seconds += cost_s * state.scalars.slowdown
    return seconds
