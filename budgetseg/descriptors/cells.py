"""Orientation histograms of a frame, summed over cells of 16x16 pixels at every fourth pixel.

The patches around a point are 2x2 cells of 16 and of 32 pixels a side. A point therefore only looks up these sums, four
for the small patch and sixteen for the large one.
"""

from abc import abstractmethod
from typing import Any

import numpy as np
from numba import njit

from budgetseg.descriptors.core import Resource, Scene
from budgetseg.descriptors.pointers import FrameArray
from budgetseg.types import Float32, Float64, UInt8

__all__ = [
    "AROUND",
    "N_BINS",
    "Cells",
    "add_cells",
    "add_patches",
    "cell_sums",
    "flow_blocks",
    "flow_edge_blocks",
    "gradient_blocks",
    "length_of",
]

BLOCK = 4
"""Distance, in pixels, of the places where sums are kept."""

CELL = 4
"""Side of a cell, in blocks."""

AROUND = 4
"""Number of cells around a point, along each side."""

N_BINS = 8
"""Number of bins of direction."""

STILL = 0.4  # pixels per frame; flow slower than this counts as no motion
LEAST = 1e-3  # added to the length that a patch is divided by, so that one without gradient or motion stays zero


class Cells(Resource):
    """A resource: sums over cells of one kind of histogram of a frame."""

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002
        """The work of a frame, which is the same for all."""
        return self.frame_work(scene)

    def works(self, scene: Scene) -> Float64:
        """The work of every frame, (T,)."""
        return np.full(scene.n_frames, self.frame_work(scene))

    def frame_work(self, scene: Scene) -> float:
        """Work of any frame."""
        return float(scene.n_pixels)

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> FrameArray:
        """The sums, (h + CELL + 1, w + CELL + 1, bins) float32."""
        return FrameArray(cell_sums(self.blocks(scene, index, inputs)))

    @abstractmethod
    def blocks(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:
        """The histograms of blocks, (h, w, bins)."""


def gradient_blocks(grey: UInt8) -> Float32:
    """Histograms of gradient orientation, (h, w, 8), of a grey frame (H, W)."""
    height, width = grey.shape
    blocks = np.zeros((-(-height // BLOCK), -(-width // BLOCK), N_BINS), np.float32)
    _gradients(grey, blocks)
    return blocks


def flow_blocks(flow: Float32, reduce: int) -> Float32:
    """Histograms of flow direction, (h, w, 9), the last bin for no motion; `reduce` pixels a side share a vector."""
    blocks = _empty_blocks(flow, reduce, N_BINS + 1)
    _directions(flow, BLOCK // reduce, blocks)
    return blocks


def flow_edge_blocks(flow: Float32, reduce: int) -> Float32:
    """Histograms of the orientation of the gradients of dx, then of dy, (h, w, 16)."""
    blocks = _empty_blocks(flow, reduce, 2 * N_BINS)
    _flow_edges(flow, BLOCK // reduce, blocks)
    return blocks


def cell_sums(blocks: Float32) -> Float32:
    """Sums over cells, (h + CELL + 1, w + CELL + 1, bins): [r, c] is the cell that ends before block r, c."""
    sums: Float32 = _box_sums(blocks)
    return sums


def _empty_blocks(flow: Float32, reduce: int, n_bins: int) -> Float32:
    side = BLOCK // reduce
    return np.zeros((-(-flow.shape[0] // side), -(-flow.shape[1] // side), n_bins), np.float32)


@njit(cache=True, nogil=True, fastmath=True)
def _turn(dx, dy):  # type: ignore[no-untyped-def]
    """Direction in eighths of a turn, 0 to 8, within 0.003: arctan2 itself would take most of the time."""
    ax = abs(dx)
    ay = abs(dy)
    ratio = min(ax, ay) / (max(ax, ay) + np.float32(1e-20))
    square = ratio * ratio
    tail = np.float32(-0.4204190) + square * (np.float32(0.2293840) - square * np.float32(0.0822))
    eighths = ratio * (np.float32(1.2732040) + square * tail)
    eighths = eighths if ax >= ay else np.float32(2) - eighths
    eighths = eighths if dx >= 0 else np.float32(4) - eighths
    return eighths if dy >= 0 else np.float32(8) - eighths


@njit(cache=True, nogil=True, fastmath=True)
def _vote(histogram, first, dx, dy):  # type: ignore[no-untyped-def]
    """Share a vector's length between the two bins next to its direction."""
    turn = _turn(dx, dy)
    low = int(turn)
    length = np.sqrt(dx * dx + dy * dy)
    beyond = length * (turn - np.float32(low))
    histogram[first + (low & 7)] += length - beyond
    histogram[first + ((low + 1) & 7)] += beyond


@njit(cache=True, nogil=True, fastmath=True)
def _gradients(grey, blocks):  # type: ignore[no-untyped-def]
    """Add central differences to blocks. Directions of a row come first, in a loop that becomes vector code."""
    height, width = grey.shape
    lows = np.empty(width, np.int32)
    nears = np.empty(width, np.float32)
    beyonds = np.empty(width, np.float32)
    padded = np.empty(width + 2, np.float32)
    for y in range(height):
        above = grey[max(y - 1, 0)]
        below = grey[min(y + 1, height - 1)]
        padded[1 : width + 1] = grey[y]
        padded[0], padded[width + 1] = padded[1], padded[width]
        for x in range(width):
            dx, dy = padded[x + 2] - padded[x], np.float32(below[x]) - np.float32(above[x])
            turn = _turn(dx, dy)
            length = np.sqrt(dx * dx + dy * dy)
            lows[x] = np.int32(turn)
            beyonds[x] = length * (turn - np.float32(lows[x]))
            nears[x] = length - beyonds[x]
        row = blocks[y // BLOCK]
        for x in range(width):
            histogram = row[x // BLOCK]
            histogram[lows[x] & 7] += nears[x]
            histogram[(lows[x] + 1) & 7] += beyonds[x]


@njit(cache=True, nogil=True, fastmath=True)
def _directions(flow, side, blocks):  # type: ignore[no-untyped-def]
    for y in range(flow.shape[0]):
        for x in range(flow.shape[1]):
            dx, dy = flow[y, x]
            histogram = blocks[y // side, x // side]
            if dx * dx + dy * dy < np.float32(STILL * STILL):
                histogram[N_BINS] += np.float32(1)
            else:
                _vote(histogram, 0, dx, dy)


@njit(cache=True, nogil=True, fastmath=True)
def _flow_edges(flow, side, blocks):  # type: ignore[no-untyped-def]
    height, width, _ = flow.shape
    for y in range(height):
        above = flow[max(y - 1, 0)]
        here = flow[y]
        below = flow[min(y + 1, height - 1)]
        for x in range(width):
            left, right = here[max(x - 1, 0)], here[min(x + 1, width - 1)]
            for k in range(2):
                _vote(blocks[y // side, x // side], k * N_BINS, right[k] - left[k], below[x, k] - above[x, k])


@njit(cache=True, nogil=True, fastmath=True)
def _box_sums(blocks):  # type: ignore[no-untyped-def]
    height, width, bins = blocks.shape
    sums = np.empty((height + CELL + 1, width + CELL + 1, bins), np.float32)
    column = np.empty((width, bins), np.float32)  # sums over the rows of a cell
    for y in range(height + CELL + 1):
        column[:] = 0
        for k in range(max(y - CELL, 0), min(y, height)):
            column += blocks[k]
        for x in range(width + CELL + 1):
            here = sums[y, x]
            here[:] = 0
            for k in range(max(x - CELL, 0), min(x, width)):
                here += column[k]
    return sums


def length_of(n_bins: int) -> int:
    """Number of figures that describe a point: 2x2 cells of the small patch and of the large one."""
    return 2 * 2 * 2 * n_bins


@njit(cache=True, nogil=True, fastmath=True)
def add_cells(sums, y, x, cells):  # type: ignore[no-untyped-def]
    """Add the cells around a point (y, x) to `cells`, (AROUND, AROUND, bins)."""
    y, x = (int(y) + BLOCK // 2) // BLOCK, (int(x) + BLOCK // 2) // BLOCK
    for r in range(AROUND):
        row = y + CELL * (r - 1)
        if 0 <= row < sums.shape[0]:
            for c in range(AROUND):
                column = x + CELL * (c - 1)
                if 0 <= column < sums.shape[1]:
                    for k in range(sums.shape[2]):  # by index: views would double the time
                        cells[r, c, k] += sums[row, column, k]


@njit(cache=True, nogil=True, fastmath=True)
def add_patches(cells, patches):  # type: ignore[no-untyped-def]
    """Add both patches around a point to `patches`, (2, 2, 2, bins), each scaled to length one.

    The cells in the middle are the small patch; four cells make a quarter of the large one.
    """
    small = large = np.float32(0)
    for r in range(2):
        for c in range(2):
            for k in range(cells.shape[2]):
                small += cells[r + 1, c + 1, k] ** 2
                large += _quarter(cells, r, c, k) ** 2
    small = 1 / (np.sqrt(small) + np.float32(LEAST))
    large = 1 / (np.sqrt(large) + np.float32(LEAST))
    for r in range(2):
        for c in range(2):
            for k in range(cells.shape[2]):
                patches[0, r, c, k] += small * cells[r + 1, c + 1, k]
                patches[1, r, c, k] += large * _quarter(cells, r, c, k)


@njit(cache=True, nogil=True, fastmath=True)
def _quarter(cells, r, c, k):  # type: ignore[no-untyped-def]
    above = cells[2 * r, 2 * c, k] + cells[2 * r, 2 * c + 1, k]
    return above + cells[2 * r + 1, 2 * c, k] + cells[2 * r + 1, 2 * c + 1, k]
