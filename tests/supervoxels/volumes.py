"""Small clips and volumes, and what can be said of them by looking at every voxel."""

from collections import Counter
from collections.abc import Iterator

import cv2
import numpy as np
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from budgetseg.types import Graph, Int32, Int64, UInt8

Shape = tuple[int, int, int]
Voxel = tuple[int, int, int]

few = settings(deadline=None, max_examples=25)
"""For tests that look at every voxel in Python."""


def noise(shape: Shape, seed: int = 0) -> UInt8:
    """A clip, (T, H, W, 3), without any structure."""
    return np.random.default_rng(seed).integers(0, 256, (*shape, 3), np.uint8)


def drift(shape: Shape, seed: int = 0) -> UInt8:
    """A clip, (T, H, W, 3), of coloured blobs that move one pixel to the left from frame to frame."""
    n_frames, height, width = shape
    blobs = cv2.GaussianBlur(noise((1, height, width + n_frames), seed)[0], (0, 0), 3).astype(np.float32)
    scene = np.clip(128 + 8 * (blobs - blobs.mean(axis=(0, 1))), 0, 255).astype(np.uint8)
    return np.stack([scene[:, t : t + width] for t in range(n_frames)])


def plain(shape: Shape) -> UInt8:
    """A clip, (T, H, W, 3), of one colour."""
    return np.broadcast_to(np.array([70, 130, 180], np.uint8), (*shape, 3)).copy()


def dense(ids: Int32) -> Int32:
    """The same partition with ids 0..N-1."""
    return np.unique(ids, return_inverse=True)[1].reshape(ids.shape).astype(np.int32)


def is_dense(ids: Int32, n: int) -> bool:
    """Whether the ids are 0..n-1, every one of them present."""
    return np.array_equal(np.unique(ids), np.arange(n))


def parts_of(ids: Int32) -> Int32:
    """Ids 0..N-1 of the sets of voxels with one id that hang together by faces."""
    index = np.arange(ids.size).reshape(ids.shape)
    ends = []
    for axis in range(3):
        here, there = ([slice(None)] * 3 for _ in range(2))
        here[axis], there[axis] = slice(None, -1), slice(1, None)
        same = ids[tuple(here)] == ids[tuple(there)]
        ends.append(np.stack([index[tuple(here)][same], index[tuple(there)][same]]))
    rows, columns = np.concatenate(ends, axis=1)
    links = coo_array((np.ones(len(rows), np.bool_), (rows, columns)), shape=(ids.size, ids.size))
    _, parts = connected_components(links, directed=False)
    return np.asarray(parts, np.int32).reshape(ids.shape)


def n_parts(ids: Int32) -> int:
    """Number of such sets: that of the ids if each is connected."""
    return int(parts_of(ids).max(initial=-1)) + 1


def voxels_of(ids: Int32, region: int) -> Int64:
    """(t, y, x) of every voxel of a region, (K, 3)."""
    return np.argwhere(ids == region)


def faces_of(ids: Int32, heights: Int64, widths: Int64) -> dict[tuple[int, int], int]:
    """Area shared by each pair of ids, smaller first, voxel by voxel."""
    areas: Counter[tuple[int, int]] = Counter()
    for (t, y, x), there in _steps(ids.shape):
        a, b = int(ids[t, y, x]), int(ids[there])
        if a != b:
            high = int(heights[y]) if there[1] == y else 1
            wide = int(widths[x]) if there[2] == x else 1
            areas[min(a, b), max(a, b)] += high * wide
    return dict(areas)


def _steps(shape: tuple[int, ...]) -> Iterator[tuple[Voxel, Voxel]]:
    """Every voxel with its next, lower and right neighbour."""
    for t, y, x in np.ndindex(*shape):
        for there in ((t + 1, y, x), (t, y + 1, x), (t, y, x + 1)):
            if all(i < side for i, side in zip(there, shape, strict=True)):
                yield (t, y, x), there


def unit_cells(ids: Int32) -> tuple[Int64, Int64]:
    """Heights and widths of voxels that are pixels."""
    return np.ones(ids.shape[1], np.int64), np.ones(ids.shape[2], np.int64)


def assert_same_graph(one: Graph, other: Graph) -> None:
    """All fields equal, the centroids but for rounding."""
    for name, values in vars(one).items():
        if name == "centroids":
            assert np.allclose(values, other.centroids, rtol=0, atol=1e-9), name
        else:
            assert np.array_equal(values, getattr(other, name)), name


@st.composite
def id_volumes(draw: st.DrawFn, n_max: int = 5, longest: int = 5) -> Int32:
    """Any ids 0..N-1, (T, H, W)."""
    shape = draw(st.tuples(*[st.integers(1, longest)] * 3))
    return dense(draw(arrays(np.int32, shape, elements=st.integers(0, n_max - 1))))
