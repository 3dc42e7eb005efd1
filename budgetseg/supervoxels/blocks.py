"""Blocks of space and time in the place of supervoxels: they follow no edges, and cost next to nothing."""

from itertools import pairwise

import numpy as np

from budgetseg.supervoxels.graph import GraphBuilder
from budgetseg.types import Int64, Supervoxels

__all__ = ["BLOCKS", "cut_blocks"]

BLOCKS = "blocks"
"""In the place of the name of a tier."""

N_FRAMES = 16
"""From the first frame of a block to the first of the next: all of one time agree on the frames that they look at."""


def cut_blocks(shape: tuple[int, int, int], n: int) -> Supervoxels:
    """About n blocks of a video of T frames, H rows and W columns, each about as high as it is wide.

    Asked for as many as there are, the same once more: a replay asks so.

    Examples
    --------
    >>> cut_blocks((20, 30, 40), 24).ids[[0, -1], 0, :]
    array([[ 0,  0,  0,  0,  0,  0,  0,  0,  0,  0,  1,  1,  1,  1,  1,  1,
             1,  1,  1,  1,  2,  2,  2,  2,  2,  2,  2,  2,  2,  2,  3,  3,
             3,  3,  3,  3,  3,  3,  3,  3],
           [12, 12, 12, 12, 12, 12, 12, 12, 12, 12, 13, 13, 13, 13, 13, 13,
            13, 13, 13, 13, 14, 14, 14, 14, 14, 14, 14, 14, 14, 14, 15, 15,
            15, 15, 15, 15, 15, 15, 15, 15]], dtype=int32)
    """
    n_frames, height, width = shape
    first = [*range(0, n_frames, N_FRAMES), n_frames]
    n_rows, n_columns = _grid(height, width, n / (len(first) - 1))
    heights, widths = _sides(height, n_rows), _sides(width, n_columns)
    cells = np.empty((n_frames, n_rows, n_columns), np.int32)
    ids = np.empty(shape, np.int32)
    for k, (start, end) in enumerate(pairwise(first)):
        own = np.arange(n_rows * n_columns, dtype=np.int32).reshape(n_rows, n_columns) + k * n_rows * n_columns
        cells[start:end] = own
        ids[start:end] = np.repeat(np.repeat(own, heights, axis=0), widths, axis=1)
    builder = GraphBuilder.of_cells(heights, widths)
    builder.add(cells)
    return Supervoxels(ids, builder.build())


def _grid(height: int, width: int, n: float) -> tuple[int, int]:
    """Rows and columns of about n blocks that are about square; of so many blocks as some grid has, it is that grid."""
    long, short = max(height, width), min(height, width)
    along = np.arange(1, long + 1)
    across = np.maximum(np.rint(along * short / long), 1).astype(np.int64)
    best = int(np.argmin(np.abs(along * across - n)))  # their numbers rise, so that no two grids have the same
    sides = int(across[best]), int(along[best])
    return sides if width == long else sides[::-1]


def _sides(length: int, n: int) -> Int64:
    """Of n blocks along a side, no two of which differ by more than a pixel."""
    return np.diff(np.arange(n + 1, dtype=np.int64) * length // n)
