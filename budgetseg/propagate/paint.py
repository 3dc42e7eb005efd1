"""From cells (h, w) to labels at the size of the video (H, W)."""

import numpy as np
from numba import njit

from budgetseg.propagate.cells import spread_over
from budgetseg.types import Float32, UInt8

__all__ = ["paint"]


@njit(cache=True, nogil=True)
def paint(probabilities: Float32, top: UInt8, labels: UInt8) -> None:
    """Write to `labels` (H, W) the most probable classes, probabilities (h, w, L) being interpolated linearly.

    `top` holds the most probable class of every cell; a cell amid others of its class needs no probabilities.
    """
    h, w, n_labels = probabilities.shape
    rows, fy, _ = spread_over(h, labels.shape[0])
    columns, fx, cells = spread_over(w, labels.shape[1])
    line, likely = np.empty(labels.shape[1], np.uint8), np.empty(n_labels, np.int64)
    for y in range(h):
        y1 = min(y + 1, h - 1)
        # Where four neighbours agree, so does all that lies between them; where they do not, it is painted over.
        for column in range(len(line)):
            line[column] = top[y, cells[column]]
        for row in range(rows[y], rows[y + 1]):
            labels[row] = line
        for x in range(w):
            x1, label = min(x + 1, w - 1), top[y, x]
            if label == top[y, x1] and label == top[y1, x] and label == top[y1, x1]:
                continue
            corners = y, y1, x, x1
            n = _likely(probabilities, corners, label, likely)
            for row in range(rows[y], rows[y + 1]):
                for column in range(columns[x], columns[x + 1]):
                    labels[row, column] = _mixed(probabilities, corners, fy[row], fx[column], likely, n)


@njit(cache=True, nogil=True)
def _likely(p, corners, label, likely):  # type: ignore[no-untyped-def]
    """Write to `likely` the classes that may win between four cells, `label` and those that beat it; their number."""
    (y, y1, x, x1), n = corners, 0
    here, right, below, across = p[y, x, label], p[y, x1, label], p[y1, x, label], p[y1, x1, label]
    for k in range(p.shape[2]):
        beats = (p[y, x, k] > here) | (p[y, x1, k] > right) | (p[y1, x, k] > below) | (p[y1, x1, k] > across)
        likely[n] = k
        n += beats | (k == label)
    return n


@njit(cache=True, nogil=True, inline="always")
def _mixed(p, corners, fy, fx, likely, n):  # type: ignore[no-untyped-def]
    """The most probable class between four cells, of the first n in `likely`."""
    (y, y1, x, x1), one = corners, np.float32(1)
    a, b, c, d = (one - fy) * (one - fx), (one - fy) * fx, fy * (one - fx), fy * fx
    best, most = 0, np.float32(-1)
    for j in range(n):
        k = likely[j]
        value = a * p[y, x, k] + b * p[y, x1, k] + c * p[y1, x, k] + d * p[y1, x1, k]
        if value > most:
            best, most = k, value
    return best
