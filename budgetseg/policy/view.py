"""What a learner sees of an episode: which actions are allowed for a supervoxel, and φ(s)."""

import numpy as np

from budgetseg.inference.episode import Episode
from budgetseg.inference.state import ENABLED, REOPENED
from budgetseg.inference.steps import costs_of, fits
from budgetseg.policy.features import fill_features, n_features
from budgetseg.types import Bool, Float32, Float64

__all__ = ["allowed_actions", "features_of"]


def allowed_actions(episode: Episode, region: int) -> Bool:
    """(D + 1,): descriptors that may be computed now, and Finished, unless time is left after all were finished."""
    state, (costs, _) = episode.state, _costs(episode, region)
    lacks = int(state.counts[ENABLED]) & ~int(state.subsets[region])
    affordable = [bool(lacks >> d & 1) and bool(fits(state, cost)) for d, cost in enumerate(costs)]
    return np.array([*affordable, not (any(affordable) and state.counts[REOPENED])], np.bool_)


def features_of(episode: Episode, region: int, extended: bool) -> Float32:
    """φ(s), (F,)."""
    costs, shares = _costs(episode, region)
    out = np.empty(n_features(episode.world.n_descriptors, episode.state.said.shape[1], extended), np.float32)
    fill_features(episode.world, episode.state, region, costs, shares, extended, out)
    return out


def _costs(episode: Episode, region: int) -> tuple[Float64, Float64]:
    costs, shares = np.empty(episode.world.n_descriptors), np.empty(episode.world.n_descriptors)
    costs_of(episode.world, episode.state, region, costs, shares)
    return costs, shares
