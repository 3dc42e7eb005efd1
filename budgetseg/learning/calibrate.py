"""Learn which accuracy to expect: a calibration, from runs on labelled videos by networks that have not seen them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.special import stdtrit

from budgetseg.spaces.frames.calibration import Calibration, log_odds, seen_of, three
from budgetseg.spaces.frames.signs import Signs
from budgetseg.types import Bool, Float64, Int64

__all__ = ["CalibrationRecipe", "Example", "calibrate"]

CHOICES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (0, 1))
"""Signs that may be used beside what carrying loses: confidence, and where classes lie."""


@dataclass(frozen=True)
class CalibrationRecipe:
    """Settings of learning a calibration.

    Attributes
    ----------
    level : share of the runs on videos left out that an interval holds: `python -m benchmarks.promises`
    furthest : share of the runs on videos left out that are not better than is said out of domain
    usual : share of other videos of the same kind that keep to the range of each sign
    least : share that every class is taken to have everywhere, so that none is impossible
    ridge : pulls weights to nothing, in runs
    fewest : videos that are needed
    """

    level: float = 0.9
    furthest: float = 0.98
    usual: float = 0.9
    least: float = 0.01
    ridge: float = 1.0
    fewest: int = 3


@dataclass(frozen=True, eq=False)
class Example:
    """A run on a labelled video by networks that have not seen it.

    Attributes
    ----------
    video : its name; runs on the same video are left out together
    is_plain : whether the video was whole and as it was taken, not cut, darkened, blurred or the like
    signs : of the labels
    truth : (rows, columns, L) where classes truly lie in the video
    accuracy : share of right pixels, 0 to 1
    """

    video: str
    is_plain: bool
    signs: Signs
    truth: Float64
    accuracy: float


def calibrate(
    examples: Sequence[Example], truth: str = "labels", recipe: CalibrationRecipe | None = None
) -> Calibration | None:
    """Learn a calibration; None where there are too few videos.

    Parameters
    ----------
    examples : runs on at least a few videos
    truth : what was taken for the truth: `labels`, or the name of a network
    recipe : settings
    """
    recipe = recipe or CalibrationRecipe()
    videos = list(dict.fromkeys(example.video for example in examples))
    if len(videos) < recipe.fewest:
        return None
    layouts = {video: next(own.truth for own in examples if own.video == video) for video in videos}
    known = _known(examples, layouts, recipe)
    usual = _usual(known, recipe)
    is_usual = np.all(known.seen[:, :3] >= usual, axis=1)
    is_usual |= ~is_usual.any()
    errors = {choice: known.left_out(choice, is_usual, recipe.ridge) for choice in CHOICES}
    fits = {choice: _fit(known.of(choice)[is_usual], known.odds[is_usual], recipe.ridge) for choice in CHOICES}
    sound = [choice for choice in CHOICES if (fits[choice].weights[:-1] >= 0).all()]
    best = min(sound, key=lambda choice: float(np.abs(errors[choice][is_usual]).mean()))
    fitted = fits[best]
    within = float(np.quantile(np.abs(errors[best][is_usual]), recipe.level))
    beyond = max(float(np.quantile(errors[best], recipe.furthest)), within)
    weights = np.zeros(3)
    weights[[*best, 2]] = fitted.weights
    all_signs = known.of((0, 1))[is_usual]
    return Calibration(
        _mean_layout(list(layouts.values()), recipe.least),
        three(weights),
        fitted.bias,
        three(all_signs.min(axis=0)),
        three(all_signs.max(axis=0)),
        three(usual),
        within,
        beyond,
        truth,
        len(videos),
    )


class _Linear(NamedTuple):
    """Log odds that are linear in some signs."""

    weights: Float64
    bias: float


@dataclass(frozen=True, eq=False)
class _Known:
    """Runs in numbers.

    Attributes
    ----------
    videos : (N,) which one
    is_plain : (N,)
    seen : (N, 4), as of `Seen`
    odds : (N,) log odds of a right pixel
    """

    videos: Int64
    is_plain: Bool
    seen: Float64
    odds: Float64

    def of(self, choice: Sequence[int]) -> Float64:
        """Some signs of each run, and what carrying loses."""
        return self.seen[:, [*choice, 3]]

    def left_out(self, choice: Sequence[int], used: Bool, ridge: float) -> Float64:
        """What the log odds of each run are above those expected by the runs `used` of the other videos, (N,)."""
        values, errors = self.of(choice), np.zeros(len(self.odds))
        for video in np.unique(self.videos):
            out = self.videos == video
            rows = used & ~out
            if not rows.any():
                rows = ~out
            fitted = _fit(values[rows], self.odds[rows], ridge)
            within = np.clip(values[out], values[rows].min(axis=0), values[rows].max(axis=0))
            errors[out] = self.odds[out] - fitted.bias - within @ fitted.weights
        return errors


def _known(examples: Sequence[Example], layouts: Mapping[str, Float64], recipe: CalibrationRecipe) -> _Known:
    """Runs in numbers; where classes lie is seen against the other videos."""
    numbers = {video: k for k, video in enumerate(layouts)}
    others = {
        video: _mean_layout([own for name, own in layouts.items() if name != video], recipe.least) for video in layouts
    }
    return _Known(
        np.array([numbers[example.video] for example in examples]),
        np.array([example.is_plain for example in examples]),
        np.array([seen_of(example.signs, others[example.video]) for example in examples]),
        np.array([log_odds(example.accuracy) for example in examples]),
    )


def _usual(known: _Known, recipe: CalibrationRecipe) -> Float64:
    """What confidence, layout and shared classes of one more video will be at least, (3,), by those as they were taken.

    One-sided prediction interval of Student's t, whose degrees of freedom are those of the videos.
    """
    rows = known.is_plain if known.is_plain.any() else np.ones(len(known.odds), bool)
    n = len(np.unique(known.videos))
    spread = known.seen[rows, :3].std(axis=0) * math.sqrt(n / (n - 1))
    far = float(stdtrit(n - 1, recipe.usual)) * math.sqrt(1 + 1 / n)
    return np.asarray(known.seen[rows, :3].mean(axis=0) - far * spread)


def _fit(values: Float64, odds: Float64, ridge: float) -> _Linear:
    """Ridge regression on values that are scaled to a spread of one."""
    mean, spread = values.mean(axis=0), values.std(axis=0) + 1e-9
    scaled = (values - mean) / spread
    gram = scaled.T @ scaled + ridge * np.eye(values.shape[1])
    weights = np.linalg.solve(gram, scaled.T @ (odds - odds.mean())) / spread
    return _Linear(weights, float(odds.mean() - mean @ weights))


def _mean_layout(layouts: Sequence[Float64], least: float) -> Float64:
    """Where classes lie in the mean over videos, with a little of every class everywhere."""
    mean = np.mean(layouts, axis=0) + least
    return np.asarray(mean / mean.sum(axis=2, keepdims=True))
