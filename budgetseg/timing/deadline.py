"""Work that takes long can be cut off when its time is up."""

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Protocol

from budgetseg.timing.clock import Clock

__all__ = ["Cuttable", "Deadline", "LateError", "cutting_off"]


class LateError(Exception):
    """Time is up, and something is still to be made."""


@dataclass(eq=False)
class Deadline:
    """A moment that work must end at; it can be moved.

    Attributes
    ----------
    clock : that it is counted by
    at_s : seconds of the clock; infinity for no bound
    """

    clock: Clock
    at_s: float = math.inf

    def is_over(self) -> bool:
        """Whether the moment has passed."""
        return self.clock.now_s() > self.at_s


class Cuttable(Protocol):
    """Something that works, in this thread or in others, and can be told to stop."""

    def cut_off(self) -> None:
        """Let every call that is under way end with LateError, soon."""


@contextmanager
def cutting_off(
    workers: Sequence[Cuttable],
    left_s: Callable[[], float],
    clock: Clock,
    shortest_s: float = 1e-3,
    longest_s: float = 1.0,
) -> Iterator[None]:
    """Cut off what is under way in the block as soon as `left_s` is 0.

    Parameters
    ----------
    workers : told to stop
    left_s : seconds left, by the clock
    clock : waited by
    shortest_s, longest_s : bounds of the wait between two looks at `left_s`; time may run out sooner than it said
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
