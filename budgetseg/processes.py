"""Work in other processes, with progress, that ends when we end."""

import os
import signal
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from multiprocessing import active_children, get_context, parent_process
from threading import Thread
from typing import Any, TypeVar

from budgetseg.errors import BudgetsegError

__all__ = ["advance_parent", "in_processes", "process_pool"]

Result = TypeVar("Result")

_SPAWN = get_context("spawn")  # forked children would share the threads' locks of numba and OpenCV
_KILLED = "a process was killed, perhaps for want of memory; start again to go on, with fewer threads to need less"
_done: Any = None  # in a worker: the counter that it shares with its parent


@contextmanager
def process_pool(n: int, counter: Any = None) -> Iterator[ProcessPoolExecutor]:
    """A pool of n processes; an error or Ctrl-C in the block ends them at once, in the middle of their work.

    So does our own end, even by SIGKILL. The counter is for `advance_parent`.
    """
    others = set(active_children())
    with ProcessPoolExecutor(n, mp_context=_SPAWN, initializer=_begin, initargs=(counter,)) as pool:
        try:
            yield pool
        except BaseException as error:
            for child in set(active_children()) - others:
                child.terminate()  # leaving the block would wait until they are done
            if isinstance(error, BrokenProcessPool):
                raise BudgetsegError(_KILLED) from None
            raise


def in_processes(
    work: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], n: int, advance: Callable[[int], None]
) -> list[Result]:
    """Results of `work(*job)` for each job, n at a time, in order; jobs tell of progress by `advance_parent`."""
    counter = _SPAWN.Value("q", 0)
    reported = 0
    others = set(active_children())
    with process_pool(min(n, max(len(jobs), 1)), counter) as pool:
        futures = [pool.submit(work, *job) for job in jobs]
        workers = set(active_children()) - others
        waiting: set[Future[Result]] = set(futures)
        while waiting:
            finished, waiting = wait(waiting, timeout=0.5, return_when=FIRST_COMPLETED)
            for future in finished:
                future.result()
            if not all(worker.is_alive() for worker in workers):
                raise BrokenProcessPool  # the pool overlooks the end of a worker until another one has a result
            now = counter.value
            advance(now - reported)
            reported = now
        return [future.result() for future in futures]


def advance_parent(n: int) -> None:
    """In a job of `in_processes`: so many more units are done."""
    if _done is not None:  # nobody is reported where the job runs without a parent
        with _done.get_lock():
            _done.value += n


def _begin(counter: Any) -> None:
    """The first thing that a worker does."""
    global _done
    _done = counter
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches us too, but the parent ends us, and says so once
    Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # otherwise a worker would wait forever for the next job
