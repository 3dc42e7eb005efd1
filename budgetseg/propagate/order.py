"""Which frames come first, so that whenever time is up those that are done lie spread over all."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

import numpy as np
from numba import njit

from budgetseg.types import Float64, Int64

__all__ = ["fill", "key_frames", "medians", "spread"]


def key_frames(n_frames: int, n_keys: int) -> list[int]:
    """Key frames that are spread evenly, each in the middle of its share.

    Examples
    --------
    >>> key_frames(10, 2)
    [2, 7]
    """
    return [(2 * key + 1) * n_frames // (2 * n_keys) for key in range(n_keys)]


def spread(n: int) -> list[int]:
    """0 .. n - 1 in an order of which every beginning is about even.

    Examples
    --------
    >>> spread(8)
    [0, 4, 2, 6, 1, 5, 3, 7]
    """
    bits = max(n - 1, 1).bit_length()
    turned = (int(f"{k:0{bits}b}"[::-1], 2) for k in range(1 << bits))
    return [k for k in turned if k < n]


@njit(cache=True, nogil=True)
def medians(positions: Float64, k: int) -> Int64:
    """The k of n rising positions, by number, to which all positions together are nearest.

    The sum of the distances from each position to the nearest of these is the least that k of them can have. Where
    positions are even, so are these. Exact, by dynamic programming: the best border of a stretch moves only forward, so
    that each of the k steps takes n log n.
    """
    n = len(positions)
    sums = np.zeros(n + 1)
    sums[1:] = np.cumsum(positions)
    borders = np.zeros((k + 1, n + 1), np.int64)
    before = np.empty(n + 1)
    best = np.empty(n + 1)
    for end in range(n + 1):
        before[end] = _to_median(positions, sums, 0, end)
    for n_stretches in range(2, k + 1):
        best[:n_stretches] = before[:n_stretches]
        _divide(positions, sums, before, best, borders[n_stretches], n_stretches)
        before[:] = best
    found = np.empty(k, np.int64)
    end = n
    for n_stretches in range(k, 0, -1):
        begin = borders[n_stretches, end]
        found[n_stretches - 1] = (begin + end) // 2
        end = begin
    return found


@njit(cache=True, nogil=True)
def _to_median(positions, sums, begin, end):  # type: ignore[no-untyped-def]
    """Sum of the distances of positions begin .. end - 1 to the middle one."""
    if begin == end:
        return 0.0
    middle = (begin + end) // 2
    below = positions[middle] * (middle - begin) - (sums[middle] - sums[begin])
    above = sums[end] - sums[middle] - positions[middle] * (end - middle)
    return below + above


@njit(cache=True, nogil=True)
def _divide(positions, sums, before, best, border, n_stretches):  # type: ignore[no-untyped-def]
    """Write to `best` the least sum for every end, with one stretch more than in `before`, and where that begins."""
    n = len(positions)
    waiting = np.empty((2 * n + 4, 4), np.int64)
    waiting[0] = n_stretches, n, n_stretches - 1, n - 1
    n_waiting = 1
    while n_waiting:
        n_waiting -= 1
        first, last, lowest, highest = waiting[n_waiting]
        if first > last:
            continue
        end = (first + last) // 2
        best[end] = np.inf
        for begin in range(lowest, min(highest, end - 1) + 1):
            total = before[begin] + _to_median(positions, sums, begin, end)
            if total < best[end]:
                best[end] = total
                border[end] = begin
        waiting[n_waiting] = first, end - 1, lowest, border[end]
        waiting[n_waiting + 1] = end + 1, last, border[end], highest
        n_waiting += 2


def fill(places: Sequence[int], taken: Sequence[int], positions: Float64 | None = None) -> Iterator[int]:
    """Places, rising, that are not taken: always the one in the middle of the widest gap.

    Parameters
    ----------
    places : numbers of frames, rising
    taken : those that are left out
    positions : of all frames; None for their numbers

    Examples
    --------
    >>> list(fill(range(9), [0, 4]))
    [7, 2, 5, 8, 1, 3, 6]
    """
    done = set(taken)
    known = [at for at, place in enumerate(places) if place in done]
    n_free = len(places) - len(known)
    if not known:
        yield from (places[at] for at in spread(len(places)))
        return
    at_x = np.asarray(places, np.float64) if positions is None else positions[np.asarray(places, np.int64)]
    gaps = [_gap(a, b, at_x) for a, b in pairwise([-1, *known, len(places)])]
    heapify(gaps)
    for _ in range(n_free):
        while True:
            _, a, b = heappop(gaps)
            if b - a > 1:
                break
        at = _middle(a, b, at_x)
        yield places[at]
        heappush(gaps, _gap(a, at, at_x))
        heappush(gaps, _gap(at, b, at_x))


def _gap(a: int, b: int, at_x: Float64) -> tuple[float, int, int]:
    """A gap between two places, or a place and the end, for a heap: the widest first, then the first.

    Beyond the first and the last place one side is open: such a gap counts twice, up to the end.
    """
    if a < 0:
        return -2.0 * float(at_x[b] - at_x[0]), a, b
    if b == len(at_x):
        return -2.0 * float(at_x[-1] - at_x[a]), a, b
    return -float(at_x[b] - at_x[a]), a, b


def _middle(a: int, b: int, at_x: Float64) -> int:
    """The place nearest to the middle of a gap; to two thirds of one that is open on one side."""
    if a < 0:
        wanted = at_x[b] - 2 / 3 * (at_x[b] - at_x[0])
    elif b == len(at_x):
        wanted = at_x[a] + 2 / 3 * (at_x[-1] - at_x[a])
    else:
        wanted = (at_x[a] + at_x[b]) / 2
    inside = at_x[a + 1 : b]
    near = np.abs(inside - wanted)
    ties = np.flatnonzero(near <= near.min() + 1e-9)
    return a + 1 + int(ties[len(ties) // 2])  # of frames that do not differ, the one in the middle
