"""What a learner sees of an episode: which actions are allowed for a supervoxel, and φ(s)."""

import numpy as np

from budgetseg.inference.episode import Episode
from budgetseg.inference.state import ENABLED, REOPENED
from budgetseg.inference.steps import fits, price
from budgetseg.policy.features import fill_features, n_features
from budgetseg.types import Bool, Float32

__all__ = ["allowed_actions", "features_of"]


def allowed_actions(episode: Episode, region: int) -> Bool:
    """(D + 1,): descriptors that may be computed now, and Finished, unless time is left after all were finished."""
    state = episode.state
    price(episode.world, state, region)
    lacks = int(state.counts[ENABLED]) & ~int(state.subsets[region])
    costs_s = episode.pace * state.costs_s[region]
    affordable = [bool(lacks >> d & 1) and bool(fits(state, cost_s)) for d, cost_s in enumerate(costs_s)]
    return np.array([*affordable, not (any(affordable) and state.counts[REOPENED])], np.bool_)


def features_of(episode: Episode, region: int, extended: bool) -> Float32:
    """φ(s), (F,)."""
    world, state = episode.world, episode.state
    out = np.empty(n_features(world.n_descriptors, state.said.shape[1], extended), np.float32)
    price(world, state, region)
    fill_features(world, state, region, extended, out)
    return out
