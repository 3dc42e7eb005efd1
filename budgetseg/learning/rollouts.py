"""Rollouts: what every action in a state leads to, if a policy decides all that comes after it."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from budgetseg.learning.judge import Judge, Player, Trial
from budgetseg.policy.episode import Episode
from budgetseg.policy.view import allowed_actions, features_of
from budgetseg.simulate import Arena, act, advance, play, reward
from budgetseg.simulate.simulate import play_out
from budgetseg.types import Bool, Float32, Float64, Int32

__all__ = ["RolloutRecipe", "Visited", "join_visited", "roll_out"]


@dataclass(frozen=True)
class RolloutRecipe:
    """How much to try.

    Attributes
    ----------
    n_states : of each run whose actions are tried
    n_draws : rollouts of each action, with other random numbers, where anything is random; the same ones for all
        actions of a state
    """

    n_states: int = 12
    n_draws: int = 2


class Visited(NamedTuple):
    """M states in which there was a choice, and what their actions led to.

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


def roll_out(judge: Judge, player: Player, trials: Sequence[Trial], recipe: RolloutRecipe) -> Visited:
    """States on the way of a player through trials, every allowed action of each tried to the end."""
    with ThreadPoolExecutor(judge.cores) as pool:
        return join_visited(list(pool.map(lambda trial: _Run(judge, player, trial, recipe).visited(), trials)))


class _Run:
    """One run and the branches off it."""

    def __init__(self, judge: Judge, player: Player, trial: Trial, recipe: RolloutRecipe) -> None:
        self._player, self._recipe, self._worth = player, recipe, judge.worth
        self._arena: Arena = judge.arenas[trial.arena]
        budget_s = trial.fraction * judge.full_s[trial.arena]
        self._episode = self._arena.begin(budget_s, judge.names, player.selection, trial.seed)
        self._rng = np.random.default_rng(trial.seed)

    def visited(self) -> Visited:
        probabilities, policy = self._arena.probabilities, self._player.policy
        own, (n_actions, n_features) = self._episode.copy(), policy.weights.shape
        n_decisions = play_out(own, probabilities, policy)
        start = reward(self._arena, own.state).labels  # one labelling that all expansions begin with
        features, scores = list[Float32](), list[Float64]()
        for n_between in self._between(n_decisions):
            choice = advance(self._episode, probabilities, policy, n_between)
            assert choice is not None
            allowed = allowed_actions(self._episode, choice[0])
            if allowed.sum() > 1:
                features.append(features_of(self._episode, choice[0], policy.extended))
                scores.append(self._try_all(choice[0], allowed, start))
            act(self._episode, probabilities, *choice)
        return Visited(
            np.array(features, np.float32).reshape(-1, n_features), np.array(scores, np.float64).reshape(-1, n_actions)
        )

    def _between(self, n_decisions: int) -> list[int]:
        """How many decisions to take before each of the states to be tried, since the one before."""
        places = np.sort(self._rng.choice(n_decisions, min(self._recipe.n_states, n_decisions), replace=False))
        return list((np.diff(places, prepend=-1) - 1).tolist())

    def _try_all(self, region: int, allowed: Bool, start: Int32) -> Float64:
        """Mean score of every action over the draws; each branches from the same state."""
        is_random = self._player.selection.order != "wanted" or self._player.policy.noise > 0
        seeds = self._rng.integers(0, 2**63, self._recipe.n_draws if is_random else 1, dtype=np.uint64)
        scores = np.full(len(allowed), np.nan)
        for action in np.flatnonzero(allowed):
            scores[action] = np.mean([self._try(region, int(action), seed, start) for seed in seeds])
        return scores

    def _try(self, region: int, action: int, seed: np.uint64, start: Int32) -> float:
        branch: Episode = self._episode.copy()
        branch.state.scalars.seed = seed
        act(branch, self._arena.probabilities, region, action)
        play(branch, self._arena.probabilities, self._player.policy)
        return reward(self._arena, branch.state, start).score(self._worth)
