"""Tell a caller how a run goes on, from the question whether to stop that the run asks again and again."""

from collections.abc import Callable
from threading import Lock

from budgetseg.timing.clock import Clock, WallClock

__all__ = ["Progress", "Tell"]

Tell = Callable[[float, float], None]
"""Called with the seconds spent so far, and those of the budget; infinity for no bound."""


class Progress:
    """Calls a function now and then while a run asks whether it should stop.

    Parameters
    ----------
    tell : called with the seconds since the first question, and those of the budget
    budget_s : seconds of the largest budget
    stopped : what answers the question
    clock : that is made at the first question
    every_s : seconds between two calls, at least
    """

    def __init__(
        self,
        tell: Tell,
        budget_s: float,
        stopped: Callable[[], bool] = lambda: False,
        clock: Callable[[], Clock] = WallClock,
        every_s: float = 0.1,
    ) -> None:
        self._tell = tell
        self._budget_s = budget_s
        self._stopped = stopped
        self._make = clock
        self._every_s = every_s
        self._clock: Clock | None = None
        self._next_s = 0.0
        self._lock = Lock()

    def stopped(self) -> bool:
        """Whether the run should stop; tells how far it is. Threads that ask while one tells do not wait."""
        if self._lock.acquire(blocking=False):
            try:
                self._tick()
            finally:
                self._lock.release()
        return self._stopped()

    def finish(self, spent_s: float) -> None:
        """Tell that the run is done."""
        self._tell(spent_s, self._budget_s)

    def _tick(self) -> None:
        if self._clock is None:
            self._clock = self._make()
        now_s = self._clock.now_s()
        if now_s >= self._next_s:
            self._next_s = now_s + self._every_s
            self._tell(now_s, self._budget_s)
