"""From a label for every supervoxel to a label for every pixel."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numba import njit

from budgetseg.types import Int32, UInt8

__all__ = ["paint", "painters"]

LEAST = 10_000_000  # pixels for each thread: for fewer it may wait longer for a core than it works


def painters(n_pixels: int, threads: int, least: int = LEAST) -> int:
    """Threads that so many pixels are worth, of those that there are; each has `least` pixels."""
    return max(1, min(threads, n_pixels // least))


def paint(labels: Int32, ids: Int32, out: UInt8, threads: int = 1, least: int = LEAST) -> None:
    """Write the label of every pixel into `out`, (T, H, W); labels (N,) below 256, ids (T, H, W)."""
    small = labels.astype(np.uint8)
    threads = painters(out.size, threads, least)
    if threads == 1:
        _paint(small, ids, out)
        return
    ends = np.linspace(0, len(ids), threads + 1).astype(int)
    with ThreadPoolExecutor(threads) as pool:
        parts = pairwise(ends)
        for _ in pool.map(lambda part: _paint(small, ids[slice(*part)], out[slice(*part)]), parts):
            pass


@njit(cache=True, nogil=True)
def _paint(labels, ids, out):  # type: ignore[no-untyped-def]
    for t in range(ids.shape[0]):
        for y in range(ids.shape[1]):
            for x in range(ids.shape[2]):
                out[t, y, x] = labels[ids[t, y, x]]
