"""Rollouts: the score that every action in a state leads to if a policy decides everything after it."""

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
    """Number of rollouts.

    Attributes
    ----------
    n_states : states of each run whose actions are tried
    n_draws : rollouts of each action if anything is random, each with other random numbers; all actions of a state get
        the same ones
    """

    n_states: int = 12
    n_draws: int = 2


class Visited(NamedTuple):
    """M states with more than one allowed action, and the scores of their actions.

    Attributes
    ----------
    features : (M, F) float32, φ(s)
    scores : (M, D + 1) float64, nan for actions that were not allowed
    """

    features: Float32
    scores: Float64

    @property
    def n_rollouts(self) -> int:
        """Number of actions that were tried."""
        return int(np.isfinite(self.scores).sum())


def join_visited(parts: Sequence[Visited]) -> Visited:
    """The states of several runs, one after the other."""
    return Visited(np.concatenate([part.features for part in parts]), np.concatenate([part.scores for part in parts]))


def roll_out(judge: Judge, player: Player, trials: Sequence[Trial], recipe: RolloutRecipe) -> Visited:
    """States that a player passes in trials, with every allowed action of each tried to the end of the run."""
    with ThreadPoolExecutor(judge.cores) as pool:
        return join_visited(list(pool.map(lambda trial: _Run(judge, player, trial, recipe).visited(), trials)))


class _Run:
    """A run of a player, and the branches off it."""

    def __init__(self, judge: Judge, player: Player, trial: Trial, recipe: RolloutRecipe) -> None:
        self._player = player
        self._recipe = recipe
        self._worth = judge.worth
        self._arena: Arena = judge.arenas[trial.arena]
        budget_s = trial.fraction * judge.full_s[trial.arena]
        self._episode = self._arena.begin(budget_s, judge.names, player.selection, trial.seed)
        self._rng = np.random.default_rng(trial.seed)

    def visited(self) -> Visited:
        probabilities = self._arena.probabilities
        policy = self._player.policy
        n_actions, n_features = policy.weights.shape
        whole = self._episode.copy()
        n_decisions = play_out(whole, probabilities, policy)
        start = reward(self._arena, whole.state).labels  # one labelling that all expansions begin with
        features = list[Float32]()
        scores = list[Float64]()
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
        """Numbers of decisions to take from one of the states to be tried to the next; the states are random."""
        places = np.sort(self._rng.choice(n_decisions, min(self._recipe.n_states, n_decisions), replace=False))
        return list((np.diff(places, prepend=-1) - 1).tolist())

    def _try_all(self, region: int, allowed: Bool, start: Int32) -> Float64:
        """Mean score of every allowed action over the draws, (D + 1,); all branch from the same state."""
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
