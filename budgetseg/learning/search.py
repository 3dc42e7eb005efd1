"""Direct search for a policy's weights in the simulator: an evolution strategy with mirrored samples.

It moves all weights at once and judges whole runs, so that it sees what single decisions do not show.
"""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.stats import rankdata

from budgetseg.learning.judge import Judge, Player
from budgetseg.policy.features import EXTRAS, feature_names
from budgetseg.types import Float32, Float64

__all__ = ["Found", "Recipe", "directions", "search"]

MEMORY = 0.8
"""Of earlier slopes, from step to step."""


@dataclass(frozen=True)
class Recipe:
    """How to search.

    Attributes
    ----------
    fractions : budgets, of the full cost, each of which a step has a run with
    n_rounds : steps
    n_pairs : of mirrored samples in a step
    spread : of the samples around the weights
    rate : how far to go
    every : steps after which players are judged
    limit_s : seconds of computing, of all cores together, after which no new step begins
    """

    fractions: tuple[float, ...]
    n_rounds: int = 60
    n_pairs: int = 8
    spread: float = 0.3
    rate: float = 0.3
    every: int = 10
    limit_s: float = np.inf


@dataclass(frozen=True, eq=False)
class Found:
    """What has been found after some steps: the best player, and its score where it is judged."""

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
    train: Judge,
    judge: Judge,
    start: Player,
    recipe: Recipe,
    seed: int = 0,
    tell: Callable[[Found], None] = lambda _: None,
) -> Player:
    """The best player found from `start`, by its score in the videos of `judge`; `tell` hears of it now and then.

    Its steps are told by runs in videos of `train`, which may be the same: it moves few weights, all by whole runs.
    """
    h, classes = train.arenas[0].model.classifiers, train.arenas[0].model.classes
    ways = directions(h.names, classes.names, train.names)
    rng, trials = np.random.default_rng(seed), judge.trials(tuple(dict.fromkeys(recipe.fractions)), 1)
    began, best, best_score = time.process_time(), start, float(judge.scores([start], trials)[0])
    place, speed = np.zeros(len(ways)), np.zeros(len(ways))
    for n in range(1, recipe.n_rounds + 1):
        speed = MEMORY * speed + (1 - MEMORY) * _slope(train, start, place, ways, recipe, rng)
        place = place + recipe.rate * speed
        is_last = n == recipe.n_rounds or time.process_time() - began > recipe.limit_s
        if n % recipe.every == 0 or is_last:
            player = _moved(start, place, ways)
            (score,) = judge.scores([player], trials)
            if score > best_score:
                best, best_score = player, float(score)
            tell(Found(n, best, best_score))
        if is_last:
            break
    return best


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
