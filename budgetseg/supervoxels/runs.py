"""The pixels of each supervoxel as horizontal runs, so that no bounding box of mostly other pixels is scanned."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from budgetseg.types import Int32, Int64

__all__ = ["Runs", "find_runs"]


@dataclass(frozen=True, eq=False)
class Runs:
    """The pixels of every supervoxel as horizontal runs, by supervoxel, then frame, then row.

    Attributes
    ----------
    first : (N + 1,) int64; the runs of supervoxel i are first[i] to first[i + 1]
    rows : (R,) int32, t * H + y
    spans : (R, 2) int32, half-open range of x
    """

    first: Int64
    rows: Int32
    spans: Int32


def find_runs(ids: Int32) -> Runs:
    """Runs of all supervoxels of a video's ids, (T, H, W), 0..N-1."""
    flat = ids.reshape(-1, ids.shape[2])
    first = np.zeros(int(ids.max()) + 2, np.int64)
    _count(flat, first)
    first = np.cumsum(first)
    rows = np.empty(first[-1], np.int32)
    spans = np.empty((first[-1], 2), np.int32)
    _fill(flat, first[:-1].copy(), rows, spans)
    return Runs(first, rows, spans)


@njit(cache=True, nogil=True)
def _count(flat, counts):  # type: ignore[no-untyped-def]
    """Number of runs of supervoxel i, at place i + 1."""
    for row in range(flat.shape[0]):
        before = -1
        for x in range(flat.shape[1]):
            region = flat[row, x]
            if region != before:
                counts[region + 1] += 1
                before = region


@njit(cache=True, nogil=True)
def _fill(flat, place, rows, spans):  # type: ignore[no-untyped-def]
    width = flat.shape[1]
    for row in range(flat.shape[0]):
        x0 = 0
        for x in range(1, width + 1):
            if x == width or flat[row, x] != flat[row, x0]:
                k = place[flat[row, x0]]
                rows[k] = row
                spans[k, 0] = x0
                spans[k, 1] = x
                place[flat[row, x0]] += 1
                x0 = x
