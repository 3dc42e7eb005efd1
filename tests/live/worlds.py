"""Streams under a clock that charges prices: cameras, networks and loops whose every second is known."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice

import numpy as np

from budgetseg.live.arrivals import Inbox
from budgetseg.live.ask import Question, SimulatedAsker
from budgetseg.live.loop import Live, LiveFrame
from budgetseg.live.settings import LiveSettings
from budgetseg.live.sources import ScheduledFeed
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import CostClock
from budgetseg.types import Float32, UInt8
from tests.spaces.frames.worlds import CELLS, CLASSES, SECONDS, SHARES, faster, frozen_prices, shades, street

__all__ = ["SECONDS", "Seeing", "camera", "drive", "faster", "live", "seen", "space", "street"]

CARRIED_S = SECONDS["flow"] + SECONDS["fusing"] + SECONDS["pixels"]
"""What one carried frame takes here, of one source."""


class Seeing:
    """A network that sees shades of grey.

    Parameters
    ----------
    sharp : how well it tells them apart
    fails_from : number of the call from which on it fails; None for never
    off : pixels by which it sees all too far to the right
    """

    shape = (*CELLS, len(CLASSES))

    def __init__(self, sharp: float = 8.0, fails_from: int | None = None, off: int = 0) -> None:
        self.n_calls = 0
        self._sharp = sharp
        self._fails_from = fails_from
        self._off = off

    def __call__(self, frame: UInt8) -> Float32:
        self.n_calls += 1
        if self._fails_from is not None and self.n_calls > self._fails_from:
            raise RuntimeError("no more")
        return shades(np.roll(frame, self._off, axis=1), self._sharp)

    def cut_off(self) -> None:
        """It is never cut off here."""


def space(seconds: Mapping[str, float] = SECONDS, **networks: Seeing) -> Frames:
    """Two networks that cost what is said, or those that are given."""
    found = networks or {"small": Seeing(), "large": Seeing(sharp=20.0)}
    return Frames(found, SHARES, frozen_prices(seconds))


def camera(
    frames: Sequence[UInt8] | UInt8, rate: float, n_frames: int | None = None, begins_s: float = 0.0
) -> Iterator[tuple[float, UInt8]]:
    """Frames forth and back again and again, so many a second."""
    there = [*range(len(frames)), *range(len(frames) - 2, 0, -1)] or [0]
    every = (frames[there[k % len(there)]] for k in range(10**9))
    for k, frame in enumerate(every if n_frames is None else islice(every, n_frames)):
        yield begins_s + k / rate, frame


def live(
    sources: Sequence[Iterable[tuple[float, UInt8]]],
    latency_s: float = 0.1,
    own: Frames | None = None,
    settings: LiveSettings | None = None,
    *,
    beside: int = 1,
    slower: Callable[[float], float] = lambda _: 1.0,
    clock: CostClock | None = None,
) -> Live:
    """A loop whose networks answer after their prices, times `slower` at that time."""
    clock = clock or CostClock()
    own = own or space()
    settings = settings or LiveSettings()
    costs = own.costs(1)

    def takes_s(question: Question) -> float:
        name = own.sources[question.known.network]
        return costs.network_s(name) * slower(question.asked_s)

    feeds = [ScheduledFeed(f"cam{k}", Inbox(settings.waiting), frames) for k, frames in enumerate(sources)]
    asker = SimulatedAsker(clock, takes_s)
    return Live(feeds, lambda _: own, latency_s, clock, asker, settings=settings, beside=beside)


def seen(loop: Live) -> list[LiveFrame]:
    """All frames of a loop, to the end of its sources."""
    return list(loop)


def drive(n_frames: int = 12, seed: int = 3) -> UInt8:
    """A street in motion, (T, H, W, 3)."""
    return np.asarray(street(n_frames, seed=seed))
