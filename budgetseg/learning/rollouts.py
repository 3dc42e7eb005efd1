"""Rollouts: what every action in a state leads to, if a policy decides all that comes after it."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from budgetseg.inference.episode import Episode
from budgetseg.learning.judge import Judge, Player, Trial
from budgetseg.policy.view import allowed_actions, features_of
from budgetseg.simulation import Arena, act, advance, play, reward
from budgetseg.types import Float32, Float64, Int32

__all__ = ["Recipe", "Visited", "join_visited", "roll_out"]


@dataclass(frozen=True)
class Recipe:
    """How much to try.

    Attributes
    ----------
    n_states : of each run whose actions are tried
    n_draws : rollouts of each action, with other random numbers; the same ones for all actions of a state
    """

    n_states: int = 12
    n_draws: int = 2


class Visited(NamedTuple):
    """M states, and what their actions led to.

    Attributes
    ----------
    features : (M, F) float32, φ(s)
    scores : (M, D + 1) float64, nan where an action was not allowed
    """

    features: Float32
    scores: Float64

    @property
    def n_rollouts(self) -> int:
        """How many actions were tried."""
        return int(np.isfinite(self.scores).sum())


def join_visited(parts: Sequence[Visited]) -> Visited:
    """All of them, one after the other."""
    return Visited(np.concatenate([part.features for part in parts]), np.concatenate([part.scores for part in parts]))


def roll_out(judge: Judge, player: Player, trials: Sequence[Trial], recipe: Recipe) -> Visited:
    """States on the way of a player through trials, every allowed action of each tried to the end."""
    with ThreadPoolExecutor(judge.cores) as pool:
        return join_visited(list(pool.map(lambda trial: _Run(judge, player, trial, recipe).visited(), trials)))


class _Run:
    """One run and the branches off it."""

    def __init__(self, judge: Judge, player: Player, trial: Trial, recipe: Recipe) -> None:
        self._player, self._recipe, self._worth = player, recipe, judge.worth
        self._arena: Arena = judge.arenas[trial.arena]
        budget_s = trial.fraction * judge.full_s[trial.arena]
        self._episode = self._arena.begin(budget_s, judge.names, player.selection, trial.seed)
        self._rng = np.random.default_rng(trial.seed)

    def visited(self) -> Visited:
        own, features, scores = self._episode.copy(), [], []
        play(own, self._arena.said, self._player.policy)
        start = reward(self._arena, own.state).labels  # one labelling that all expansions begin with
        for step in self._steps(own.n_decisions):
            choice = advance(self._episode, self._arena.said, self._player.policy, step)
            if choice is None:
                break
            features.append(features_of(self._episode, choice[0], self._player.policy.extended))
            scores.append(self._try_all(choice[0], start))
        if not scores:  # not even one decision fits in the budget
            shape = own.world.n_descriptors + 1, self._player.policy.weights.shape[1]
            return Visited(np.empty((0, shape[1]), np.float32), np.empty((0, shape[0])))
        return Visited(np.array(features), np.array(scores))

    def _steps(self, n_decisions: int) -> list[int]:
        """From each of the states to be tried to the next, in decisions."""
        n = min(self._recipe.n_states, n_decisions)
        places = np.sort(self._rng.choice(n_decisions, n, replace=False)) if n else np.empty(0, np.int64)
        return list(np.diff(places, prepend=0).tolist())

    def _try_all(self, region: int, start: Int32) -> Float64:
        """Mean score of every action over the draws; each branches from the same state."""
        seeds = self._rng.integers(0, 2**63, self._recipe.n_draws, dtype=np.uint64)
        allowed = allowed_actions(self._episode, region)
        scores = np.full(len(allowed), np.nan)
        for action in np.flatnonzero(allowed):
            scores[action] = np.mean([self._try(region, int(action), seed, start) for seed in seeds])
        return scores

    def _try(self, region: int, action: int, seed: np.uint64, start: Int32) -> float:
        branch: Episode = self._episode.copy()
        branch.state.seed[0] = seed
        act(branch, self._arena.said, region, action)
        play(branch, self._arena.said, self._player.policy)
        return reward(self._arena, branch.state, start).score(self._worth)
