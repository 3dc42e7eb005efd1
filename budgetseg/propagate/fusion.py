"""Predictions of several key frames about one frame, fused into one.

Work is done in cells (h, w), and only where classes meet: a mean of predictions has the class that all of them have.
"""

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numba import njit

from budgetseg.propagate.cells import argmax, between, confidence_of
from budgetseg.propagate.settings import Propagation
from budgetseg.propagate.timeline import Timeline
from budgetseg.types import Float32, UInt8

__all__ = ["Fused", "Source", "confidence_at", "count_sources", "dominant", "fuse", "n_sources", "neighbours"]

MIXED = 255
"""Marks a cell in which classes meet."""


class Source(NamedTuple):
    """What one key frame tells about another frame.

    Attributes
    ----------
    probabilities : (h, w, L), of the key frame
    top : (h, w), its most probable classes
    grey : (h, w), the key frame
    chain : (h, w, 2), from the other frame to the key frame
    weight : of the key frame; 0 leaves it out
    """

    probabilities: Float32
    top: UInt8
    grey: Float32
    chain: Float32
    weight: float


class Fused(NamedTuple):
    """What all key frames together tell about a frame.

    Attributes
    ----------
    probabilities : (h, w, L), where classes meet; 0 elsewhere
    top : (h, w), the most probable classes
    """

    probabilities: Float32
    top: UInt8


def neighbours(keys: Sequence[Sequence[int]], timeline: Timeline, reach: float) -> list[list[tuple[int, int]]]:
    """Fusion neighbours of each frame: (network, key frame) pairs.

    A frame fuses the key frames of its shot within `reach`. If it is no key frame, it also fuses the nearest on each
    side, at any distance, of the dearest network that saw the shot. The frames of a shot without key frames use the
    nearest key frame alone.

    Parameters
    ----------
    keys : key frames of each network, rising; networks from the cheapest to the dearest
    timeline : of the window
    reach : a distance
    """
    found: list[list[tuple[int, int]]] = [[] for _ in range(len(timeline))]
    every = sorted((place, network) for network, places in enumerate(keys) for place in places)
    if not every:
        return found
    best = dict(every)
    nearest = timeline.nearest(list(best))
    for span in _shots(timeline):
        inside = [_between(places, span) for places in keys]
        dearest = max((network for network, places in enumerate(inside) if places), default=None)
        for t in span:
            if dearest is None:
                found[t].append((best[int(nearest[t])], int(nearest[t])))
                continue
            for network, places in enumerate(inside):
                near = _within(places, t, timeline, reach, network == dearest)
                found[t].extend((network, key) for key in near)
    return found


def _shots(timeline: Timeline) -> Iterator[range]:
    """Frames of each shot."""
    for first, end in pairwise([0, *timeline.cuts, len(timeline)]):
        yield range(first, end)


def _between(places: Sequence[int], span: range) -> Sequence[int]:
    """Those of rising places that lie in a span."""
    return places[bisect_left(places, span.start) : bisect_left(places, span.stop)]


def _within(places: Sequence[int], t: int, timeline: Timeline, reach: float, with_nearest: bool) -> Sequence[int]:
    """Places within reach of t; with the nearest on each side, where t is none of them."""
    after = bisect_left(places, t)
    is_key = after < len(places) and places[after] == t
    first = after
    while first > 0 and timeline.distance(t, places[first - 1]) <= reach:
        first -= 1
    end = after + is_key
    while end < len(places) and timeline.distance(t, places[end]) <= reach:
        end += 1
    if with_nearest and not is_key:
        first = min(first, max(after - 1, 0))
        end = max(end, min(after + 1, len(places)))
    return places[first:end]


def count_sources(keys: Sequence[Sequence[int]], timeline: Timeline, reach: float) -> int:
    """How many key frames all frames together are fused from, about: as `neighbours`, but that shots count little.

    Frames that have nothing but their own prediction are not fused.
    """
    positions = timeline.positions
    found = np.zeros(len(timeline), np.int64)
    for places in keys:
        at = positions[np.asarray(places, np.int64)]
        found += np.searchsorted(at, positions + reach, "right") - np.searchsorted(at, positions - reach, "left")
    dearest = max((places for places in keys if places), key=keys.index, default=[])
    is_other = np.ones(len(timeline), np.bool_)
    is_other[np.asarray(dearest, np.int64)] = False
    found[is_other] = np.maximum(found[is_other], min(len(dearest), 2))
    found[~is_other & (found == 1)] = 0
    return int(found.sum())


