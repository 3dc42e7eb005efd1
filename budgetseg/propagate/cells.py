"""Cells: the grid (h, w) of a network's output, on which predictions are carried and fused."""

from typing import Any

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from budgetseg.types import Float32, UInt8
from budgetseg.video.flow import optical_flow

Image = NDArray[Any]

__all__ = [
    "between",
    "confidence_of",
    "grey_cells",
    "reduced",
    "spread_over",
    "step_flow",
    "top_classes",
]


def reduced(frame: UInt8, most_pixels: int) -> UInt8:
    """A frame (H, W, 3) halved until it has at most so many pixels."""
    # By halves, since OpenCV averages two by two pixels much faster than any other number.
    while frame.shape[0] * frame.shape[1] > most_pixels:
        size = -(-frame.shape[1] // 2), -(-frame.shape[0] // 2)
        frame = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
    return frame


def grey_cells(small: UInt8, shape: tuple[int, int]) -> Float32:
    """Grey of a reduced frame in cells, `shape` being (h, w)."""
    return _fit(np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)), shape).astype(np.float32)


def step_flow(first: UInt8, second: UInt8, shape: tuple[int, int], fine: bool = True) -> Float32:
    """Where the cells of a reduced frame lie in a neighbouring one, (h, w, 2) in cells."""
    cells = _fit(optical_flow(first, second, fine), shape)
    cells[..., 0] *= shape[1] / first.shape[1]
    cells[..., 1] *= shape[0] / first.shape[0]
    return cells


def _fit(image: Image, shape: tuple[int, int]) -> Image:
    if image.shape[:2] == shape:
        return image
    shrinks = shape[0] <= image.shape[0] and shape[1] <= image.shape[1]
    resized = cv2.resize(image, shape[::-1], interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)
    return np.asarray(resized, image.dtype)


@njit(cache=True, nogil=True)
def top_classes(probabilities: Float32) -> UInt8:
    """The most probable class of every cell, (h, w)."""
    h, w, _ = probabilities.shape
    top = np.empty((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            top[y, x] = argmax(probabilities, y, x)
    return top


@njit(cache=True, nogil=True)
def confidence_of(probabilities: Float32) -> UInt8:
    """The share of the most probable class in every cell, (h, w), 255 for all; 0 where there is nothing."""
    h, w, n_labels = probabilities.shape
    share = np.zeros((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            total, most = np.float32(0), np.float32(0)
            for k in range(n_labels):
                total += probabilities[y, x, k]
                most = max(most, probabilities[y, x, k])
            if total > 0:
                share[y, x] = np.uint8(255 * most / total)
    return share


@njit(cache=True, nogil=True)
def argmax(probabilities, y, x):  # type: ignore[no-untyped-def]
    best = 0
    for k in range(1, probabilities.shape[2]):
        if probabilities[y, x, k] > probabilities[y, x, best]:
            best = k
    return best


@njit(cache=True, nogil=True, inline="always")
def between(at, n):  # type: ignore[no-untyped-def]
    """The two of n cells that a place lies between, and how far it is from the first."""
    at, last = np.float32(at), np.float32(n - 1)
    if not at > 0:
        at = np.float32(0)
    if at > last:
        at = last
    first = np.int32(at)
    return first, min(first + 1, n - 1), at - np.float32(first)


@njit(cache=True, nogil=True)
def spread_over(n, size):  # type: ignore[no-untyped-def]
    """First of `size` pixels after each of n cells, (n + 1,), how far each pixel is from its cell, and that cell."""
    start, part, cells = np.full(n + 1, size), np.empty(size, np.float32), np.empty(size, np.uint32)
    for pixel in range(size - 1, -1, -1):
        cells[pixel], _, part[pixel] = between((pixel + 0.5) * (n / size) - 0.5, n)
        start[cells[pixel]] = pixel
    for cell in range(n - 1, -1, -1):
        start[cell] = min(start[cell], start[cell + 1])
    return start, part, cells
