"""From what a run has seen of a video to the accuracy to expect: learned from labelled videos, by networks new to them.

Three signs tell (`Signs`): how confident the labels are, whether classes lie where they lie in training, and what
carrying was found to lose. The log odds of a right pixel are linear in those of them that help on videos left out. The
interval has the width that errors on videos left out have. A video of which a sign lies outside of the range that
another video of the same kind would keep to is out of domain.
"""

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from budgetseg.engine.promise import Promise
from budgetseg.errors import UsageError
from budgetseg.spaces.frames.signs import Signs
from budgetseg.types import Float64

__all__ = ["Calibration", "Seen", "log_odds", "seen_of", "three"]


class Seen(NamedTuple):
    """Signs in numbers.

    Attributes
    ----------
    confidence : log odds of the mean confidence
    layout : mean logarithm of the share that the classes of the labels have where they lie, in training
    shares : share of pixels whose classes are as frequent in training
    lost : points lost by carrying
    """

    confidence: float
    layout: float
    shares: float
    lost: float


@dataclass(frozen=True, eq=False)
class Calibration:
    """Learned numbers.

    Attributes
    ----------
    layout : (rows, columns, L) where classes lie in training videos, with a little of every class everywhere
    weights : of the log odds of confidence, of the layout, and of each point lost by carrying; what does not help is 0
    bias : log odds where all of these are 0
    least, most : of these three in training; beyond, nothing is extrapolated
    usual : confidence, layout and shared classes that a video has at least that is like those of training
    within : half the interval, in log odds
    beyond : log odds above what is expected that hardly any run on a video left out has exceeded: for out of domain
    truth : what was taken for the truth: `labels`, or the name of a network
    n_videos : that it was learned from
    """

    layout: Float64
    weights: tuple[float, float, float]
    bias: float
    least: tuple[float, float, float]
    most: tuple[float, float, float]
    usual: tuple[float, float, float]
    within: float
    beyond: float
    truth: str = "labels"
    n_videos: int = 0

    def __post_init__(self) -> None:
        numbers = (*self.weights, self.bias, *self.least, *self.most, *self.usual, self.within, self.beyond)
        if not np.isfinite(numbers).all() or min(self.within, self.beyond) < 0:
            raise UsageError("a calibration needs finite numbers, and intervals that are not negative")
        lengths = {len(own) for own in (self.weights, self.least, self.most, self.usual)}
        if lengths != {3} or (np.array(self.least) > self.most).any():
            raise UsageError("a calibration needs a weight and a range for each of three signs")
        if self.layout.ndim != 3 or not (np.isfinite(self.layout) & (self.layout > 0)).all():
            raise UsageError("the layout of a calibration must be rows, columns, classes, and above 0")

    @property
    def n_labels(self) -> int:
        """L."""
        return int(self.layout.shape[2])

    def promise(self, signs: Signs) -> Promise:
        """The accuracy to expect of labels with these signs."""
        seen = seen_of(signs, self.layout)
        expected = self._expected(seen)
        if self._is_usual(seen):
            return Promise(_share(expected), _share(expected - self.within), _share(expected + self.within), True)
        return Promise(_share(expected), 0.0, _share(expected + self.beyond), False)

    def _expected(self, seen: Seen) -> float:
        values = np.clip([seen.confidence, seen.layout, seen.lost], self.least, self.most)
        return self.bias + float(np.dot(values, self.weights))

    def _is_usual(self, seen: Seen) -> bool:
        return all(value >= least for value, least in zip(seen, self.usual, strict=False))

    def as_dict(self) -> dict[str, Any]:
        """The calibration as JSON values."""
        numbers = {name: np.round(value, 5).tolist() for name, value in vars(self).items() if name != "truth"}
        return {**numbers, "truth": self.truth}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any], n_labels: int) -> "Calibration":
        """A calibration from its JSON values; UsageError or ValueError where they cannot be used."""
        found = cls(
            np.array(stored["layout"], np.float64),
            three(stored["weights"]),
            float(stored["bias"]),
            three(stored["least"]),
            three(stored["most"]),
            three(stored["usual"]),
            float(stored["within"]),
            float(stored["beyond"]),
            str(stored["truth"]),
            int(stored["n_videos"]),
        )
        if found.n_labels != n_labels:
            raise UsageError(f"a calibration of {found.n_labels} classes, not {n_labels}")
        return found


def three(values: Iterable[float]) -> tuple[float, float, float]:
    """Three numbers, of anything that has three."""
    a, b, c = map(float, values)
    return a, b, c


def seen_of(signs: Signs, layout: Float64) -> Seen:
    """Signs in numbers, against where classes lie in training, (rows, columns, L)."""
    own = signs.layout / signs.layout.shape[0] / signs.layout.shape[1]
    shares, usual = own.sum(axis=(0, 1)), layout.mean(axis=(0, 1))
    return Seen(
        log_odds(signs.confidence),
        float((own * np.log(layout)).sum()),
        float(np.minimum(shares, usual).sum()),
        signs.lost,
    )


def log_odds(share: float, nearest: float = 0.005) -> float:
    """Log odds of a share, 0 to 1, that is taken to be at least so far from 0 and 1."""
    share = min(max(share, nearest), 1 - nearest)
    return math.log(share / (1 - share))


def _share(log_odds: float) -> float:
    """The share with these log odds."""
    return 1 / (1 + math.exp(-log_odds))
