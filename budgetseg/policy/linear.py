"""The linear policy: argmax of w_a · φ(s) over the actions that are allowed (the paper's Eq. 2)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numba import njit

from budgetseg.policy import calls
from budgetseg.policy.episode import Episode
from budgetseg.policy.features import fill_features, n_features, time_at, time_left
from budgetseg.policy.handle import attach, inlined
from budgetseg.policy.heap import move
from budgetseg.policy.state import ENABLED, LEAST_S, LEFT_S, REOPENED, SLOWDOWN, UNFIT_S
from budgetseg.policy.steps import WANTED, affordable, fits, next_stale, outdate_if_time_rose, uniform, visit
from budgetseg.types import Batch, Float32

__all__ = ["LinearPolicy", "choose", "decide", "plan_policy", "random_policy"]

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

    def __call__(self, episode: Episode, n: int = 1, most_s: float = np.inf) -> Batch:
        """Go on until n supervoxels need a descriptor; the chooser of `inference`."""
        batch = Batch(np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n))
        how = self.weights, self.extended, self.noise, episode.order, episode.selection.reopen
        n_chosen = _choose(episode.handle, *how, most_s, *batch)
        return batch if n_chosen == n else batch.take(slice(n_chosen))

    def action(self, episode: Episode, region: int) -> int:
        """What it would do with a supervoxel now; D for Finished."""
        return int(_best_action(episode.handle, region, self.weights, self.extended, self.noise))

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
def _choose(handle, weights, extended, noise, order, reopen, most_s, regions, descriptors, planned_s):  # type: ignore[no-untyped-def]
    """Choose and begin as many as there is room for; how many it were."""
    _, state = attach(handle)
    left_s, total_s, n = state.scalars[LEFT_S], 0.0, 0
    while n < len(regions) and total_s < most_s:
        i, d = choose(handle, weights, extended, noise, order, reopen)
        if i < 0:
            break
        regions[n], descriptors[n], planned_s[n] = i, d, calls.begin(handle, order, i, d)
        state.scalars[LEFT_S] -= planned_s[n]  # not there for the next
        total_s, n = total_s + planned_s[n], n + 1
    state.scalars[LEFT_S] = left_s
    return n


@njit(cache=True, nogil=True)
def choose(handle, weights, extended, noise, order, reopen):  # type: ignore[no-untyped-def]
    """Select, decide and finish until a descriptor is wanted: (supervoxel, descriptor), or (-1, -1)."""
    n_descriptors = len(weights) - 1
    while True:
        i, action = decide(handle, weights, extended, noise, order, reopen)
        if i < 0 or action < n_descriptors:
            return i, action
        calls.finish(handle, order, i)


@njit(cache=True, nogil=True)
def decide(handle, weights, extended, noise, order, reopen):  # type: ignore[no-untyped-def]
    """Who is selected, and what to do with it, Finished included; (-1, -1) at the end."""
    _, state = attach(handle)
    while state.scalars[LEFT_S] >= state.scalars[LEAST_S] * state.scalars[SLOWDOWN]:
        if order != WANTED:
            i = calls.select(handle, order, reopen)
            if i < 0:
                break
            return i, _best_action(handle, i, weights, extended, noise)
        if not calls.refill(handle, order, reopen):
            break
        outdate_if_time_rose(state)
        _rank_stale(handle, state, weights, extended, noise)
        d, i, wish = _most_wanted(state, weights, extended)
        if d == NONE:  # nothing is wanted, or nothing fits
            visit(state, i)
            return i, _best_action(handle, i, weights, extended, noise)
        if state.changed[i] or state.outdated[i]:
            _rank_descriptors(handle, i, weights, extended, noise)  # it may be less wanted now, and others come first
        elif not fits(state, state.costs_s[i, d]):
            _put_last(state, d, i)
        else:
            visit(state, i)
            return i, (d if wish >= 0 or state.counts[REOPENED] else len(weights) - 1)
    return -1, -1


@inlined
def _rank_stale(handle, state, weights, extended, noise):  # type: ignore[no-untyped-def]
    """Rank those again of whom something has changed."""
    i = next_stale(state)
    while i >= 0:
        _rank_descriptors(handle, i, weights, extended, noise)
        i = next_stale(state)


@inlined
def _most_wanted(state, weights, extended):  # type: ignore[no-untyped-def]
    """The descriptor and the supervoxel that are most ahead of Finished, and by how much; or no descriptor, anyone.

    What time does to a descriptor's score it does to all supervoxels alike, and so it is no part of their ranks.
    """
    last, left, each, at = len(weights) - 1, np.float32(0), np.float32(0), 0
    if extended:
        (left, each), at = time_left(state), time_at(last, state.probabilities.shape[1])
    best, most = NONE, -np.inf
    for d in range(last):
        wish = (weights[d, at] - weights[last, at]) * left + (weights[d, at + 1] - weights[last, at + 1]) * each
        wish -= state.rank[d, 0]
        if wish > most:
            best, most = d, wish
    return best, state.heap[max(best, 0), 0], most


@njit(cache=True, nogil=True)
def _rank_descriptors(handle, i, weights, extended, noise):  # type: ignore[no-untyped-def]
    """Rank the descriptors of i by how much they are wanted, time apart; last is what it has or what does not fit."""
    world, state = attach(handle)
    last, features = len(weights) - 1, np.empty(weights.shape[1], np.float32)
    fitting, lacks, none = affordable(world, state, i), state.counts[ENABLED] & ~state.subsets[i], np.float32(0)
    state.changed[i] = False
    if fitting:
        fill_features(world, state, i, extended, features, False)
        none = _score(state, i, weights, features, noise, last)
    for d in range(last):
        if fitting >> d & 1:
            wish = _score(state, i, weights, features, noise, d) - none
            move(state, d, i, -wish if wish > -np.inf else np.inf)  # nan is no wish
        elif lacks >> d & 1:
            _put_last(state, d, i)
        else:
            move(state, d, i, np.inf)


@inlined
def _put_last(state, d, i):  # type: ignore[no-untyped-def]
    """There is no time for descriptor d of i."""
    state.scalars[UNFIT_S] = min(state.scalars[UNFIT_S], state.costs_s[i, d])
    move(state, d, i, np.inf)


@njit(cache=True, nogil=True)
def _best_action(handle, i, weights, extended, noise):  # type: ignore[no-untyped-def]
    """The allowed action of the highest score, the first of equals. Finished is always allowed, unless reopened."""
    world, state = attach(handle)
    n_descriptors = world.private_s.shape[1]
    fitting = affordable(world, state, i)
    if fitting == 0:
        return n_descriptors
    features = np.empty(weights.shape[1], np.float32)
    fill_features(world, state, i, extended, features)
    best, best_score = NONE, np.float32(0)
    for action in range(n_descriptors + 1):
        if action < n_descriptors and not fitting >> action & 1:
            continue
        score = _score(state, i, weights, features, noise, action)
        if best == NONE or (score > best_score and not (action == n_descriptors and state.counts[REOPENED])):
            best, best_score = action, score
    return best


@inlined
def _score(state, i, weights, features, noise, action):  # type: ignore[no-untyped-def]
    """Of an action for i, with its share of chance."""
    score = _dot(weights[action], features)
    if noise > 0:
        draw = uniform(state.seed[0] ^ np.uint64(action + 1), i, state.visits[i])
        score -= np.float32(noise * np.log(-np.log(draw)))
    return score


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _dot(weights, features):  # type: ignore[no-untyped-def]
    """w_a · φ, several products at a time."""
    score = np.float32(0)
    for f in range(len(features)):
        score += weights[f] * features[f]
    return score
