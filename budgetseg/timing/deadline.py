"""Deadlines, and cutting off long work when its time is up."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Protocol

from budgetseg.timing.clock import Clock

__all__ = ["Cuttable", "Deadline", "LateError", "cutting_off"]


class LateError(Exception):
    """Time was up before something was finished."""


@dataclass(eq=False)
class Deadline:
    """The moment at which work must end; it can be moved.

    Attributes
    ----------
    clock : measures it
    at_s : the moment, in seconds of the clock; infinity for no bound
    """

    clock: Clock
    at_s: float = math.inf

    def is_over(self) -> bool:
        """Whether the moment has passed."""
        return self.clock.now_s() > self.at_s


class Cuttable(Protocol):
    """Something whose work, in any thread, can be stopped."""

    def cut_off(self) -> None:
        """Make every call that is under way end soon, with LateError."""


@contextmanager
def cutting_off(
    workers: Sequence[Cuttable],
    left_s: Callable[[], float],
    clock: Clock,
    shortest_s: float = 1e-3,
    longest_s: float = 1.0,
) -> Iterator[None]:
    """Cut off work that is under way in the block as soon as `left_s` returns 0.

    Parameters
    ----------
    workers : stopped when time is up
    left_s : returns the seconds left, by the clock
    clock : that is waited by
    shortest_s, longest_s : bounds, in seconds, of the wait between two calls of `left_s`, since time may run out sooner
        than it returned
    """
    over = Event()

    def watch() -> None:
        while not clock.wait(over, min(max(left_s(), shortest_s), longest_s)):
            if left_s() <= 0:
                for worker in workers:
                    worker.cut_off()

    watcher = Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield
    finally:
        over.set()
        watcher.join()
