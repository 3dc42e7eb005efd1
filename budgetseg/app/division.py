"""Divide seconds among videos so that they buy most: water-filling over predicted curves of accuracy.

Arrays in, arrays out. Of every curve, its concave hull counts: what lies below it is never the best use of seconds.
"""

import numpy as np
from numba import njit

from budgetseg.types import Float64

__all__ = ["by_size", "divide"]


def divide(seconds: Float64, points: Float64, weights: Float64, total_s: float) -> Float64:
    """Seconds for each of N videos, (N,), which add up to `total_s`, so that the weighted sum of points is largest.

    Where more points cannot be bought, what is left goes by the seconds that everything costs.

    Parameters
    ----------
    seconds : (N, K) rising in every row, above 0
    points : (N, K) that these seconds buy, never falling in a row; 0 seconds buy as many as the first
    weights : (N,) times that a point counts
    total_s : seconds to divide
    """
    starts = np.zeros((len(seconds), 1))
    lengths, slopes = _hulls(np.hstack([starts, seconds]), np.hstack([points[:, :1], points]))
    order = np.argsort(-(slopes * weights[:, None]), axis=None, kind="stable")
    wanted = lengths.ravel()[order]
    wanted[slopes.ravel()[order] <= 0] = 0.0
    before = np.concatenate([[0.0], np.cumsum(wanted)])[:-1]
    given = np.zeros(lengths.size)
    given[order] = np.clip(total_s - before, 0.0, wanted)
    found: Float64 = given.reshape(lengths.shape).sum(axis=1)
    return found + by_size(seconds[:, -1], max(total_s - float(found.sum()), 0.0))


def by_size(works: Float64, total_s: float) -> Float64:
    """Seconds for each video, (N,), in proportion to its work."""
    return np.asarray(total_s * works / max(float(works.sum()), 1e-300), np.float64)


@njit(cache=True, nogil=True)
def _hulls(seconds: Float64, points: Float64) -> tuple[Float64, Float64]:
    """Lengths and slopes of the concave hulls of curves, both (N, K): slopes fall in a row, and unused places are 0."""
    n, k = seconds.shape
    lengths = np.zeros((n, k))
    slopes = np.zeros((n, k))
    kept = np.empty(k, np.int64)
    for row in range(n):
        x, y = seconds[row], points[row]
        top = 0
        for j in range(k):
            while top >= 2:
                a, b = kept[top - 2], kept[top - 1]
                if (y[b] - y[a]) * (x[j] - x[b]) > (y[j] - y[b]) * (x[b] - x[a]):
                    break
                top -= 1
            kept[top] = j
            top += 1
        for j in range(1, top):
            a, b = kept[j - 1], kept[j]
            lengths[row, j] = x[b] - x[a]
            slopes[row, j] = (y[b] - y[a]) / (x[b] - x[a])
    return lengths, slopes
