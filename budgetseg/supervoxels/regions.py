"""Region graphs with what merging needs: sizes, summed features, and which regions touch."""

from dataclasses import dataclass

import numpy as np
from numba import njit

from budgetseg.types import Float32, Float64, Int32, Int64, UInt8

__all__ = ["FEATURE_WEIGHTS", "Regions", "describe", "faces", "faces_between"]

FEATURE_WEIGHTS = np.array([1.0, 5.0, 5.0, 0.4])
"""Weights of L, a, b and texture in the distance of two regions. Chosen on selection data."""


@dataclass(frozen=True, eq=False)
class Regions:
    """A region graph.

    Attributes
    ----------
    sizes : (N,) float64, voxels
    sums : (N, 4) float64, weighted features summed over the voxels
    edges : (E, 2) int32, pairs that touch, each once, first < second
    contact : (E,) float32, voxel faces shared by the pair
    groups : (N,) int32, the supervoxel of an earlier window that the region belongs to, -1 for new regions
    """

    sizes: Float64
    sums: Float64
    edges: Int32
    contact: Float32
    groups: Int32

    def __len__(self) -> int:
        return len(self.sizes)


def describe(ids: Int32, planes: UInt8, n: int) -> tuple[Float64, Float64]:
    """Sizes (n,) and weighted feature sums (n, 4) of the regions in ids (T, h, w), planes (T, 4, h, w)."""
    sums = np.zeros((n, planes.shape[1] + 1), np.int64)
    _accumulate(ids.reshape(len(ids), -1), planes.reshape(*planes.shape[:2], -1), sums)
    return sums[:, -1].astype(np.float64), sums[:, :-1] * FEATURE_WEIGHTS


@njit(cache=True, nogil=True)
def _accumulate(ids, planes, sums):  # type: ignore[no-untyped-def]
    n_planes = planes.shape[1]
    for t in range(ids.shape[0]):
        for i in range(ids.shape[1]):
            region = ids[t, i]
            for c in range(n_planes):
                sums[region, c] += planes[t, c, i]
            sums[region, n_planes] += 1


@njit(cache=True, nogil=True)
def faces(ids: Int32, heights: Int64, widths: Int64) -> tuple[Int32, Int64]:
    """Pairs of different ids that touch within a volume (T, h, w), (E, 2), and the area they share, (E,).

    Voxels are `heights[y]` high, `widths[x]` wide and one frame long. The smaller id comes first in a pair. The order
    of pairs is that of a hash table, which is the same for the same ids.
    """
    n_frames, height, width = ids.shape
    keys = np.full(1 << 14, -1, np.int64)
    areas = np.zeros(1 << 14, np.int64)
    used = 0
    for t in range(n_frames):
        for y in range(height):
            if 2 * (used + 3 * width) > keys.size:
                keys, areas = _grown(keys, areas, used + 3 * width)
            for x in range(width):
                here = ids[t, y, x]
                if x + 1 < width and ids[t, y, x + 1] != here:
                    used += _add(keys, areas, here, ids[t, y, x + 1], heights[y])
                if y + 1 < height and ids[t, y + 1, x] != here:
                    used += _add(keys, areas, here, ids[t, y + 1, x], widths[x])
                if t + 1 < n_frames and ids[t + 1, y, x] != here:
                    used += _add(keys, areas, here, ids[t + 1, y, x], heights[y] * widths[x])
    pairs, contact = _listed(keys, areas)
    return pairs, contact


@njit(cache=True, nogil=True)
def faces_between(before: Int32, after: Int32, heights: Int64, widths: Int64) -> tuple[Int32, Int64]:
    """Pairs and areas as `faces` returns them, for the faces between two consecutive frames (h, w) alone."""
    height, width = before.shape
    keys = np.full(1 << 12, -1, np.int64)
    areas = np.zeros(1 << 12, np.int64)
    used = 0
    for y in range(height):
        if 2 * (used + width) > keys.size:
            keys, areas = _grown(keys, areas, used + width)
        for x in range(width):
            if before[y, x] != after[y, x]:
                used += _add(keys, areas, before[y, x], after[y, x], heights[y] * widths[x])
    pairs, contact = _listed(keys, areas)
    return pairs, contact


@njit(cache=True, nogil=True, inline="always")
def _add(keys, areas, a, b, area):  # type: ignore[no-untyped-def]
    """Add to the area of a pair. Returns 1 if the pair is new, else 0."""
    key = (np.int64(min(a, b)) << 32) | np.int64(max(a, b))
    slot = _slot(keys, key)
    is_new = keys[slot] < 0
    keys[slot] = key
    areas[slot] += area
    return np.int64(is_new)


@njit(cache=True, nogil=True, inline="always")
def _slot(keys, key):  # type: ignore[no-untyped-def]
    """The slot of `key`, or the free slot for it, in an open-addressing table whose size is a power of two."""
    slot = (key * np.int64(-7046029254386353131) >> 24) & (keys.size - 1)
    while keys[slot] >= 0 and keys[slot] != key:
        slot = (slot + 1) & (keys.size - 1)
    return slot


@njit(cache=True, nogil=True)
def _grown(keys, areas, needed):  # type: ignore[no-untyped-def]
    size = keys.size
    while size < 4 * needed:
        size *= 2
    bigger = np.full(size, -1, np.int64)
    moved = np.zeros(size, np.int64)
    for old in np.flatnonzero(keys >= 0):
        slot = _slot(bigger, keys[old])
        bigger[slot] = keys[old]
        moved[slot] = areas[old]
    return bigger, moved


@njit(cache=True, nogil=True)
def _listed(keys, areas):  # type: ignore[no-untyped-def]
    filled = np.flatnonzero(keys >= 0)
    pairs = np.empty((filled.size, 2), np.int32)
    for i, slot in enumerate(filled):
        pairs[i, 0] = keys[slot] >> 32
        pairs[i, 1] = keys[slot] & 0xFFFFFFFF
    return pairs, areas[filled]
