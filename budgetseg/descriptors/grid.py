"""Points of a regular grid on a supervoxel in one frame, around which it is described."""

import numpy as np
from numba import njit

__all__ = ["STEP", "grid_points", "middle_pixel"]

STEP = 8
"""Pixels between points."""


@njit(cache=True, nogil=True)
def grid_points(rows, runs):  # type: ignore[no-untyped-def]
    """Points (y, x) of the grid that lie on the runs of one frame."""
    most = 0
    for k in range(len(rows)):
        if rows[k] % STEP == STEP // 2:
            most += (runs[k, 1] - runs[k, 0]) // STEP + 1
    points = np.empty((most, 2), np.int32)
    n = 0
    for k in range(len(rows)):
        if rows[k] % STEP == STEP // 2:
            for x in range(runs[k, 0] + (STEP // 2 - runs[k, 0]) % STEP, runs[k, 1], STEP):
                points[n, 0] = rows[k]
                points[n, 1] = x
                n += 1
    return points[:n]


@njit(cache=True, nogil=True)
def middle_pixel(rows, runs):  # type: ignore[no-untyped-def]
    """The middle one of the supervoxel's pixels in a frame, as a list of one point."""
    left = (runs[:, 1] - runs[:, 0]).sum() // 2
    points = np.empty((1, 2), np.int32)
    for k in range(len(rows)):
        length = runs[k, 1] - runs[k, 0]
        if left < length:
            points[0, 0] = rows[k]
            points[0, 1] = runs[k, 0] + left
            break
        left -= length
    return points
