"""Clocks count the seconds since a run began. A run uses no other time.

WallClock     the system's clock
CostClock     for simulated runs: the sum of the predicted seconds of all work
ManualClock   for tests: moved by hand
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
    """Whether time passes by predicted costs. Such runs use one thread, so that they can be repeated exactly."""

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
        """A block whose time does not count: the clock runs in it, and continues after it from where the block began.

        Blocks may be nested or in several threads; time that they have in common is left out once.
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

    def computed_s(self) -> float:
        """Seconds that the calling thread has computed, without those in which it waited for a core."""
        return self.now_s()

    def charge(self, seconds: float) -> None:  # noqa: B027 - real clocks run by themselves
        """Add the predicted seconds of some work to a simulated clock; other clocks ignore it."""

    def wait(self, event: Event, seconds: float) -> bool:
        """Wait for an event, for `seconds` at most. Returns whether it was set."""
        return event.wait(seconds)


class WallClock(Clock):
    """The system's clock; it starts when it is created."""

    def __init__(self) -> None:
        super().__init__()
        self._started = time.perf_counter()

    def _read_s(self) -> float:
        return time.perf_counter() - self._started

    def computed_s(self) -> float:
        """Seconds that the calling thread has computed, without those in which it waited for a core."""
        return thread_s()


class CostClock(Clock):
    """The sum of all seconds that were charged; it does not depend on the machine."""

    is_simulated = True

    def __init__(self) -> None:
        super().__init__()
        self._spent_s = 0.0
        self._lock = Lock()

    def _read_s(self) -> float:
        return self._spent_s

    def charge(self, seconds: float) -> None:
        """Add the predicted seconds of some work."""
        with self._lock:
            self._spent_s += seconds


class ManualClock(Clock):
    """A clock for tests: `advance` moves it, from any thread."""

    POLL_S = 1e-3  # real seconds for which `wait` waits for an event; long enough for other threads to continue

    def __init__(self) -> None:
        super().__init__()
        self._now_s = 0.0
        self._lock = Lock()

    def _read_s(self) -> float:
        return self._now_s

    def advance(self, seconds: float) -> None:
        """Move the clock forward."""
        with self._lock:
            self._now_s += seconds

    def wait(self, event: Event, seconds: float) -> bool:  # noqa: ARG002 - callers read the clock again
        """Wait a moment of real time, in which another thread may move the clock. Returns whether the event was set."""
        return event.wait(self.POLL_S)


def thread_s() -> float:
    """CPU seconds of the calling thread, which do not depend on other programs."""
    return time.thread_time()


def process_s() -> float:
    """CPU seconds of all threads of this process."""
    return time.process_time()
