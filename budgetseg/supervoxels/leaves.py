"""The finest partition: Felzenszwalb and Huttenlocher's merging on the voxel graph.

Voxels are joined to their right, lower and next neighbour by edges weighted with the colour difference. The weights
fit in 8 bits, so the edges are sorted by counting. Two regions merge when the edge is no heavier than the internal
difference of each plus `SCALE / size`; what stays under `MIN_SIZE` then joins its nearest neighbour.

Four differences to the published method keep time and memory nearly independent of the picture. No region grows past
`MAX_SIZE`: flat areas become many small leaves instead of one large one, and the hierarchy joins them again. Edges
heavier than `SCALE` are used for small regions only: in a noisy picture most are heavier, and few would pass. Weights
are dithered, so that flat areas grow blobs in random order and not strips in raster order. And merging runs in small
blocks, which fit in the cache and can run on several cores.

References
----------
Felzenszwalb and Huttenlocher, Efficient graph-based image segmentation, IJCV 2004.
Grundmann, Kwatra, Han and Essa, Efficient hierarchical graph-based video segmentation, CVPR 2010.
"""

import numpy as np
from numba import njit

from budgetseg.types import Int32, UInt8

__all__ = ["MAX_SIZE", "MIN_SIZE", "NO_EDGE", "SCALE", "edge_weights", "merge_voxels"]

SCALE = 40.0  # in units of weights; larger values give larger leaves
MIN_SIZE = 16  # voxels; smaller regions join their nearest neighbour
MAX_SIZE = 64  # voxels; larger regions are not formed
NO_EDGE = 255  # weight at the border, where there is no neighbour
_WEIGHT_UNIT = np.float32(0.5)  # Lab levels that a weight of 1 stands for


@njit(cache=True, nogil=True)
def edge_weights(planes: UInt8) -> UInt8:
    """Colour difference of every voxel to its right, lower and next one, (3, T, h, w); `NO_EDGE` at the border."""
    n_frames, n_planes, height, width = planes.shape
    weights = np.full((3, n_frames, height * width), NO_EDGE, np.uint8)
    flat = planes.reshape(n_frames, n_planes, height * width)
    for t in range(n_frames):
        _differences(flat[t], flat[t], 1, weights[0, t])
        weights[0, t, width - 1 :: width] = NO_EDGE
        _differences(flat[t], flat[t], width, weights[1, t])
        if t + 1 < n_frames:
            _differences(flat[t], flat[t + 1], 0, weights[2, t])
    return weights.reshape(3, n_frames, height, width)


@njit(cache=True, nogil=True, fastmath=True)
def _differences(here, there, step, out):  # type: ignore[no-untyped-def]
    """Euclidean Lab distance of pixel i here and pixel i + step there, plus a hash of i in [0, 1)."""
    for i in range(out.size - step):
        light = np.float32(here[0, i]) - np.float32(there[0, i + step])
        green = np.float32(here[1, i]) - np.float32(there[1, i + step])
        blue = np.float32(here[2, i]) - np.float32(there[2, i + step])
        distance = np.sqrt(light * light + green * green + blue * blue)
        dither = np.float32(np.uint32((i + 7919 * step) * 2654435761) >> 8) * np.float32(2.0**-24)
        out[i] = np.uint8(min((distance + dither) / _WEIGHT_UNIT, np.float32(NO_EDGE - 1)))


@njit(cache=True, nogil=True)
def merge_voxels(weights: UInt8, scale: float, min_size: int, max_size: int) -> tuple[Int32, int]:
    """Leaf of every voxel, (T, h, w) with ids in raster order of their first voxel, and the number of leaves."""
    _, n_frames, height, width = weights.shape
    steps = np.array([1, width, height * width])
    edges, starts = _sort_edges(weights.reshape(3, n_frames * height * width))
    # Regions stay small, so every voxel stores its region and a merge renames the smaller one: this saves the
    # walk to the root that a union-find needs at each edge. The members of a region form a ring.
    region = np.arange(n_frames * height * width).astype(np.int32)
    ring = region.copy()
    size = np.ones_like(region)
    _merge_similar(region, ring, size, edges, starts, steps, np.float32(scale), max_size)
    _merge_small(region, ring, size, edges, steps, min_size)
    return _number(region).reshape(n_frames, height, width), int(np.count_nonzero(size))


@njit(cache=True, nogil=True)
def _sort_edges(weights):  # type: ignore[no-untyped-def]
    """Edges as voxel * 4 + direction, sorted by weight, then voxel; and where the edges of each weight start."""
    starts = np.zeros(NO_EDGE + 2, np.int64)
    for direction in range(3):
        for weight in weights[direction]:
            starts[weight + 1] += 1
    starts = np.cumsum(starts)
    place = starts.copy()
    edges = np.empty(starts[NO_EDGE], np.int32)
    for voxel in range(weights.shape[1]):
        for direction in range(3):
            weight = weights[direction, voxel]
            if weight != NO_EDGE:
                edges[place[weight]] = voxel * 4 + direction
                place[weight] += 1
    return edges, starts


@njit(cache=True, nogil=True)
def _merge_similar(region, ring, size, edges, starts, steps, scale, max_size):  # type: ignore[no-untyped-def]
    limit = np.full(region.size, scale, np.float32)
    for level in range(min(int(scale) + 1, NO_EDGE)):
        weight = np.float32(level)
        for edge in edges[starts[level] : starts[level + 1]]:
            a = region[edge >> 2]
            b = region[(edge >> 2) + steps[edge & 3]]
            if a != b and size[a] + size[b] <= max_size and weight <= limit[a] and weight <= limit[b]:
                a = _join(region, ring, size, a, b)
                limit[a] = weight + scale / size[a]


@njit(cache=True, nogil=True)
def _merge_small(region, ring, size, edges, steps, min_size):  # type: ignore[no-untyped-def]
    n_small = np.count_nonzero((size > 0) & (size < min_size))
    for edge in edges:
        if n_small == 0:
            break
        a = region[edge >> 2]
        b = region[(edge >> 2) + steps[edge & 3]]
        if a != b and min(size[a], size[b]) < min_size:
            n_small -= (size[a] < min_size) + (size[b] < min_size)
            n_small += size[_join(region, ring, size, a, b)] < min_size


@njit(cache=True, nogil=True)
def _join(region, ring, size, a, b):  # type: ignore[no-untyped-def]
    """Union of two regions under the name of the larger one, which is returned."""
    if size[a] < size[b]:
        a, b = b, a
    voxel = b
    while True:
        region[voxel] = a
        voxel = ring[voxel]
        if voxel == b:
            break
    ring[a], ring[b] = ring[b], ring[a]
    size[a] += size[b]
    size[b] = 0
    return a


@njit(cache=True, nogil=True)
def _number(region):  # type: ignore[no-untyped-def]
    names = np.full(region.size, -1, np.int32)
    n = 0
    ids = np.empty_like(region)
    for voxel, name in enumerate(region):
        if names[name] < 0:
            names[name] = n
            n += 1
        ids[voxel] = names[name]
    return ids
