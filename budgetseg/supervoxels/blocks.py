"""Blocks of space and time in the place of supervoxels: they follow no edges, and cost next to nothing."""

import math
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
    a_time = n / (len(first) - 1)
    n_columns = min(max(1, round(math.sqrt(a_time * width / height))), width)
    n_rows = min(max(1, round(a_time / n_columns)), height)
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


def _sides(length: int, n: int) -> Int64:
    """Of n blocks along a side, no two of which differ by more than a pixel."""
    return np.diff(np.arange(n + 1, dtype=np.int64) * length // n)
