"""Work in other processes, with progress, that ends when we end."""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context
from typing import Any, TypeVar

from budgetseg.errors import BudgetsegError

__all__ = ["advance_parent", "in_processes", "process_pool"]

Result = TypeVar("Result")

_SPAWN = get_context("spawn")  # forked children would share the threads' locks of numba and OpenCV
_done: Any = None  # in a worker: the counter that it shares with its parent


@contextmanager
def process_pool(n: int, **settings: Any) -> Iterator[ProcessPoolExecutor]:
    """A pool of n processes; an error or Ctrl-C in the block ends them at once, in the middle of their work."""
    others = active_children()
    with ProcessPoolExecutor(n, mp_context=_SPAWN, **settings) as pool:
        try:
            yield pool
        except BaseException:
            for child in set(active_children()).difference(others):
                child.terminate()  # leaving the block would wait until they are done
            raise


def in_processes(
    work: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], n: int, advance: Callable[[int], None]
) -> list[Result]:
    """Results of `work(*job)` for each job, n at a time, in order; jobs tell of progress by `advance_parent`."""
    counter = _SPAWN.Value("q", 0)
    told = 0
    with process_pool(min(n, max(len(jobs), 1)), initializer=_share, initargs=(counter,)) as pool:
        futures = [pool.submit(work, *job) for job in jobs]
        waiting: set[Future[Result]] = set(futures)
        while waiting:
            finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                _check(future)
            now = counter.value
            advance(now - told)
            told = now
        return [future.result() for future in futures]


def advance_parent(n: int) -> None:
    """In a job of `in_processes`: so many more units are done."""
    with _done.get_lock():
        _done.value += n


def _share(counter: Any) -> None:
    global _done
    _done = counter


def _check(future: "Future[Any]") -> None:
    try:
        future.result()
    except BrokenProcessPool:
        raise BudgetsegError(
            "a process was killed, perhaps for want of memory; start again to go on, with fewer threads to need less"
        ) from None
