"""Algorithm 1 over a table, in one compiled call: the fast twin of `table.play_plain`, with the same decisions."""

import numpy as np

from budgetseg.policy import steps
from budgetseg.policy.compiled import compiled
from budgetseg.policy.episode import Episode
from budgetseg.policy.linear import LinearPolicy, decide
from budgetseg.types import Action, Float32, Float64

__all__ = ["NOT_ASKED", "act", "advance", "look_up", "no_times", "play", "play_out", "simulate"]

NOT_ASKED = np.empty((0, 0))
"""Passed as `times_s` if times are not wanted."""

NO_END = np.iinfo(np.int64).max
"""More decisions than any run has."""


def no_times(episode: Episode) -> Float64:
    """Times (N, D) before anything was computed, all nan."""
    return np.full(episode.world.private_s.shape, np.nan)


def act(episode: Episode, probabilities: Float32, region: int, action: int) -> None:
    """Take an action for the selected supervoxel: compute descriptor `action`, or finish it if `action` is D."""
    if action == episode.world.n_descriptors:
        episode.finish(region)
        return
    subset = episode.state.subsets[region] | np.int32(1 << action)
    chosen = Action(region, action)
    episode.receive(chosen, probabilities[region, subset], episode.start(chosen))


def play(episode: Episode, probabilities: Float32, policy: LinearPolicy, times_s: Float64 = NOT_ASKED) -> None:
    """Run an episode to its end with a policy; `times_s` (N, D) receives the time of each descriptor."""
    _simulate(episode, probabilities, policy, NO_END, times_s)


def advance(episode: Episode, probabilities: Float32, policy: LinearPolicy, n: int) -> Action | None:
    """Take n decisions. Returns the next one, a supervoxel and an action (D for Finished); None at the end.

    The supervoxel stays selected, so that `act` may take another action for it.
    """
    region, action, _ = _simulate(episode, probabilities, policy, n)
    return None if region < 0 else Action(region, action)


def play_out(episode: Episode, probabilities: Float32, policy: LinearPolicy) -> int:
    """Run an episode to its end. Returns the number of decisions, as `advance` counts them."""
    return _simulate(episode, probabilities, policy, NO_END)[2]


def _simulate(
    episode: Episode, probabilities: Float32, policy: LinearPolicy, n: int, times_s: Float64 = NOT_ASKED
) -> tuple[int, int, int]:
    region, action, taken = simulate(episode.world, episode.state, probabilities, policy.scorer, n, times_s)
    return int(region), int(action), int(taken)


@compiled
def simulate(world, state, probabilities, scorer, n, times_s):  # type: ignore[no-untyped-def]
    """Decide and look up results, until n decisions were taken, or nothing more fits or is wanted.

    Returns the next decision, as `decide` does, and the number of decisions taken.

    Parameters
    ----------
    world, state : of the episode
    probabilities : (N, 2^D, L), H's probabilities given every subset of the descriptors
    scorer : of a `LinearPolicy`
    n : number of decisions, at most
    times_s : (N, D), receives for each descriptor the seconds spent when it was computed; or `NOT_ASKED`
    """
    n_descriptors = len(scorer.weights) - 1
    taken = 0
    while True:
        i, action = decide(world, state, scorer)
        if i < 0 or taken == n:
            return i, action, taken
        if action == n_descriptors:
            steps.finish(world, state, i)
        else:
            look_up(world, state, probabilities, i, action, times_s)
        taken += 1


@compiled
def look_up(world, state, probabilities, i, d, times_s):  # type: ignore[no-untyped-def]
    """Compute descriptor d of supervoxel i: H's probabilities and the cost are looked up."""
    seconds = steps.begin(world, state, i, d)
    steps.receive(world, state, i, d, probabilities[i, state.subsets[i] | 1 << d], seconds)
    if len(times_s) > 0:
        times_s[i, d] = state.scalars.spent_s
