"""Which key frames each frame of a window hears, and about how many."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from budgetseg.frames.plan import REACH

__all__ = ["WORTH", "heard", "n_heard", "reach_at"]

WORTH = {"dcnn": 0.25}
"""What networks count where there is another; 1 for all that are not named."""


def heard(keys: Mapping[str, Sequence[int]], n_frames: int, apart: float = 1.0) -> list[list[tuple[str, int]]]:
    """For each frame the networks and key frames that it hears: the nearest on both sides, and all within reach.

    A key frame hears itself and those within reach. Of a network that counts less than another, only those are heard.
    Frames lie `apart` as so many of usual video. Where none is within reach of another, key frames hear none beside,
    and all others the nearest of every network.
    """
    reach = reach_at(apart)
    alone = set[int]().union(*keys.values()) if reach == 0 else set[int]()
    hears: list[list[tuple[str, int]]] = [[] for _ in range(n_frames)]
    best = max((WORTH.get(network, 1.0) for network in keys), default=1.0)
    for network, places in keys.items():
        is_best = WORTH.get(network, 1.0) == best or reach == 0
        for t, own in enumerate(hears):
            first, end = bisect_left(places, t - reach), bisect_right(places, t + reach)
            after = bisect_left(places, t)
            if is_best and t not in alone and (after == len(places) or places[after] != t):
                first, end = min(first, max(after - 1, 0)), max(end, min(after + 1, len(places)))
            own.extend((network, key) for key in places[first:end])
    return hears


def reach_at(apart: float) -> int:
    """From how many frames away key frames are heard beside the nearest, where frames lie so far apart."""
    return int(REACH / apart)


def n_heard(frames_a_key: float, apart: float = 1.0) -> float:
    """About how many key frames a frame hears, where every so many are key frames; those hear none beside themselves.

    Unless others are within reach.
    """
    reach, every = reach_at(apart), max(frames_a_key, 1.0)
    return (2 * reach + 1) / every if reach >= 1 and every < reach + 1 else 2.0 - 2.0 / every
