"""Threads that work on one list; the calling one is among them, so that it sees how busy the machine is."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from types import TracebackType
from typing import Self, TypeVar

import cv2

__all__ = ["Crew", "one_thread_each"]

Item = TypeVar("Item")


class Crew:
    """So many threads at work, for as long as a `with` block.

    Parameters
    ----------
    threads : the calling one included
    """

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(max(threads - 1, 1))

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    def each(self, items: Iterable[Item], do: Callable[[Item], object], fits: Callable[[], bool] = lambda: True) -> int:
        """Do something with one item after the other as long as it `fits`; how many it was done with.

        Items may come from a generator: no two threads ask for one at the same time.
        """
        source, lock, n_done, failed = iter(items), Lock(), 0, False

        def work() -> None:
            nonlocal n_done, failed
            try:
                while True:
                    with lock:
                        if failed or not fits():
                            return
                        try:
                            item = next(source)
                        except StopIteration:
                            return
                        n_done += 1
                    do(item)
            except BaseException:
                failed = True  # the others need not go on
                raise

        others = [self._pool.submit(work) for _ in range(self.threads - 1)]
        try:
            work()
        finally:
            for other in others:
                other.result()
        return n_done


@contextmanager
def one_thread_each() -> Iterator[None]:
    """OpenCV uses one thread for each call: ours are enough."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