def n_sources(n_frames: int, n_keys: float, reach: float, distance: float) -> float:
    """About how many key frames all frames together fuse, where frames and key frames lie evenly.

    Parameters
    ----------
    n_frames, n_keys : frames, and how many of them are key frames
    reach : as of `neighbours`
    distance : between neighbouring frames
    """
    within = 2 * int(reach / max(distance, 1e-9)) + 1  # frames within reach of a frame
    others = max(n_frames - n_keys, 0.0)
    beside = min(n_keys, 2.0)
    return n_keys * (1 + (within - 1) * n_keys / n_frames) + others * max(beside, within * n_keys / n_frames)


def fuse(grey: Float32, sources: Sequence[Source], settings: Propagation) -> Fused:
    """What key frames, one at least, tell about a frame of `grey` cells (h, w)."""
    top = np.empty(grey.shape, np.uint8)
    for k, source in enumerate(sources):
        _agree(top, source, k > 0)
    needed = _where_classes_meet(top)
    total = np.zeros(sources[0].probabilities.shape, np.float32)
    trust = np.zeros(grey.shape, np.float32)
    for source in sources:
        _add(total, trust, needed, grey, source, settings.contrast, settings.outside)
    _finish(total, trust, needed, top)
    return Fused(total, top)


@njit(cache=True, nogil=True)
def confidence_at(probabilities: Float32, nearest: UInt8, chain: Float32) -> UInt8:
    """The share of the most probable class in every cell, (h, w), 255 for all.

    Where nothing was fused, since all agree, it is that of the `nearest` key frame.
    """
    h, w = nearest.shape
    share = confidence_of(probabilities)
    for y in range(h):
        for x in range(w):
            if share[y, x] == 0:
                y0, y1, fy = between(y + chain[y, x, 1], h)
                x0, x1, fx = between(x + chain[y, x, 0], w)
                share[y, x] = nearest[y1 if fy > 0.5 else y0, x1 if fx > 0.5 else x0]
    return share


def dominant(grey: Float32, top: UInt8, sources: Sequence[Source], settings: Propagation) -> UInt8:
    """Number of the source that tells most for the class of each cell, (h, w); `top` are these classes."""
    best = np.full(grey.shape, -1, np.float32)
    which = np.zeros(grey.shape, np.uint8)
    for k, source in enumerate(sources):
        _support(best, which, k, top, grey, source, settings.contrast, settings.outside)
    return which


@njit(cache=True, nogil=True)
def _support(best, which, number, top, grey, source, contrast, outside):  # type: ignore[no-untyped-def]
    """Write a source to cells for whose class it tells more than those before it."""
    p, seen, chain = source.probabilities, source.grey, source.chain
    h, w = top.shape
    for y in range(h):
        for x in range(w):
            at_y, at_x = y + chain[y, x, 1], x + chain[y, x, 0]
            y0, y1, fy = between(at_y, h)
            x0, x1, fx = between(at_x, w)
            row, column = y1 if fy > 0.5 else y0, x1 if fx > 0.5 else x0
            tells = source.weight / (1 + abs(seen[row, column] - grey[y, x]) / contrast) * p[row, column, top[y, x]]
            if not (-1 < at_y < h and -1 < at_x < w):
                tells *= outside
            if tells > best[y, x]:
                best[y, x] = tells
                which[y, x] = number


@njit(cache=True, nogil=True)
def _agree(top, source, again):  # type: ignore[no-untyped-def]
    """Write to `top` the class of all cells that a cell is made of, MIXED where they differ.

    A mean of probabilities has the class that all of them have, so such a cell need not be worked out.
    """
    if source.weight == 0:
        return
    (h, w), classes, chain = top.shape, source.top, source.chain
    for y in range(h):
        for x in range(w):
            y0, y1, _ = between(y + chain[y, x, 1], h)
            x0, x1, _ = between(x + chain[y, x, 0], w)
            label = classes[y0, x0]
            same = label == classes[y0, x1] and label == classes[y1, x0] and label == classes[y1, x1]
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
def _add(total, trust, needed, grey, source, contrast, outside):  # type: ignore[no-untyped-def]
    """Add a key frame to cells, weighted by how alike it looks there: what is hidden does not look alike."""
    if source.weight == 0:
        return
    p, seen, chain = source.probabilities, source.grey, source.chain
    h, w, n_labels = p.shape
    one, contrast, outside = np.float32(1), np.float32(contrast), np.float32(outside)
    weight = np.float32(source.weight)
    for y in range(h):
        for x in range(w):
            if not needed[y, x]:
                continue
            at_y, at_x = y + chain[y, x, 1], x + chain[y, x, 0]
            y0, y1, fy = between(at_y, h)
            x0, x1, fx = between(at_x, w)
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
                top[y, x] = argmax(total, y, x)
