"""What a learner sees of an episode: which actions are allowed for a supervoxel, and φ(s)."""

import numpy as np

from budgetseg.policy.episode import Episode
from budgetseg.policy.features import fill_features, n_features
from budgetseg.policy.steps import affordable, price
from budgetseg.types import Bool, Float32

__all__ = ["allowed_actions", "features_of"]


def allowed_actions(episode: Episode, region: int) -> Bool:
    """(D + 1,): descriptors that may be computed now, and Finished, unless time is left after all were finished."""
    state = episode.state
    fitting = int(affordable(episode.world, state, region))
    allowed = [bool(fitting >> d & 1) for d in range(episode.world.n_descriptors)]
    return np.array([*allowed, not (fitting and state.scalars.reopened)], np.bool_)


def features_of(episode: Episode, region: int, extended: bool) -> Float32:
    """φ(s), (F,)."""
    world, state = episode.world, episode.state
    out = np.empty(n_features(world.n_descriptors, state.probabilities.shape[1], extended), np.float32)
    price(world, state, region)
    fill_features(world, state, region, extended, out)
    return out
