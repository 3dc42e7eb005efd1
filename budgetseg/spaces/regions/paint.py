"""Painting: labels of supervoxels become labels of pixels."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import numpy as np
from numba import njit

from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.types import Int32, UInt8

__all__ = ["paint", "painters"]


def painters(n_pixels: int, threads: int, least: int = RegionSettings.pixels_per_thread) -> int:
    """Number of threads to paint n_pixels pixels with: at most `threads`, each with at least `least` pixels."""
    return max(1, min(threads, n_pixels // least))


def paint(
    labels: Int32, ids: Int32, out: UInt8, threads: int = 1, least: int = RegionSettings.pixels_per_thread
) -> None:
    """Write the label of every pixel to `out`.

    Parameters
    ----------
    labels : (N,) label of each supervoxel, below 256
    ids : (T, H, W) supervoxel of each pixel
    out : (T, H, W)
    threads : number of threads, at most
    least : number of pixels for each of them, at least
    """
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
