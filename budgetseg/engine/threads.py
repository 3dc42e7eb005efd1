"""Threads that work through one list. The calling thread is one of them, so that it sees how busy the machine is."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Lock
from typing import TypeVar

import cv2

__all__ = ["for_each", "one_thread_each"]

Item = TypeVar("Item")


def for_each(
    items: Iterable[Item], do: Callable[[Item], object], threads: int, fits: Callable[[], bool] = lambda: True
) -> int:
    """Call `do` with each item until there are none, or `fits` returns False. Returns the number of calls begun.

    Items may come from a generator: no two threads ask for one at the same time. If `do` raises in one thread, the
    others stop after their current item, and the exception is raised here.
    """
    source = iter(items)
    lock = Lock()
    n_done = 0
    failed = False

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
            failed = True
            raise

    if threads == 1:
        work()
        return n_done
    with ThreadPoolExecutor(threads - 1) as pool:
        others = [pool.submit(work) for _ in range(threads - 1)]
        work()
    for other in others:
        other.result()
    return n_done


@contextmanager
def one_thread_each() -> Iterator[None]:
    """Let OpenCV use one thread per call in the block, since the project runs threads of its own."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
