"""Segment a window of a video: frames in, a tree of merges out."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit

from budgetseg.supervoxels.features import feature_planes
from budgetseg.supervoxels.hierarchy import Tree, merge_regions
from budgetseg.supervoxels.leaves import MAX_SIZE, MIN_SIZE, SCALE, edge_weights, merge_voxels
from budgetseg.supervoxels.regions import Regions, describe, faces, faces_between
from budgetseg.types import Float32, Int32, Int64, UInt8

__all__ = ["Slab", "Window", "enlarge", "segment_window"]

BLOCK = (8, 64, 160)
"""Largest block of voxels, (t, y, x), in which leaves are merged at a time; blocks of this size fit in the cache."""


@dataclass(frozen=True, eq=False)
class Slab:
    """A few frames, and the region graph of their leaves.

    Attributes
    ----------
    ids : (t, h, w) int32, leaf of every voxel
    regions : the leaves
    """

    ids: Int32
    regions: Regions


@dataclass(frozen=True, eq=False)
class Window:
    """A window before it is cut.

    Attributes
    ----------
    leaf_ids : (T, h, w) int32, of the frames of this window
    regions : the leaves of the slab before the window, if there was one, then those of the window
    tree : all merges of them
    last : the last slab, for the window after this one
    """

    leaf_ids: Int32
    regions: Regions
    tree: Tree
    last: Slab


def segment_window(
    frames: UInt8,
    reduce: int = 1,
    before: Slab | None = None,
    threads: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Window:
    """Leaves and merges of frames; the same for any number of threads.

    Parameters
    ----------
    frames : (T, H, W, 3) uint8
    reduce : side of the blocks of pixels that become one voxel
    before : the last slab of the window before; None for the first window
    threads : to use
    advance : called with the number of frames done, every few frames
    """
    starts = range(0, len(frames), BLOCK[0])
    slabs = []
    with ThreadPoolExecutor(threads) as pool:
        for slab in pool.map(lambda t: _grow_slab(frames[t : t + BLOCK[0]], reduce), starts):
            slabs.append(slab)
            advance(len(slab.ids))
    leaf_ids, regions = _stack(slabs if before is None else [before, *slabs])
    return Window(leaf_ids[-len(frames) :], regions, merge_regions(regions), slabs[-1])


def _grow_slab(frames: UInt8, reduce: int) -> Slab:
    planes = feature_planes(frames, reduce)
    ids = np.empty((len(planes), *planes.shape[2:]), np.int32)
    n = 0
    all_rows = _spans(planes.shape[2], BLOCK[1])
    all_columns = _spans(planes.shape[3], BLOCK[2])
    joints: Joints = []
    for rows in all_rows:
        for columns in all_columns:
            weights = edge_weights(np.ascontiguousarray(planes[:, :3, rows, columns]))
            block, n_block = merge_voxels(weights, SCALE, MIN_SIZE, MAX_SIZE)
            block += np.int32(n)
            ids[:, rows, columns] = block
            joints.append(faces(block, *_unit_cells(block)))
            n += n_block
    joints += [_touch(ids[:, rows.start - 1], ids[:, rows.start]) for rows in all_rows[1:]]
    joints += [_touch(ids[:, :, columns.start - 1], ids[:, :, columns.start]) for columns in all_columns[1:]]
    sizes, sums = describe(ids, planes, n)
    return Slab(ids, Regions(sizes, sums, *_joined(joints), np.full(n, -1, np.int32)))


def _stack(slabs: list[Slab]) -> tuple[Int32, Regions]:
    """Leaf ids (T, h, w) and one region graph of consecutive slabs."""
    graphs = [slab.regions for slab in slabs]
    first = np.cumsum([0, *map(len, graphs)]).astype(np.int32)[:-1]
    ids = np.concatenate([slab.ids for slab in slabs])
    starts = np.cumsum([0, *(len(slab.ids) for slab in slabs)])
    for offset, (start, end) in zip(first, pairwise(starts), strict=True):
        ids[start:end] += offset
    joints: Joints = [(graph.edges + offset, graph.contact) for graph, offset in zip(graphs, first, strict=True)]
    joints += [_touch(ids[start - 1], ids[start]) for start in starts[1:-1]]
    regions = Regions(
        np.concatenate([graph.sizes for graph in graphs]),
        np.concatenate([graph.sums for graph in graphs]),
        *_joined(joints),
        np.concatenate([graph.groups for graph in graphs]),
    )
    return ids, regions


Joints = list[tuple[Int32, Int64 | Float32]]


def _joined(joints: Joints) -> tuple[Int32, Float32]:
    """All pairs and contacts. A pair occurs once, since a leaf lies in one block, and two blocks meet at one seam."""
    return np.concatenate([pairs for pairs, _ in joints]), np.concatenate([c for _, c in joints]).astype(np.float32)


def _touch(before: Int32, after: Int32) -> tuple[Int32, Int64]:
    """Pairs and contact of the voxels on either side of a seam, two (m, n) planes."""
    before = np.ascontiguousarray(before)
    after = np.ascontiguousarray(after)
    return faces_between(before, after, *_unit_cells(before[None]))


def _unit_cells(ids: Int32) -> tuple[Int64, Int64]:
    """Heights and widths, all 1, of the voxels of ids (t, h, w)."""
    return np.ones(ids.shape[1], np.int64), np.ones(ids.shape[2], np.int64)


def _spans(length: int, longest: int) -> list[slice]:
    """Cut a length into the fewest spans of nearly equal size, none over `longest`."""
    n = -(-length // longest)
    return [slice(i * length // n, (i + 1) * length // n) for i in range(n)]


def enlarge(ids: Int32, reduce: int, size: tuple[int, int]) -> Int32:
    """Ids of blocks, (T, h, w), as ids of pixels, (T, H, W), for size = (H, W)."""
    if reduce == 1:
        return ids
    out = np.empty((len(ids), *size), np.int32)
    _repeat(ids, reduce, out)
    return out


@njit(cache=True, nogil=True)
def _repeat(ids, reduce, out):  # type: ignore[no-untyped-def]
    n_frames, height, width = out.shape
    for t in range(n_frames):
        for y in range(0, height, reduce):
            row = out[t, y]
            x = 0
            for region in ids[t, y // reduce]:
                for _ in range(min(reduce, width - x)):
                    row[x] = region
                    x += 1
            for below in range(y + 1, min(y + reduce, height)):
                out[t, below] = row
