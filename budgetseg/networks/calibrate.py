"""One temperature for a network: scores are divided by it so that probabilities are as often right as they say.

Guo et al., "On Calibration of Modern Neural Networks" (2017). It is found on frames that the network has not seen.
"""

from collections.abc import Iterable

import numpy as np

from budgetseg.types import IGNORE, Float32, Float64, UInt8

__all__ = ["sample_scores", "temperature_of"]


def sample_scores(
    frames: Iterable[tuple[Float32, UInt8]], rng: np.random.Generator, per_frame: int = 2000
) -> tuple[Float32, UInt8]:
    """Class scores (n, L) and true classes (n,) of random labelled pixels.

    Parameters
    ----------
    frames : scores (L, H, W) and labels (H, W) of each frame
    rng : chooses the pixels
    per_frame : pixels of each frame, at most
    """
    scores = []
    truths = []
    for planes, labels in frames:
        known = np.flatnonzero(labels != IGNORE)
        picked = rng.permutation(known)[:per_frame]
        scores.append(planes.reshape(len(planes), -1)[:, picked].T)
        truths.append(labels.ravel()[picked])
    return np.concatenate(scores), np.concatenate(truths)


def temperature_of(scores: Float32, truths: UInt8, least: float = 0.25, most: float = 4.0) -> float:
    """The temperature with the highest likelihood of the true classes, by golden-section search; 1 without pixels.

    Parameters
    ----------
    scores : (n, L)
    truths : (n,)
    least, most : bounds
    """
    if len(truths) == 0:
        return 1.0
    values = scores.astype(np.float64)
    low = float(np.log(least))
    high = float(np.log(most))
    share = (np.sqrt(5) - 1) / 2
    while high - low > 1e-3:
        left = high - share * (high - low)
        right = low + share * (high - low)
        if _loss(values, truths, left) < _loss(values, truths, right):
            high = right
        else:
            low = left
    return round(float(np.exp((low + high) / 2)), 3)


def _loss(scores: Float64, truths: UInt8, log_temperature: float) -> float:
    """Mean negative log-likelihood of the true classes; convex in the inverse of the temperature."""
    cooled = scores * np.exp(-log_temperature)
    cooled -= cooled.max(axis=1, keepdims=True)
    return float((np.log(np.exp(cooled).sum(axis=1)) - cooled[np.arange(len(truths)), truths]).mean())
