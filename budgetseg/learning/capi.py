"""Classification-based approximate policy iteration (the paper's Algorithm 2) that never gives up what it has gained.

    states of the best policy so far ─► rollouts of every action ─► a linear classifier of the best actions
        ─► a few steps from the old policy towards it ─► the best of them in held-out videos

One action among thousands changes the accuracy by about 1e-4, and near a good policy the differences are mostly noise.
So states are kept over the rounds, states whose actions differ most weigh most, and a step that does not help is not
taken.
"""

import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.rollouts import RolloutRecipe, Visited, join_visited, roll_out
from budgetseg.policy.linear import LinearPolicy
from budgetseg.timing.clock import process_s
from budgetseg.types import Float32, Float64

__all__ = ["CapiRecipe", "Round", "classify", "iterate"]


@dataclass(frozen=True)
class CapiRecipe:
    """Settings of the learner.

    Attributes
    ----------
    fractions : budgets, as shares of the full cost; each round has a run with each of them
    n_rounds : number of rounds, at most
    rollouts : settings of the rollouts of each run
    steps : shares of the way from the old policy to the new one that are tried
    penalty : C of the classifier
    patience : number of rounds without a gain after which to stop
    limit_s : seconds of computing, of all cores together, after which no new round begins
    """

    fractions: tuple[float, ...]
    n_rounds: int = 8
    rollouts: RolloutRecipe = field(default_factory=RolloutRecipe)
    steps: tuple[float, ...] = (1.0, 0.3, 0.1)
    penalty: float = 0.1
    patience: int = 2
    limit_s: float = np.inf


@dataclass(frozen=True, eq=False)
class Round:
    """The result of a round.

    Attributes
    ----------
    player : the best player so far
    score : its score in the held-out videos
    train_score : its score in the trials of this round
    gained : whether this round found it
    n_states, n_rollouts : numbers tried so far
    actions : (D + 1,) share of the states of this round in which each action was best
    """

    player: Player
    score: float
    train_score: float
    gained: bool
    n_states: int
    n_rollouts: int
    actions: Float64


def iterate(
    train: Judge,
    held_out: Judge,
    start: Player,
    recipe: CapiRecipe,
    seed: int = 0,
    tell: Callable[[Round], None] = lambda _: None,
) -> Player:
    """Improve a player, and return the best one found.

    Parameters
    ----------
    train : judge of the videos to learn from
    held_out : judge of other videos, whose scores decide which player is best
    start : the player to begin with
    recipe : settings of the learner
    seed : of all random choices
    tell : called with the result of every round
    """
    rng = np.random.default_rng(seed)
    visited = list[Visited]()
    idle = 0
    trials = held_out.trials(recipe.fractions, 1)
    began_s = process_s()
    best = start
    (best_score,) = held_out.scores([start], trials)
    for _ in range(recipe.n_rounds):
        if idle == recipe.patience or process_s() - began_s > recipe.limit_s:
            break
        drawn = train.draw(recipe.fractions, rng)
        visited.append(roll_out(train, best, drawn, recipe.rollouts))
        states = join_visited(visited)
        players = _tried(best, classify(states, recipe.penalty), states, recipe.steps)
        gained = False
        for player, score in zip(players, held_out.scores(players, trials), strict=True):
            if score > best_score:
                best = player
                best_score = float(score)
                gained = True
        idle = 0 if gained else idle + 1
        train_score = float(train.scores([best], drawn)[0])
        tell(_round(best, best_score, train_score, gained, visited))
    return best


def _round(best: Player, score: float, train_score: float, gained: bool, visited: Sequence[Visited]) -> Round:
    n_actions = len(best.policy.weights)
    last = visited[-1].scores
    actions = np.bincount(np.nanargmax(last, axis=1), minlength=n_actions) / max(len(last), 1)
    n_states = sum(len(part.scores) for part in visited)
    n_rollouts = sum(part.n_rollouts for part in visited)
    return Round(best, score, train_score, gained, n_states, n_rollouts, actions)


def classify(visited: Visited, penalty: float) -> Float32 | None:
    """Weights (D + 1, F) of a multi-class support vector machine that predicts the best action of a state.

    The weight of a state is the difference that its action makes; ties have none. Returns None if there are only ties.
    An action that was never best gets a low score, so that it is not chosen where another one is allowed.

    Parameters
    ----------
    visited : states and the scores of their actions
    penalty : C of the machine
    """
    spread = np.nanmax(visited.scores, axis=1) - np.nanmin(visited.scores, axis=1)
    clear = spread > 0
    n_actions = visited.scores.shape[1]
    features = visited.features[clear].astype(np.float64)
    best = np.nanargmax(visited.scores[clear], axis=1)
    weights = np.zeros((n_actions, features.shape[1]))
    weights[:, 0] = -10
    seen = np.unique(best)
    if len(seen) == 0:
        return None
    if len(seen) == 1:
        weights[seen, 0] = 10
        return weights.astype(np.float32)
    centre = features.mean(axis=0)
    scale = np.maximum(features.std(axis=0), 1e-3)
    machine = LinearSVC(C=penalty, multi_class="crammer_singer", fit_intercept=False, random_state=0, max_iter=20_000)
    scaled = (features - centre) / scale
    scaled[:, 0] = 1  # the constant
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # near enough: the held-out videos will judge
        machine.fit(scaled, best, sample_weight=np.minimum(spread[clear] / np.median(spread[clear]), 10))
    found = np.concatenate([-machine.coef_, machine.coef_]) / 2 if len(seen) == 2 else machine.coef_
    raw = found / np.where(np.arange(found.shape[1]) == 0, 1.0, scale)
    raw[:, 0] -= raw[:, 1:] @ centre[1:]
    weights[seen] = raw
    return weights.astype(np.float32)


def _tried(best: Player, target: Float32 | None, visited: Visited, steps: Sequence[float]) -> list[Player]:
    """Players to be judged: each some of the way from the best so far to the target weights; none without a target."""
    if target is None:
        return []
    steps = steps if best.policy.weights.any() else (1.0,)  # nothing lies between chance and the target
    return [replace(best, policy=_towards(best.policy, target, visited, step)) for step in steps]


def _towards(old: LinearPolicy, target: Float32, visited: Visited, step: float) -> LinearPolicy:
    """A policy part of the way from an old one to other weights.

    The target is scaled first, so that scores of actions differ as much as those of the old policy in these states.
    """
    if step == 1:
        return replace(old, weights=target, noise=0.0)
    scale = _decision(old.weights, visited) / max(_decision(target, visited), 1e-9)
    weights = (1 - step) * old.weights + step * scale * target
    return replace(old, weights=weights.astype(np.float32), noise=0.0)


def _decision(weights: Float32, visited: Visited) -> float:
    """Standard deviation of the scores of the allowed actions, averaged over the states."""
    scores = np.where(np.isfinite(visited.scores), visited.features @ weights.T, np.nan)
    return float(np.nanmean(np.nanstd(scores, axis=1)))
