"""One window of a video: frames in, a tree of merges out."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numba import njit

from budgetseg.supervoxels.features import feature_planes
from budgetseg.supervoxels.hierarchy import Tree, merge_regions
from budgetseg.supervoxels.leaves import MAX_SIZE, MIN_SIZE, SCALE, edge_weights, merge_voxels
from budgetseg.supervoxels.regions import Regions, describe, faces, faces_between
from budgetseg.types import Int32, Int64, UInt8

__all__ = ["Slab", "Window", "enlarge", "segment_window"]

BLOCK = (8, 128, 160)
"""Largest block of voxels, (t, y, x), in which leaves are merged at a time."""


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
    """Leaves and merges of frames (T, H, W, 3), which `before` precedes; the same for any number of threads.

    `advance` is told of every few frames that are done.
    """
    starts, slabs = range(0, len(frames), BLOCK[0]), []
    with ThreadPoolExecutor(threads) as pool:
        for slab in pool.map(lambda t: _grow_slab(frames[t : t + BLOCK[0]], reduce), starts):
            slabs.append(slab)
            advance(len(slab.ids))
    leaf_ids, regions = _stack(slabs if before is None else [before, *slabs])
    return Window(leaf_ids[-len(frames) :], regions, merge_regions(regions), slabs[-1])


def _grow_slab(frames: UInt8, reduce: int) -> Slab:
    planes = feature_planes(frames, reduce)
    ids, n = np.empty((len(planes), *planes.shape[2:]), np.int32), 0
    for rows in _spans(planes.shape[2], BLOCK[1]):
        for columns in _spans(planes.shape[3], BLOCK[2]):
            weights = edge_weights(np.ascontiguousarray(planes[:, :3, rows, columns]))
            block_ids, n_block = merge_voxels(weights, SCALE, MIN_SIZE, MAX_SIZE)
            ids[:, rows, columns] = block_ids + n
            n += n_block
    sizes, sums = describe(ids, planes, n)
    edges, contact = faces(ids, *_unit_cells(ids))
    return Slab(ids, Regions(sizes, sums, edges, contact.astype(np.float32), np.full(n, -1, np.int32)))


def _stack(slabs: list[Slab]) -> tuple[Int32, Regions]:
    """Leaf ids (T, h, w) and one region graph of consecutive slabs."""
    graphs = [slab.regions for slab in slabs]
    first = np.cumsum([0, *map(len, graphs)]).astype(np.int32)[:-1]
    ids = [slab.ids + offset for slab, offset in zip(slabs, first, strict=True)]
    edges = [graph.edges + offset for graph, offset in zip(graphs, first, strict=True)]
    seams = [faces_between(early[-1], late[0], *_unit_cells(late)) for early, late in pairwise(ids)]
    regions = Regions(
        np.concatenate([graph.sizes for graph in graphs]),
        np.concatenate([graph.sums for graph in graphs]),
        np.concatenate([*edges, *(pairs for pairs, _ in seams)]),
        np.concatenate([*(graph.contact for graph in graphs), *(areas for _, areas in seams)]).astype(np.float32),
        np.concatenate([graph.groups for graph in graphs]),
    )
    return np.concatenate(ids), regions


def _unit_cells(ids: Int32) -> tuple[Int64, Int64]:
    """Heights and widths of voxels that count as 1."""
    return np.ones(ids.shape[1], np.int64), np.ones(ids.shape[2], np.int64)


def _spans(length: int, longest: int) -> Iterator[slice]:
    """Cut a length into the fewest spans of nearly equal size, none over `longest`."""
    n = -(-length // longest)
    for i in range(n):
        yield slice(i * length // n, (i + 1) * length // n)


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
            row, x = out[t, y], 0
            for region in ids[t, y // reduce]:
                for _ in range(min(reduce, width - x)):
                    row[x] = region
                    x += 1
            for below in range(y + 1, min(y + reduce, height)):
                out[t, below] = row
