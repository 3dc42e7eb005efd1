"""Clocks: the seconds since a run began. A run knows no other time.

WallClock     the system's clock
CostClock     the sum of the prices of what was done: a simulated run
ManualClock   moved by hand: tests
"""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Event, Lock

__all__ = ["Clock", "CostClock", "ManualClock", "WallClock", "process_s", "thread_s"]


class Clock(ABC):
    """Seconds since a run began, without those in which the clock was paused."""

    is_simulated: bool = False
    """Whether time passes by what work is said to cost. Such runs are decided by one thread, so that they repeat."""

    def __init__(self) -> None:
        self._paused_s = 0.0
        self._n_pauses = 0
        self._pause_began_s = 0.0
        self._pause_lock = Lock()

    @abstractmethod
    def _read_s(self) -> float:
        """Seconds since the clock was made."""

    def now_s(self) -> float:
        """Seconds since the run began."""
        return self._read_s() - self._paused_s

    @contextmanager
    def paused(self) -> Iterator[None]:
        """A block that does not count: the clock runs in it, and goes on after it from where the block began.

        Blocks may lie in each other, or in several threads: what they have in common is left out once.
        """
        with self._pause_lock:
            if self._n_pauses == 0:
                self._pause_began_s = self._read_s()
            self._n_pauses += 1
        try:
            yield
        finally:
            with self._pause_lock:
                self._n_pauses -= 1
                if self._n_pauses == 0:
                    self._paused_s += self._read_s() - self._pause_began_s

    def charge(self, seconds: float) -> None:  # noqa: B027 - real clocks run by themselves
        """Let work of this price pass; only a simulated clock heeds it."""

    def wait(self, event: Event, seconds: float) -> bool:
        """Wait for an event, at most so many seconds; whether it was set."""
        return event.wait(seconds)


class WallClock(Clock):
    """The system's clock, started when it is made."""

    def __init__(self) -> None:
        super().__init__()
        self._started = time.perf_counter()

    def _read_s(self) -> float:
        return time.perf_counter() - self._started


class CostClock(Clock):
    """The sum of all prices that were charged, however fast the machine is."""

    is_simulated = True

    def __init__(self) -> None:
        super().__init__()
        self._spent_s = 0.0
        self._lock = Lock()

    def _read_s(self) -> float:
        return self._spent_s

    def charge(self, seconds: float) -> None:
        """Let work of this price pass."""
        with self._lock:
            self._spent_s += seconds


class ManualClock(Clock):
    """A clock for tests: `advance` moves it, from any thread."""

    POLL_S = 1e-3  # real seconds between two looks at a waiting event; long enough for other threads to go on

    def __init__(self) -> None:
        super().__init__()
        self._now_s = 0.0
        self._lock = Lock()

    def _read_s(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        """Let time pass."""
        with self._lock:
            self._now_s += seconds

    def wait(self, event: Event, seconds: float) -> bool:  # noqa: ARG002 - whoever waits looks at the clock again
        """Wait a moment: this clock may have been moved."""
        return event.wait(self.POLL_S)


def thread_s() -> float:
    """CPU seconds of the calling thread: what other programs do is not counted."""
    return time.thread_time()


def process_s() -> float:
    """CPU seconds of this process, all threads."""
    return time.process_time()
