"""Direct search for a policy's weights in the simulator: an evolution strategy with mirrored samples.

    for each fold: steps told by whole runs in its videos ─► places on the way ─► scores in the videos it leaves out
        ─► as many steps as are best there, all folds together ─► the mean of the places that the folds had reached

It moves all weights at once and judges whole runs, so that it sees what single decisions do not show. Few videos teach
luck as well, which does not hold in others: what is found counts only as far as it helps in videos left out.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy.stats import rankdata

from budgetseg.learning.judge import Judge, Player
from budgetseg.policy.features import EXTRAS, feature_names
from budgetseg.types import Float32, Float64

__all__ = ["Fold", "Found", "Recipe", "directions", "search"]

MEMORY = 0.8
"""Of earlier slopes, from step to step."""


@dataclass(frozen=True)
class Recipe:
    """How to search.

    Attributes
    ----------
    fractions : budgets, of the full cost, each of which a step has a run with
    n_rounds : steps in each fold
    n_pairs : of mirrored samples in a step
    spread : of the samples around the weights
    rate : how far to go
    every : steps after which players are judged
    limit_s : seconds of computing, of all folds and cores together; what was begun until then is judged
    """

    fractions: tuple[float, ...]
    n_rounds: int = 40
    n_pairs: int = 8
    spread: float = 0.3
    rate: float = 0.3
    every: int = 10
    limit_s: float = np.inf


class Fold(NamedTuple):
    """Judges of the videos to learn from, and of those that are left out; the same where there is one video alone."""

    train: Judge
    left_out: Judge


@dataclass(frozen=True, eq=False)
class Found:
    """What a fold has found after some steps: its player, and the score of it in what the fold leaves out.

    At the end, of all folds, None: the mean player, and the mean of their scores after as many steps.
    """

    fold: int | None
    n_rounds: int
    player: Player
    score: float


def directions(descriptors: Sequence[str], labels: Sequence[str], names: Sequence[str]) -> Float32:
    """(P, D + 1, F): what is moved together.

    Every general feature for all descriptors in `names` at once; for each of them alone the constant, what is there
    already, and the time for each.
    """
    features = feature_names(tuple(descriptors), tuple(labels), extended=True)
    found: list[list[tuple[str, str]]] = [[(name, feature) for name in names] for feature in EXTRAS]
    found += [[(name, f"{cost} of {name}") for name in names] for cost in ("cost", "share")]
    for name in names:
        alone = ["1", "time for each", *(f"has {other}" for other in names if other != name)]
        found += [[(name, feature)] for feature in alone]
    moved = np.zeros((len(found), len(descriptors) + 1, len(features)), np.float32)
    for k, pairs in enumerate(found):
        for name, feature in pairs:
            moved[k, descriptors.index(name), features.index(feature)] = 1
    return moved


def search(
    folds: Sequence[Fold],
    start: Player,
    recipe: Recipe,
    seed: int = 0,
    tell: Callable[[Found], None] = lambda _: None,
) -> Player:
    """The mean of what the folds have found from `start` when it is best in what they leave out; `tell` hears of each.

    It is `start` where no steps help there.
    """
    began, steps = time.process_time(), list[tuple[Found, ...]]()
    ways = [_climb(fold, start, recipe, number, seed) for number, fold in enumerate(folds)]
    for found in zip(*ways, strict=True):  # side by side, so that all have gone as far when time is up
        steps.append(found)
        for one in found:
            tell(one)
        if time.process_time() - began > recipe.limit_s:
            break
    scores = [np.mean([one.score for one in found]) for found in steps]
    best = int(np.argmax(scores))
    player = start if best == 0 else _mean([one.player for one in steps[best]])
    tell(Found(None, steps[best][0].n_rounds, player, float(scores[best])))
    return player


def _mean(players: Sequence[Player]) -> Player:
    """One with the mean of their weights."""
    weights: Float64 = np.mean([player.policy.weights for player in players], axis=0, dtype=np.float64)
    return replace(players[0], policy=replace(players[0].policy, weights=weights.astype(np.float32)))


def _climb(fold: Fold, start: Player, recipe: Recipe, number: int, seed: int) -> Iterator[Found]:
    """Where the steps of a fold lead, now and then, from the start on."""
    train, left_out = fold
    trials = left_out.trials(tuple(dict.fromkeys(recipe.fractions)), 1)
    yield Found(number, 0, start, float(left_out.scores([start], trials)[0]))
    h, classes = train.arenas[0].model.classifiers, train.arenas[0].model.classes
    ways, rng = directions(h.names, classes.names, train.names), np.random.default_rng([seed, number])
    place, speed = np.zeros(len(ways)), np.zeros(len(ways))
    for n in range(1, recipe.n_rounds + 1):
        speed = MEMORY * speed + (1 - MEMORY) * _slope(train, start, place, ways, recipe, rng)
        place = place + recipe.rate * speed
        if n % recipe.every == 0 or n == recipe.n_rounds:
            player = _moved(start, place, ways)
            yield Found(number, n, player, float(left_out.scores([player], trials)[0]))


def _slope(
    train: Judge, start: Player, place: Float64, ways: Float32, recipe: Recipe, rng: np.random.Generator
) -> Float64:
    """Where scores rise, from mirrored samples around a place in the same trials, by their ranks."""
    trials = train.draw(recipe.fractions, rng)
    noise = rng.standard_normal((recipe.n_pairs, len(place)))
    sides = [place + sign * recipe.spread * one for one in noise for sign in (1, -1)]
    scores = train.scores([_moved(start, side, ways) for side in sides], trials)
    ranks = rankdata(scores).reshape(-1, 2) / len(scores)
    return np.asarray((ranks[:, 0] - ranks[:, 1]) @ noise / recipe.n_pairs)


def _moved(player: Player, place: Float64, ways: Float32) -> Player:
    """The same, so far from where it was in each direction."""
    weights = player.policy.weights + np.tensordot(place.astype(np.float32), ways, axes=1)
    return replace(player, policy=replace(player.policy, weights=weights, noise=0.0))
