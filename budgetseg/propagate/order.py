"""Which frames come first, so that whenever time is up those that are done lie spread over all."""

from collections.abc import Iterator, Sequence
from heapq import heapify, heappop, heappush
from itertools import pairwise

__all__ = ["fill", "key_frames", "spread"]


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


def fill(places: Sequence[int], taken: Sequence[int]) -> Iterator[int]:
    """Places, rising, that are not taken: always the one in the middle of the widest gap.

    Examples
    --------
    >>> list(fill(range(9), [0, 4]))
    [7, 2, 5, 8, 1, 3, 6]
    """
    done = set(taken)
    free = [at for at, place in enumerate(places) if place not in done]
    own = [at for at, place in enumerate(places) if place in done]
    if not own:
        yield from (places[at] for at in spread(len(places)))
        return
    # Beyond the first and the last one side is open: such a gap counts twice, up to the end.
    gaps = [_gap(a, b, len(places)) for a, b in pairwise([-1, *own, len(places)])]
    heapify(gaps)
    for _ in free:
        while True:
            _, a, b = heappop(gaps)
            if b - a > 1:
                break
        at = _middle(a, b, len(places))
        yield places[at]
        heappush(gaps, _gap(a, at, len(places)))
        heappush(gaps, _gap(at, b, len(places)))


def _gap(a: int, b: int, n: int) -> tuple[int, int, int]:
    """For a heap: the widest first."""
    is_open = a < 0 or b == n
    return -(2 * (b - a) - 1 if is_open else b - a), a, b


def _middle(a: int, b: int, n: int) -> int:
    if a < 0:
        return b - max(1, 2 * (b - a) // 3)
    if b == n:
        return a + max(1, 2 * (b - a) // 3)
    return (a + b) // 2
