"""The linear policy: argmax of w_a · φ(s) over the actions that are allowed (the paper's Eq. 2)."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numba import njit

from budgetseg.policy import steps
from budgetseg.policy.compiled import compiled
from budgetseg.policy.episode import Episode
from budgetseg.policy.features import fill_features, n_features, time_at, time_left
from budgetseg.policy.heap import move
from budgetseg.policy.steps import WANTED, affordable, fits, next_stale, outdate_if_time_rose, uniform, visit
from budgetseg.types import Batch, Float32

__all__ = ["LinearPolicy", "choose", "decide", "plan_policy", "random_policy"]

NONE = -1


class Scorer(NamedTuple):
    """A linear policy as compiled code takes it.

    Attributes
    ----------
    weights, extended, noise : as in `LinearPolicy`
    features : (F,) float32, room for φ(s)
    """

    weights: Float32
    extended: bool
    noise: float
    features: Float32


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
        n_chosen = _choose(episode.world, episode.state, self.scorer, most_s, batch)
        return batch if n_chosen == n else batch.take(slice(n_chosen))

    def action(self, episode: Episode, region: int) -> int:
        """What it would do with a supervoxel now; D for Finished."""
        return int(_best_action(episode.world, episode.state, self.scorer, region))

    @property
    def scorer(self) -> Scorer:
        """Itself for one call of compiled code."""
        room = np.empty(self.weights.shape[1], np.float32)
        return Scorer(self.weights, self.extended, self.noise, room)

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


@compiled
def _choose(world, state, scorer, most_s, batch):  # type: ignore[no-untyped-def]
    """Choose and begin as many as there is room for; how many it were."""
    left_s, total_s, n = state.scalars.left_s, 0.0, 0
    while n < len(batch.places) and total_s < most_s:
        i, d = choose(world, state, scorer)
        if i < 0:
            break
        batch.places[n] = i
        batch.sources[n] = d
        batch.planned_s[n] = steps.begin(world, state, i, d)
        state.scalars.left_s -= batch.planned_s[n]  # not there for the next
        total_s += batch.planned_s[n]
        n += 1
    state.scalars.left_s = left_s
    return n


@compiled
def choose(world, state, scorer):  # type: ignore[no-untyped-def]
    """Select, decide and finish until a descriptor is wanted: (supervoxel, descriptor), or (-1, -1)."""
    n_descriptors = len(scorer.weights) - 1
    while True:
        i, action = decide(world, state, scorer)
        if i < 0 or action < n_descriptors:
            return i, action
        steps.finish(world, state, i)


@compiled
def decide(world, state, scorer):  # type: ignore[no-untyped-def]
    """Who is selected, and what to do with it, Finished included; (-1, -1) at the end."""
    while state.scalars.left_s >= state.scalars.least_s * state.scalars.slowdown:
        if state.scalars.order != WANTED:
            i = steps.select(world, state)
            if i < 0:
                break
            return i, _best_action(world, state, scorer, i)
        if not steps.refill(world, state):
            break
        outdate_if_time_rose(state)
        _rank_stale(world, state, scorer)
        d, i, wish = _most_wanted(state, scorer)
        if d == NONE:  # nothing is wanted, or nothing fits
            visit(state, i)
            return i, _best_action(world, state, scorer, i)
        if state.changed[i] or state.outdated[i]:
            _rank_descriptors(world, state, scorer, i)  # it may be less wanted now, and others come first
        elif not fits(state, state.costs_s[i, d]):
            _put_last(state, d, i)
        else:
            visit(state, i)
            return i, (d if wish >= 0 or state.scalars.reopened else len(scorer.weights) - 1)
    return -1, -1


@compiled
def _rank_stale(world, state, scorer):  # type: ignore[no-untyped-def]
    """Rank those again of whom something has changed."""
    i = next_stale(state)
    while i >= 0:
        _rank_descriptors(world, state, scorer, i)
        i = next_stale(state)


@compiled
def _most_wanted(state, scorer):  # type: ignore[no-untyped-def]
    """The descriptor and the supervoxel that are most ahead of Finished, and by how much; or no descriptor, anyone.

    What time does to a descriptor's score it does to all supervoxels alike, and so it is no part of their ranks.
    """
    weights = scorer.weights
    last = len(weights) - 1
    left, each, at = np.float32(0), np.float32(0), 0
    if scorer.extended:
        (left, each), at = time_left(state), time_at(last, state.probabilities.shape[1])
    best, most = NONE, -np.inf
    for d in range(last):
        wish = (weights[d, at] - weights[last, at]) * left + (weights[d, at + 1] - weights[last, at + 1]) * each
        wish -= state.rank[d, 0]
        if wish > most:
            best, most = d, wish
    return best, state.heap[max(best, 0), 0], most


@compiled
def _rank_descriptors(world, state, scorer, i):  # type: ignore[no-untyped-def]
    """Rank the descriptors of i by the policy without its terms of time; those it has or that do not fit are last."""
    last = len(scorer.weights) - 1
    fitting = affordable(world, state, i)
    lacks = state.scalars.enabled & ~state.subsets[i]
    none = np.float32(0)
    state.changed[i] = False
    if fitting:
        fill_features(world, state, i, scorer.extended, scorer.features, False)
        none = _score(state, scorer, i, last)
    for d in range(last):
        if fitting >> d & 1:
            wish = _score(state, scorer, i, d) - none
            move(state, d, i, -wish if wish > -np.inf else np.inf)  # nan is no wish
        elif lacks >> d & 1:
            _put_last(state, d, i)
        else:
            move(state, d, i, np.inf)


@compiled
def _put_last(state, d, i):  # type: ignore[no-untyped-def]
    """There is no time for descriptor d of i."""
    state.scalars.unfit_s = min(state.scalars.unfit_s, state.costs_s[i, d])
    move(state, d, i, np.inf)


@compiled
def _best_action(world, state, scorer, i):  # type: ignore[no-untyped-def]
    """The allowed action of the highest score, the first of equals. Finished is always allowed, unless reopened."""
    n_descriptors = world.private_s.shape[1]
    fitting = affordable(world, state, i)
    if fitting == 0:
        return n_descriptors
    fill_features(world, state, i, scorer.extended, scorer.features)
    best, best_score = NONE, np.float32(0)
    for action in range(n_descriptors + 1):
        if action < n_descriptors and not fitting >> action & 1:
            continue
        score = _score(state, scorer, i, action)
        if best == NONE or (score > best_score and not (action == n_descriptors and state.scalars.reopened)):
            best, best_score = action, score
    return best


@compiled
def _score(state, scorer, i, action):  # type: ignore[no-untyped-def]
    """Of an action for i, with its share of chance."""
    score = _dot(scorer.weights[action], scorer.features)
    if scorer.noise > 0:
        draw = uniform(state.scalars.seed ^ np.uint64(action + 1), i, state.visits[i])
        score -= np.float32(scorer.noise * np.log(-np.log(draw)))
    return score


@njit(cache=True, nogil=True, fastmath={"contract", "reassoc"})
def _dot(weights, features):  # type: ignore[no-untyped-def]
    """w_a · φ, several products at a time."""
    score = np.float32(0)
    for f in range(len(features)):
        score += weights[f] * features[f]
    return score
