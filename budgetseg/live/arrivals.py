"""Frames that have arrived and wait for labels: few of them, the newest first where there is no time for all."""

import math
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from threading import Event, Lock

from budgetseg.types import UInt8

__all__ = ["Arrival", "Inbox"]


@dataclass(frozen=True, eq=False)
class Arrival:
    """A frame that has arrived.

    Attributes
    ----------
    number : of the frame among those that arrived from its source, from 0
    arrived_s : when it arrived, by the clock of the loop
    time_s : its time as the source states it, which may jump
    read : returns its pixels, (H, W, 3) uint8, RGB
    """

    number: int
    arrived_s: float
    time_s: float
    read: Callable[[], UInt8]


class Inbox:
    """Frames of one source that wait; one thread puts them in, another takes them out.

    Parameters
    ----------
    most : frames that wait, at most; the oldest are dropped
    wake : set whenever there is something new
    most_fps : frames a second that are let in, at most; the others count nowhere
    weight : of the last frame in what is taken to be usual

    Attributes
    ----------
    n_arrived, n_dropped : frames so far, and those among them that nobody will take
    is_over : whether no frame will follow
    interval_s : usual seconds from one frame to the next; 0 before there were two
    """

    def __init__(self, most: int, wake: Event | None = None, most_fps: float = math.inf, weight: float = 0.1) -> None:
        self.n_arrived = 0
        self.n_dropped = 0
        self.is_over = False
        self.interval_s = 0.0
        self._wake = wake or Event()
        self._weight = weight
        self._waiting: deque[Arrival] = deque()
        self._most = most
        self._last_s: float | None = None
        self._apart_s = 1 / most_fps
        self._due_s = -math.inf
        self._lock = Lock()

    def put(self, arrived_s: float, time_s: float, read: Callable[[], UInt8]) -> None:
        """Add a frame; the oldest is dropped where too many wait."""
        if arrived_s < self._due_s:
            return
        # Frames come a little early and late: of those at just the rate that is wanted, each is let in.
        self._due_s = max(self._due_s + self._apart_s, arrived_s - self._apart_s / 2)
        with self._lock:
            self._waiting.append(Arrival(self.n_arrived, arrived_s, time_s, read))
            self.n_arrived += 1
            self._learn_interval(arrived_s)
            if len(self._waiting) > self._most:
                self._waiting.popleft()
                self.n_dropped += 1
        self._wake.set()

    def _learn_interval(self, arrived_s: float) -> None:
        if self._last_s is not None:
            passed_s = arrived_s - self._last_s
            self.interval_s += (self._weight if self.interval_s else 1.0) * (passed_s - self.interval_s)
        self._last_s = arrived_s

    def close(self) -> None:
        """No frame will follow."""
        self.is_over = True
        self._wake.set()

    def begin(self) -> None:
        """Count from here on: what has arrived before is forgotten."""
        with self._lock:
            self._waiting.clear()
            self.n_arrived = self.n_dropped = 0

    def drop_all(self) -> None:
        """Nobody will take what waits."""
        with self._lock:
            self.n_dropped += len(self._waiting)
            self._waiting.clear()

    def first_s(self) -> float | None:
        """When the oldest waiting frame arrived; None where none waits."""
        with self._lock:
            return self._waiting[0].arrived_s if self._waiting else None

    def take(self, since_s: float, each_s: float, most_s: float) -> Arrival | None:
        """The frame to label now; None where there is none that can have labels in time.

        Waiting frames are taken in their order while all of them can be labelled soon, else the newest alone.

        Parameters
        ----------
        since_s : frames that arrived before cannot have labels in time
        each_s : seconds from one labelled frame to the next, with what is done with it
        most_s : seconds that all waiting frames together may take
        """
        with self._lock:
            n_before = len(self._waiting)
            if n_before > 1 and n_before * each_s > most_s:
                self._waiting = deque([self._waiting[-1]])
            while self._waiting and self._waiting[0].arrived_s < since_s:
                self._waiting.popleft()
            self.n_dropped += n_before - len(self._waiting)
            return self._waiting.popleft() if self._waiting else None
