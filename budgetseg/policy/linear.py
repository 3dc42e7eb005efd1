"""The linear policy: argmax of w_a · φ(s) over the actions that are allowed (the paper's Eq. 2)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numba import njit

from budgetseg.inference.episode import Choice, Episode
from budgetseg.inference.handle import attach, inlined
from budgetseg.inference.state import ENABLED, LEAST_S, LEFT_S, PACE, REOPENED
from budgetseg.inference.steps import WANTED, costs_of, finish, fits, next_stale, re_rank, select, uniform
from budgetseg.policy.features import fill_features, n_features
from budgetseg.types import Float32

__all__ = ["LinearPolicy", "best_action", "choose", "decide", "plan_policy", "random_policy"]

NONE = -1


@dataclass(frozen=True, eq=False)
class LinearPolicy:
    """Ranks the D descriptors and Finished, the last action.

    Attributes
    ----------
    weights : (D + 1, F) float32
    extended : whether φ has more than the paper's features
    noise : how much chance (a Gumbel draw) is added to every score; 0 for none
    """

    weights: Float32
    extended: bool = False
    noise: float = 0.0

    def __call__(self, episode: Episode) -> Choice | None:
        """Go on until a supervoxel needs a descriptor; the chooser of `inference`."""
        how = self.weights, self.extended, self.noise
        region, action = _choose(episode.handle, *how, episode.order, episode.selection.reopen)
        return None if region < 0 else (int(region), int(action))

    def action(self, episode: Episode, region: int) -> int:
        """What it would do with a supervoxel now; D for Finished."""
        return int(best_action(episode.world, episode.state, region, self.weights, self.extended, self.noise)[0])

    def with_descriptors(self, old: Sequence[str], new: Sequence[str]) -> "LinearPolicy":
        """The same decisions for a world whose descriptors stand in another order, none missing."""
        where = [new.index(name) for name in old]
        weights = np.zeros_like(self.weights)
        rows = np.arange(self.weights.shape[1])
        rows[1 : 1 + len(old)] = [1 + place for place in where]
        if self.extended:
            for costs in (1, 2):  # what they cost, and their share of it
                first = len(rows) - costs * len(old)
                rows[first : first + len(old)] = [first + place for place in where]
        weights[np.ix_(np.array([*where, len(old)]), rows)] = self.weights
        return replace(self, weights=weights)


def random_policy(n_descriptors: int, n_labels: int) -> LinearPolicy:
    """Any allowed action, each as likely: the paper's π0."""
    return LinearPolicy(
        np.zeros((n_descriptors + 1, n_features(n_descriptors, n_labels, False)), np.float32), noise=1.0
    )


def plan_policy(descriptors: Collection[int], n_descriptors: int, n_labels: int) -> LinearPolicy:
    """A fixed plan: these descriptors for every supervoxel that is selected, in rising order, and no others."""
    weights = np.zeros((n_descriptors + 1, n_features(n_descriptors, n_labels, False)), np.float32)
    for d in range(n_descriptors):
        weights[d, 0] = n_descriptors - d if d in descriptors else -1
        weights[d, 1 + d] = -2 * n_descriptors
    return LinearPolicy(weights)


@njit(cache=True, nogil=True)
def _choose(handle, weights, extended, noise, order, reopen):  # type: ignore[no-untyped-def]
    world, state = attach(handle)
    return choose(world, state, weights, extended, noise, order, reopen)


@inlined
def choose(world, state, weights, extended, noise, order, reopen):  # type: ignore[no-untyped-def]
    """Select, decide and finish until a descriptor is wanted: (supervoxel, descriptor), or (-1, -1)."""
    while True:
        i, action = decide(world, state, weights, extended, noise, order, reopen)
        if i < 0 or action < world.private_s.shape[1]:
            return i, action
        finish(world, state, order, i)


@inlined
def decide(world, state, weights, extended, noise, order, reopen):  # type: ignore[no-untyped-def]
    """Who is selected, and what to do with it, Finished included; (-1, -1) at the end."""
    while state.money[LEFT_S] >= state.money[LEAST_S] * state.money[PACE]:
        if order == WANTED:
            _rank_stale(world, state, weights, extended, noise)
        i = select(world, state, order, reopen)
        if i < 0:
            break
        action, wanted = best_action(world, state, i, weights, extended, noise)
        if order != WANTED or re_rank(state, i, -wanted):
            return i, action
        # else it is less wanted than when it was ranked, and others come first
    return -1, -1


@inlined
def _rank_stale(world, state, weights, extended, noise):  # type: ignore[no-untyped-def]
    """Rank those again of whom something has changed."""
    i = next_stale(state)
    while i >= 0:
        _, wanted = best_action(world, state, i, weights, extended, noise)
        re_rank(state, i, -wanted)
        i = next_stale(state)


@inlined
def best_action(world, state, i, weights, extended, noise):  # type: ignore[no-untyped-def]
    """The allowed action of the highest score, the first of equals, and by how much a descriptor is better than none.

    Finished is always allowed, unless reopened.
    """
    n_descriptors = world.private_s.shape[1]
    n_features = weights.shape[1]
    room = np.empty(2 * n_descriptors + n_features // 2 + 1)  # at once: it takes as long as a score
    costs, shares = room[:n_descriptors], room[n_descriptors : 2 * n_descriptors]
    features = room[2 * n_descriptors :].view(np.float32)[:n_features]
    costs_of(world, state, i, costs, shares)
    affordable = 0
    for d in range(n_descriptors):
        if state.counts[ENABLED] >> d & 1 and not state.subsets[i] >> d & 1 and fits(state, costs[d]):
            affordable |= 1 << d
    if affordable == 0:
        return n_descriptors, -np.inf
    fill_features(world, state, i, costs, shares, extended, features)
    best, best_score, wanted = NONE, 0.0, -np.inf
    for action in range(n_descriptors + 1):
        if action < n_descriptors and not affordable >> action & 1:
            continue
        score = _score(weights[action], features)
        if noise > 0:
            draw = uniform(state.seed[0] ^ np.uint64(action + 1), i, state.visits[i])
            score -= noise * np.log(-np.log(draw))
        if action == n_descriptors:
            wanted = best_score - score if best_score - score > -np.inf else -np.inf  # nan is no wish
        if best == NONE or (score > best_score and not (action == n_descriptors and state.counts[REOPENED])):
            best, best_score = action, score
    return best, wanted


@inlined
def _score(weights, features):  # type: ignore[no-untyped-def]
    """w_a · φ, as four sums that do not wait for each other."""
    a, b, c, d = 0.0, 0.0, 0.0, 0.0
    n = len(features) // 4 * 4
    for f in range(0, n, 4):
        a += weights[f] * features[f]
        b += weights[f + 1] * features[f + 1]
        c += weights[f + 2] * features[f + 2]
        d += weights[f + 3] * features[f + 3]
    for f in range(n, len(features)):
        a += weights[f] * features[f]
    return (a + b) + (c + d)
