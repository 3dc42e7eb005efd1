"""Time that is up while something is being made: what takes long can be cut off."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Event, Thread
from typing import Protocol

__all__ = ["LateError", "cutting_off"]

OFTEN_S, SELDOM_S = 1e-3, 1.0  # how long to wait before looking again: when time is up, and at most


class LateError(Exception):
    """Time is up, and something is still to be made."""


class Cuttable(Protocol):
    """Something that works, in this thread or in others, and can be told to stop."""

    def cut_off(self) -> None:
        """Let everything that is under way end with LateError, soon."""


@contextmanager
def cutting_off(workers: Sequence[Cuttable], left_s: Callable[[], float]) -> Iterator[None]:
    """Cut off what is under way in the block as soon as no seconds are left."""
    over = Event()

    def watch() -> None:
        while not over.wait(min(max(left_s(), OFTEN_S), SELDOM_S)):
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
