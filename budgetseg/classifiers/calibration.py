"""Measure calibration: whether predictions of confidence p are right with frequency p."""

import numpy as np

from budgetseg.types import Float32, Int64

__all__ = ["expected_calibration_error"]


def expected_calibration_error(probabilities: Float32, truth: Int64, n_bins: int = 15) -> float:
    """Mean distance between confidence and accuracy over bins of confidence, 0 to 1 (Guo et al., ICML 2017).

    Every labelled pixel counts once, with the confidence of its supervoxel: the probability of the most likely class.

    Parameters
    ----------
    probabilities : (N, L), rows sum to one
    truth : (N, L) number of labelled pixels of each class
    n_bins : number of bins, of equal width
    """
    confidence = probabilities.max(axis=1).astype(np.float64)
    pixels = truth.sum(axis=1)
    right = np.take_along_axis(truth, probabilities.argmax(axis=1)[:, None], axis=1)[:, 0]
    of_bin = np.minimum((confidence * n_bins).astype(np.int64), n_bins - 1)
    gaps = np.abs(np.bincount(of_bin, right - pixels * confidence, n_bins))
    return float(gaps.sum() / max(pixels.sum(), 1))
