"""A machine whose work takes as long as a test says, by a clock that only work moves."""

from collections.abc import Callable, Mapping
from pathlib import Path
from threading import Condition, Event

from budgetseg.timing.clock import ManualClock
from budgetseg.timing.prices import Prices
from budgetseg.timing.slowdown import Slowdown

__all__ = ["LONG_S", "ChargedClock", "Machine", "Reported", "WatchedClock", "quiet_prices"]

LONG_S = 20.0
"""Real seconds after which a thread that should go on is taken to be stuck."""


class WatchedClock(ManualClock):
    """A manual clock that can wait until its watcher, who cuts off what is late, has seen the time."""

    def __init__(self) -> None:
        super().__init__()
        self._n_waits = 0
        self._waits = Condition()

    def wait(self, event: Event, seconds: float) -> bool:
        """Count the call: whoever waits has looked at the clock before, and will look again."""
        with self._waits:
            self._n_waits += 1
            self._waits.notify_all()
        return super().wait(event, seconds)

    def advance_seen(self, seconds: float) -> None:
        """Let time pass, and the watcher look at it; only for work that is watched."""
        self.advance(seconds)
        with self._waits:
            # The next wait may follow a look from before; between it and the one after it the watcher looked.
            enough = self._n_waits + 2
            assert self._waits.wait_for(lambda: self._n_waits >= enough, LONG_S), "nobody watches the clock"


class Machine:
    """Lets work take its time: known seconds, times what this kind of work, and this moment, takes longer.

    Parameters
    ----------
    known_s : seconds of each kind of work, as prices know them
    slower : times that each kind truly takes longer
    pace : times that everything takes longer, by seconds of the clock

    Attributes
    ----------
    clock : is moved
    done : how often each kind of work was done
    """

    def __init__(
        self,
        known_s: Mapping[str, float],
        slower: Mapping[str, float] | None = None,
        pace: Callable[[float], float] = lambda _: 1.0,
    ) -> None:
        self.clock = WatchedClock()
        self.known_s = dict(known_s)
        self.slower = dict(slower or {})
        self.pace = pace
        self.done = dict.fromkeys(known_s, 0)

    def true_s(self, kind: str, n: float = 1.0) -> float:
        """Seconds that n pieces of a kind of work take now."""
        return n * self.known_s[kind] * self.slower.get(kind, 1.0) * self.pace(self.clock.now_s())

    def takes(self, kind: str, n: float = 1.0) -> None:
        """Let n pieces of a kind of work take their time."""
        self.clock.advance(self.true_s(kind, n))
        self.done[kind] += 1


class Reported(Slowdown):
    """A slowdown as the kernel would report it: how much longer everything takes, whenever it is looked at."""

    def __init__(self, clock: ManualClock, pace: Callable[[float], float]) -> None:
        super().__init__(Path("/nowhere"))
        self._clock = clock
        self._pace = pace

    def look(self) -> None:
        """Take in how busy the machine is."""
        self.factor = self._pace(self._clock.now_s())


def quiet_prices(rates: Mapping[str, float]) -> Prices:
    """Prices that learn, on a machine of which the kernel tells nothing."""
    prices = Prices(dict(rates))
    prices.slowdown = Slowdown(Path("/nowhere"))
    return prices


class ChargedClock(WatchedClock):
    """A clock that every stage moves by its known price, times what this moment takes longer.

    Parameters
    ----------
    pace : times that everything takes longer, by seconds of the clock

    Attributes
    ----------
    slowdown : what stages are predicted with, and so what their charges contain already
    """

    def __init__(self, pace: Callable[[float], float] = lambda _: 1.0) -> None:
        super().__init__()
        self.pace = pace
        self.slowdown = Slowdown(Path("/nowhere"))

    def take(self, known_s: float) -> None:
        """Let work pass that takes so long on an idle machine."""
        self.advance(known_s * self.pace(self.now_s()))

    def charge(self, seconds: float) -> None:
        """Let work of this price pass."""
        self.take(seconds / self.slowdown.factor)
