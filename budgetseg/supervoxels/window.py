"""One window of a video: frames in, a tree of merges out."""

from collections.abc import Iterator
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

__all__ = ["Carry", "Window", "enlarge", "segment_window"]

BLOCK = (8, 128, 160)
"""Largest block of voxels, (t, y, x), in which leaves are merged at a time."""


@dataclass(frozen=True, eq=False)
class Carry:
    """What a window needs to know of the one before: the regions alive in its last frame.

    Attributes
    ----------
    ids : (h, w) int32, index 0..K-1 of the region of every voxel in that frame
    regions : those K regions so far, all fixed, without edges
    """

    ids: Int32
    regions: Regions


@dataclass(frozen=True, eq=False)
class Window:
    """A window before it is cut.

    Attributes
    ----------
    leaf_ids : (T, h, w) int32
    regions : the leaves, then the carried regions
    tree : all merges of them
    """

    leaf_ids: Int32
    regions: Regions
    tree: Tree


def segment_window(frames: UInt8, reduce: int = 1, carry: Carry | None = None, threads: int = 1) -> Window:
    """Leaves and merges of frames (T, H, W, 3); the same for any number of threads."""
    starts = range(0, len(frames), BLOCK[0])
    with ThreadPoolExecutor(threads) as pool:
        slabs = list(pool.map(lambda t: _grow_slab(frames[t : t + BLOCK[0]], reduce), starts))
    leaf_ids, regions = _stack(slabs, carry)
    return Window(leaf_ids, regions, merge_regions(regions))


def _grow_slab(frames: UInt8, reduce: int) -> tuple[Int32, Regions]:
    """Leaf ids of a few frames and their region graph."""
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
    return ids, Regions(sizes, sums, edges, contact.astype(np.float32), np.zeros(n, np.bool_))


def _stack(slabs: list[tuple[Int32, Regions]], carry: Carry | None) -> tuple[Int32, Regions]:
    """Leaf ids (T, h, w) and one region graph of consecutive slabs, the carried regions last."""
    first = np.cumsum([0, *(len(regions) for _, regions in slabs)]).astype(np.int32)
    all_ids = [ids + offset for (ids, _), offset in zip(slabs, first[:-1], strict=True)]
    graphs = [regions for _, regions in slabs]
    edges = [regions.edges + offset for regions, offset in zip(graphs, first[:-1], strict=True)]
    seams = [(before[-1], after[0]) for before, after in pairwise(all_ids)]
    if carry is not None:
        seams.append((carry.ids + first[-1], all_ids[0][0]))
        graphs.append(carry.regions)
    joints = [faces_between(before, after, *_unit_cells(all_ids[0])) for before, after in seams]
    regions = Regions(
        np.concatenate([graph.sizes for graph in graphs]),
        np.concatenate([graph.sums for graph in graphs]),
        np.concatenate([*edges, *(pairs for pairs, _ in joints)]),
        np.concatenate([*(graph.contact for graph in graphs), *(areas for _, areas in joints)]).astype(np.float32),
        np.concatenate([graph.fixed for graph in graphs]),
    )
    return np.concatenate(all_ids), regions


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
