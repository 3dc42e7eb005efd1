"""The paper's MDP as a gymnasium environment, for any learner; needs the extra `env`.

A step is one decision of Algorithm 1: what the selected supervoxel gets next. It is the same loop as `simulate.play`.
"""

from collections.abc import Sequence
from typing import Any

import gymnasium
import numpy as np
from numpy.typing import NDArray

from budgetseg.errors import UsageError
from budgetseg.policy.episode import Selection
from budgetseg.policy.features import n_features
from budgetseg.policy.view import allowed_actions, features_of
from budgetseg.simulate import Arena, act, reward, worth_of
from budgetseg.types import Float32

__all__ = ["BudgetedVideoEnv"]

Info = dict[str, Any]


class BudgetedVideoEnv(gymnasium.Env[Float32, np.int64]):
    """Decide which descriptors the supervoxels of a video get, within a budget.

    Observation: φ(s) of the selected supervoxel, (F,) float32, see `policy.features.feature_names`; zeros at the end.
    Action: one of the model's D descriptors, or D for Finished. `info["action_mask"]`, (D + 1,) int8, marks those that
    are allowed: descriptors that are enabled, affordable and not computed yet; Finished unless time is left after
    everything was finished once. Any other action computes nothing and finishes the supervoxel. A supervoxel for which
    nothing fits is finished without a step.
    Reward: 0, and at the end the score of the CRF's labels.
    `info` also has `video` and `seed`, from which `arena.begin` makes the same episode, `region`, and `left_s`.

    Parameters
    ----------
    arenas : described videos with labels, all of one model; `reset` draws one
    descriptors : names of those that may be computed
    budget_fraction : budget as a share of their full cost
    selection : which supervoxels are considered, and when; not `wanted`, an order that uses scores of a policy
    extended : whether φ has more than the paper's features
    balance : what the reward measures, from 0 for the share of right pixels to 1 for the average over classes
    feature_bound : absolute value that no feature exceeds, except counts of neighbours; bounds the observation space
    """

    metadata = {"render_modes": []}  # noqa: RUF012  the base class has it so

    def __init__(
        self,
        arenas: Sequence[Arena],
        descriptors: Sequence[str],
        budget_fraction: float,
        selection: Selection | None = None,
        extended: bool = True,
        balance: float = 0.0,
        feature_bound: float = 64.0,
    ) -> None:
        if selection is not None and selection.order == "wanted":
            raise UsageError("order of selection must not be 'wanted', which needs a policy's scores")
        self.arenas = list(arenas)
        self.descriptors = tuple(descriptors)
        self.budget_fraction = budget_fraction
        self.selection = selection or Selection()
        self.extended = extended
        self.balance = balance
        h = self.arenas[0].model.classifiers
        most = max(int(np.diff(arena.world.first).max(initial=0)) for arena in self.arenas)
        self._n_features = n_features(len(h.names), h.n_labels, extended)
        self._finished = len(h.names)
        highest = max(feature_bound, most)
        self.observation_space = gymnasium.spaces.Box(-feature_bound, highest, (self._n_features,), np.float32)
        self.action_space = gymnasium.spaces.Discrete(self._finished + 1)
        self.arena = self.arenas[0]
        self.episode = self.arena.begin(0.0, self.descriptors)
        self._region: int | None = None
        self._seed = 0

    def reset(self, *, seed: int | None = None, options: Info | None = None) -> tuple[Float32, Info]:
        """Begin an episode. Returns the observation of its first decision, and its info.

        `options` may choose the `video`, by its place among the arenas, and the `seed` of the episode.
        """
        super().reset(seed=seed)
        drawn = {"video": int(self.np_random.integers(len(self.arenas))), "seed": int(self.np_random.integers(2**31))}
        chosen = {**drawn, **(options or {})}
        self.arena = self.arenas[chosen["video"]]
        self._seed = chosen["seed"]
        budget_s = self.budget_fraction * self.arena.full_s(self.descriptors)
        self.episode = self.arena.begin(budget_s, self.descriptors, self.selection, self._seed)
        self._region = self._next()
        return self._seen(), self._info()

    def step(self, action: np.int64) -> tuple[Float32, float, bool, bool, Info]:
        """Take an action. Returns observation, reward, whether the episode has ended, False, and info."""
        if self._region is not None:
            wanted = int(action) if self._mask()[action] else self._finished
            act(self.episode, self.arena.probabilities, self._region, wanted)
            self._region = self._next()
        over = self._region is None
        return self._seen(), self._reward() if over else 0.0, over, False, self._info()

    def _next(self) -> int | None:
        """The next supervoxel for which a descriptor fits, as `policy.linear.choose` finds it; None at the end."""
        state = self.episode.state
        while state.scalars.left_s >= state.scalars.least_s * state.scalars.slowdown:
            region = self.episode.select()
            if region is None or allowed_actions(self.episode, region)[:-1].any():
                return region
            self.episode.finish(region)
        return None

    def _mask(self) -> NDArray[np.int8]:
        if self._region is None:
            return np.array([0] * self._finished + [1], np.int8)
        return allowed_actions(self.episode, self._region).astype(np.int8)

    def _seen(self) -> Float32:
        if self._region is None:
            return np.zeros(self._n_features, np.float32)
        return features_of(self.episode, self._region, self.extended)

    def _reward(self) -> float:
        return reward(self.arena, self.episode.state).score(worth_of(self.arena.truth, self.balance))

    def _info(self) -> Info:
        return {
            "action_mask": self._mask(),
            "video": self.arena.name,
            "seed": self._seed,
            "region": self._region,
            "left_s": self.episode.left_s,
        }
