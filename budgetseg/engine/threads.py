"""Threads that work through one list; the calling one is among them, so that it sees how busy the machine is."""

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
    """Do something with one item after the other as long as it `fits`; how many it was done with.

    Items may come from a generator: no two threads ask for one at the same time. Where one thread fails, the others
    stop, and its exception is raised.
    """
    source, lock = iter(items), Lock()
    n_done, failed = 0, False

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
    """OpenCV uses one thread for each call in the block: ours are enough."""
    before = cv2.getNumThreads()
    cv2.setNumThreads(1)
    try:
        yield
    finally:
        cv2.setNumThreads(before)
