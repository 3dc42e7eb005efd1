"""What to do within a budget: which network, on how many key frames, which frames to decode, how to carry labels.

A plan is scored in points of mean IoU: what its network is better than the cheapest, less what is lost on frames that
are no key frames, and on those that are not decoded. The figures are means over the training splits of CamVid and SUNY,
by fold networks on frames that they have not seen.
"""

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product

__all__ = [
    "CARRIES",
    "COARSE",
    "COPY",
    "FINE",
    "REACH",
    "STRIDES",
    "Plan",
    "Prices",
    "Recipe",
    "carries_at",
    "choose",
    "loss",
    "recipes_for",
]

FINE, COARSE, COPY = "fine", "coarse", "copy"
CARRIES = (FINE, COARSE, COPY)
"""How labels come to other frames: along flow, fine or coarse, or as they are from the nearest key frame."""

STRIDES = (1, 2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Of the frames that are decoded."""

REACH = 3
"""Key frames no farther than so many frames of usual video are heard beside the nearest."""

LOSS = {FINE: 0.09, COARSE: 0.14, COPY: 1.0}
"""Points lost for a second frame to a key frame."""
NOT_FOUND = 3.0
"""Where frames lie farther apart than so many of usual video, fine flow finds no more of one in another than coarse."""
FAR = 20.0
"""So many frames from key frame to key frame lose twice as much for each of them."""
MOST_LOST = 25.0
"""Points that frames lose which have nothing in common with key frames but what such videos show."""
ALONE = 0.4
"""Points lost where frames hear one key frame alone."""
SHARP_GAIN = 0.3
"""Points gained where labels follow edges, on average over datasets."""
SKIP_LOSS, SKIP_GROWTH = 0.2, 0.35
"""Points lost for each frame left out between two that are decoded, and how much more distance then costs."""


@dataclass(frozen=True)
class Recipe:
    """What a key frame is asked.

    Attributes
    ----------
    network : that is asked
    views : 1, every other key frame in the mirror where `turns`, or 2, each as it is and in the mirror
    quality : points of mean IoU that this is better than the cheapest recipe
    turns : whether a single view is the mirror's for every other key frame
    """

    network: str
    views: int
    quality: float
    turns: bool = True


RECIPES = (Recipe("dcnn", 1, 0.0, turns=False), Recipe("dcnn_large", 1, 2.3), Recipe("dcnn_large", 2, 2.4))


def recipes_for(networks: Sequence[str]) -> tuple[Recipe, ...]:
    """Recipes with these networks, the cheapest first; of others than ours nothing is known but what two views gain."""
    ours = tuple(recipe for recipe in RECIPES if recipe.network in networks)
    others = [name for name in networks if name not in {recipe.network for recipe in RECIPES}]
    return ours or tuple(Recipe(name, views, 0.1 * (views - 1)) for name in others[:1] for views in (1, 2))


@dataclass(frozen=True, eq=False)
class Prices:
    """Seconds for what is still to be done in a window.

    Attributes
    ----------
    base_s : (stride, carry) -> to decode, and to find flow
    paint_s : (carry, frames a key frame) -> to carry, fuse and paint all frames
    sharp_s : to paint one of them along its edges on top
    ask_s : of a network, all threads at work
    have : by network and views, frames that were asked about in so many before
    """

    base_s: Callable[[int, str], float]
    paint_s: Callable[[str, float], float]
    sharp_s: float
    ask_s: Mapping[str, float]
    have: Mapping[tuple[str, int], int] = field(default_factory=dict)


@dataclass(frozen=True)
class Plan:
    """What to do.

    Attributes
    ----------
    recipe : what a key frame is asked
    n_keys : key frames
    stride : every so many frames one is decoded
    carry : how labels come to other frames
    sharp : whether labels are to follow edges
    foreseen_s : what is still to be done costs
    score : points of mean IoU, against the cheapest network on every frame
    """

    recipe: Recipe
    n_keys: int
    stride: int
    carry: str
    sharp: bool
    foreseen_s: float
    score: float


def choose(
    n_frames: int,
    budget_s: float,
    prices: Prices,
    recipes: Sequence[Recipe],
    strides: Sequence[int] = STRIDES,
    apart: float = 1.0,
) -> Plan | None:
    """The plan that promises most of those that fit; None where none does, which leaves the most frequent class.

    Frames lie `apart` as so many of usual video.
    """
    plans = _plans(n_frames, budget_s, prices, recipes, strides, apart)
    return max((plan for plan in plans if plan.foreseen_s <= budget_s), key=lambda plan: plan.score, default=None)


def _plans(
    n_frames: int, budget_s: float, prices: Prices, recipes: Sequence[Recipe], strides: Sequence[int], apart: float
) -> Iterator[Plan]:
    for stride, carry, sharp in product(strides, carries_at(apart), (False, True)):
        if sharp and carry == COPY:
            continue
        n_decoded = -(-n_frames // stride)
        base_s = prices.base_s(stride, carry) + sharp * n_decoded * prices.sharp_s
        if base_s >= budget_s and base_s > 0:
            continue
        for recipe in recipes:
            key_s = max(recipe.views * prices.ask_s[recipe.network], 1e-9)
            have, n_keys = prices.have.get((recipe.network, recipe.views), 0), n_decoded
            for _ in range(3):  # painting costs more the more key frames there are: too few, too many, enough
                left_s = budget_s - base_s - prices.paint_s(carry, n_frames / n_keys)
                n_keys = max(1, have, min(n_decoded, have + int(min(left_s / key_s, n_frames))))
            painting_s = prices.paint_s(carry, n_frames / n_keys)
            foreseen_s = base_s + painting_s + max(n_keys - have, 0) * key_s
            lost = loss(n_frames / n_keys - 1, stride - 1, carry, apart)
            score = recipe.quality - lost + sharp * SHARP_GAIN / stride
            yield Plan(recipe, n_keys, stride, carry, sharp, foreseen_s, score)


def carries_at(apart: float) -> tuple[str, ...]:
    """How labels may come to other frames, where frames lie so far apart, in frames of usual video."""
    return CARRIES if apart <= NOT_FOUND else (COARSE, COPY)


def loss(away: float, skipped: float, carry: str, apart: float = 1.0) -> float:
    """Points lost by frames that are no key frames, and by those not decoded.

    Parameters
    ----------
    away : frames to each key frame, beside itself
    skipped : frames to each that is decoded, beside itself
    carry : how labels come to other frames
    apart : how far frames lie from each other, in frames of usual video
    """
    far, share = apart * max(away, 1.0), away / (1 + away)  # of frames that are no key frames
    each = LOSS[carry if carry in carries_at(apart) else COARSE]
    lost = min(2 * share, 1.0) * each * far * (1 + far / FAR)
    if carry != COPY:  # what is copied is the same however many frames were decoded
        lost = lost * (1 + SKIP_GROWTH * apart * skipped) + SKIP_LOSS * apart * skipped
    most, alone = max(MOST_LOST * share, 1e-9), ALONE if carry == COPY else 0.0
    return most * (1 - math.exp(-lost / most)) + alone
