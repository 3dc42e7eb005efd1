"""What networks say about key frames, carried to other frames, fused there, and painted at the size of the video.

All work is done in the cells of the network's answer, (h, w), and only where classes meet. A chain tells where each
cell of a frame lies in a key frame, (h, w, 2) as (dx, dy) in cells: the flow from frame to frame, composed on the way.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import cv2
import numpy as np
from numba import njit
from numpy.typing import NDArray

from budgetseg.types import Float32, UInt8
from budgetseg.video.flow import optical_flow

Image = NDArray[Any]

__all__ = [
    "Fused",
    "Source",
    "compose",
    "fuse",
    "grey_cells",
    "paint",
    "paint_carried",
    "reduced",
    "spread_over",
    "step_flow",
    "sure_cells",
    "sure_of",
    "top_classes",
]

FLOW_PIXELS = 12_000
"""Flow is found on frames halved until they have no more pixels than this."""
CONTRAST = 10.0
"""Grey levels between a cell and where it comes from that halve the trust in it."""
OUTSIDE = 0.1
"""Trust in a cell that comes from beyond the frame, where only its border is known."""
MIXED = 255


class Source(NamedTuple):
    """What one key frame says about another frame.

    Attributes
    ----------
    probabilities : (h, w, L), of the key frame
    top : (h, w), its most probable classes
    grey : (h, w), the key frame
    chain : (h, w, 2), from the other frame to the key frame
    weight : how much it counts; 0 for not at all
    """

    probabilities: Float32
    top: UInt8
    grey: Float32
    chain: Float32
    weight: float


class Fused(NamedTuple):
    """What all key frames together say about a frame.

    Attributes
    ----------
    probabilities : (h, w, L), where classes meet; 0 elsewhere
    top : (h, w), the most probable classes
    """

    probabilities: Float32
    top: UInt8


def reduced(frame: UInt8) -> UInt8:
    """A frame (H, W, 3) halved until it has at most `FLOW_PIXELS`."""
    # By halves, since OpenCV averages two by two pixels much faster than any other number.
    while frame.shape[0] * frame.shape[1] > FLOW_PIXELS:
        size = -(-frame.shape[1] // 2), -(-frame.shape[0] // 2)
        frame = np.asarray(cv2.resize(frame, size, interpolation=cv2.INTER_AREA), np.uint8)
    return frame


def grey_cells(small: UInt8, shape: tuple[int, int]) -> Float32:
    """Grey of a reduced frame in cells, `shape` being (h, w)."""
    return _fit(np.asarray(cv2.cvtColor(small, cv2.COLOR_RGB2GRAY)), shape).astype(np.float32)


def step_flow(first: UInt8, second: UInt8, shape: tuple[int, int], fine: bool = False) -> Float32:
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
def compose(step: Float32, sign: float, chain: Float32) -> Float32:
    """The chain of a frame from that of its neighbour, to which `sign * step` leads."""
    h, w = step.shape[:2]
    out = np.empty_like(step)
    for y in range(h):
        for x in range(w):
            dx, dy = np.float32(sign) * step[y, x, 0], np.float32(sign) * step[y, x, 1]
            y0, y1, fy = _between(y + dy, h)
            x0, x1, fx = _between(x + dx, w)
            for k in range(2):
                above = chain[y0, x0, k] + fx * (chain[y0, x1, k] - chain[y0, x0, k])
                below = chain[y1, x0, k] + fx * (chain[y1, x1, k] - chain[y1, x0, k])
                out[y, x, k] = (dy if k else dx) + above + fy * (below - above)
    return out


@njit(cache=True, nogil=True)
def top_classes(probabilities: Float32) -> UInt8:
    """The most probable class of every cell, (h, w)."""
    h, w, _ = probabilities.shape
    top = np.empty((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            top[y, x] = _argmax(probabilities, y, x)
    return top


def fuse(grey: Float32, sources: Sequence[Source]) -> Fused:
    """What key frames, one at least, say about a frame of `grey` cells (h, w); of no weight is none."""
    top = np.empty(grey.shape, np.uint8)
    for k, source in enumerate(sources):
        _agree(top, source, k > 0)
    needed = _where_classes_meet(top)
    total, trust = np.zeros(sources[0].probabilities.shape, np.float32), np.zeros(grey.shape, np.float32)
    for source in sources:
        _add(total, trust, needed, grey, source)
    _finish(total, trust, needed, top)
    return Fused(total, top)


@njit(cache=True, nogil=True)
def sure_cells(probabilities: Float32) -> UInt8:
    """The share of the most probable class in every cell, (h, w), 255 for all; 0 where there is nothing."""
    h, w, n_labels = probabilities.shape
    sure = np.zeros((h, w), np.uint8)
    for y in range(h):
        for x in range(w):
            total, most = np.float32(0), np.float32(0)
            for k in range(n_labels):
                total += probabilities[y, x, k]
                most = max(most, probabilities[y, x, k])
            if total > 0:
                sure[y, x] = np.uint8(255 * most / total)
    return sure


@njit(cache=True, nogil=True)
def sure_of(probabilities: Float32, nearest: UInt8, chain: Float32) -> UInt8:
    """The same of fused probabilities; where nothing was fused since all agree, what the nearest key frame has."""
    h, w = nearest.shape
    sure = sure_cells(probabilities)
    for y in range(h):
        for x in range(w):
            if sure[y, x] == 0:
                y0, y1, fy = _between(y + chain[y, x, 1], h)
                x0, x1, fx = _between(x + chain[y, x, 0], w)
                sure[y, x] = nearest[y1 if fy > 0.5 else y0, x1 if fx > 0.5 else x0]
    return sure


@njit(cache=True, nogil=True)
def paint_carried(grey: Float32, first: Source, second: Source, labels: UInt8) -> None:
    """Write to `labels` (H, W) what two key frames say about a frame of `grey` cells (h, w)."""
    top = np.empty(grey.shape, np.uint8)
    _agree(top, first, False)
    _agree(top, second, True)
    needed = _where_classes_meet(top)
    probabilities, trust = np.zeros(first.probabilities.shape, np.float32), np.zeros(grey.shape, np.float32)
    _add(probabilities, trust, needed, grey, first)
    _add(probabilities, trust, needed, grey, second)
    _finish(probabilities, trust, needed, top)
    paint(probabilities, top, labels)


@njit(cache=True, nogil=True)
def _agree(top, source, again):  # type: ignore[no-untyped-def]
    """Write to `top` the class of all cells that a cell is made of, MIXED where they differ.

    A mean of probabilities has the class that all of them have, so such a cell need not be worked out.
    """
    if source.weight == 0:
        return
    (h, w), said, chain = top.shape, source.top, source.chain
    for y in range(h):
        for x in range(w):
            y0, y1, _ = _between(y + chain[y, x, 1], h)
            x0, x1, _ = _between(x + chain[y, x, 0], w)
            label = said[y0, x0]
            same = label == said[y0, x1] and label == said[y1, x0] and label == said[y1, x1]
            if again:
                same = same and label == top[y, x]
            top[y, x] = label if same else MIXED


@njit(cache=True, nogil=True)
def _where_classes_meet(top):  # type: ignore[no-untyped-def]
    """Cells that are mixed, or have a neighbour of another class, (h, w)."""
    h, w = top.shape
    meet = np.zeros((h, w), np.bool_)
    for y in range(h):
        y1 = min(y + 1, h - 1)
        for x in range(w):
            x1, label = min(x + 1, w - 1), top[y, x]
            if label == MIXED or label != top[y, x1] or label != top[y1, x] or label != top[y1, x1]:
                meet[y, x] = meet[y, x1] = meet[y1, x] = meet[y1, x1] = True
    return meet


@njit(cache=True, nogil=True)
def _add(total, trust, needed, grey, source):  # type: ignore[no-untyped-def]
    """Add to cells what a key frame says, weighted by how well it looks alike: what is hidden there does not."""
    if source.weight == 0:
        return
    p, seen, chain = source.probabilities, source.grey, source.chain
    h, w, n_labels = p.shape
    one, contrast, outside = np.float32(1), np.float32(CONTRAST), np.float32(OUTSIDE)
    weight = np.float32(source.weight)
    for y in range(h):
        for x in range(w):
            if not needed[y, x]:
                continue
            at_y, at_x = y + chain[y, x, 1], x + chain[y, x, 0]
            y0, y1, fy = _between(at_y, h)
            x0, x1, fx = _between(at_x, w)
            a, b, c, d = (one - fy) * (one - fx), (one - fy) * fx, fy * (one - fx), fy * fx
            there = a * seen[y0, x0] + b * seen[y0, x1] + c * seen[y1, x0] + d * seen[y1, x1]
            trusted = weight / (one + abs(there - grey[y, x]) / contrast)
            if not (-1 < at_y < h and -1 < at_x < w):
                trusted *= outside
            a, b, c, d = a * trusted, b * trusted, c * trusted, d * trusted
            for k in range(n_labels):
                total[y, x, k] += a * p[y0, x0, k] + b * p[y0, x1, k] + c * p[y1, x0, k] + d * p[y1, x1, k]
            trust[y, x] += trusted


@njit(cache=True, nogil=True)
def _finish(total, trust, needed, top):  # type: ignore[no-untyped-def]
    h, w, n_labels = total.shape
    for y in range(h):
        for x in range(w):
            if needed[y, x]:
                share = np.float32(1) / trust[y, x]
                for k in range(n_labels):
                    total[y, x, k] *= share
                top[y, x] = _argmax(total, y, x)


@njit(cache=True, nogil=True)
def _argmax(probabilities, y, x):  # type: ignore[no-untyped-def]
    best = 0
    for k in range(1, probabilities.shape[2]):
        if probabilities[y, x, k] > probabilities[y, x, best]:
            best = k
    return best


@njit(cache=True, nogil=True, inline="always")
def _between(at, n):  # type: ignore[no-untyped-def]
    """The two of n cells that a place lies between, and how far it is from the first."""
    at, last = np.float32(at), np.float32(n - 1)
    if not at > 0:
        at = np.float32(0)
    if at > last:
        at = last
    first = np.int32(at)
    return first, min(first + 1, n - 1), at - np.float32(first)


@njit(cache=True, nogil=True)
def paint(probabilities: Float32, top: UInt8, labels: UInt8) -> None:
    """Write to `labels` (H, W) the most probable classes, probabilities (h, w, L) being interpolated linearly.

    `top` holds the most probable class of every cell; a cell amid others of its class needs no probabilities.
    """
    h, w, n_labels = probabilities.shape
    rows, fy, _ = spread_over(h, labels.shape[0])
    columns, fx, cells = spread_over(w, labels.shape[1])
    line, likely = np.empty(labels.shape[1], np.uint8), np.empty(n_labels, np.int64)
    for y in range(h):
        y1 = min(y + 1, h - 1)
        # Where four neighbours agree, so does all that lies between them; where they do not, it is painted over.
        for column in range(len(line)):
            line[column] = top[y, cells[column]]
        for row in range(rows[y], rows[y + 1]):
            labels[row] = line
        for x in range(w):
            x1, label = min(x + 1, w - 1), top[y, x]
            if label == top[y, x1] and label == top[y1, x] and label == top[y1, x1]:
                continue
            corners = y, y1, x, x1
            n = _likely(probabilities, corners, label, likely)
            for row in range(rows[y], rows[y + 1]):
                for column in range(columns[x], columns[x + 1]):
                    labels[row, column] = _mixed(probabilities, corners, fy[row], fx[column], likely, n)


@njit(cache=True, nogil=True)
def _likely(p, corners, label, likely):  # type: ignore[no-untyped-def]
    """Write to `likely` the classes that may win between four cells, `label` and those that beat it; their number."""
    (y, y1, x, x1), n = corners, 0
    here, right, below, across = p[y, x, label], p[y, x1, label], p[y1, x, label], p[y1, x1, label]
    for k in range(p.shape[2]):
        beats = (p[y, x, k] > here) | (p[y, x1, k] > right) | (p[y1, x, k] > below) | (p[y1, x1, k] > across)
        likely[n] = k
        n += beats | (k == label)
    return n


@njit(cache=True, nogil=True, inline="always")
def _mixed(p, corners, fy, fx, likely, n):  # type: ignore[no-untyped-def]
    """The most probable class between four cells, of the first n in `likely`."""
    (y, y1, x, x1), one = corners, np.float32(1)
    a, b, c, d = (one - fy) * (one - fx), (one - fy) * fx, fy * (one - fx), fy * fx
    best, most = 0, np.float32(-1)
    for j in range(n):
        k = likely[j]
        value = a * p[y, x, k] + b * p[y, x1, k] + c * p[y1, x, k] + d * p[y1, x1, k]
        if value > most:
            best, most = k, value
    return best


@njit(cache=True, nogil=True)
def spread_over(n, size):  # type: ignore[no-untyped-def]
    """First of `size` pixels after each of n cells, (n + 1,), how far each pixel is from its cell, and that cell."""
    start, part, cells = np.full(n + 1, size), np.empty(size, np.float32), np.empty(size, np.uint32)
    for pixel in range(size - 1, -1, -1):
        cells[pixel], _, part[pixel] = _between((pixel + 0.5) * (n / size) - 0.5, n)
        start[cells[pixel]] = pixel
    for cell in range(n - 1, -1, -1):
        start[cell] = min(start[cell], start[cell + 1])
    return start, part, cells
