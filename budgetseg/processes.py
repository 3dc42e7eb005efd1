"""Work in other processes, with progress, that ends when we end."""

import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing import get_context, parent_process
from multiprocessing.connection import Connection, wait
from threading import Thread
from typing import Any, TypeVar

from budgetseg.errors import BudgetsegError

__all__ = ["Answer", "Workers", "advance_parent", "in_processes"]

Result = TypeVar("Result")

_SPAWN = get_context("spawn")  # forked children would share the threads' locks of numba and OpenCV
_KILLED = "a process was killed, perhaps for want of memory; start again to go on, with fewer threads to need less"
_done: Any = None  # in a worker: the counter that it shares with its parent


@dataclass(frozen=True)
class Answer:
    """What came of a call.

    Attributes
    ----------
    value : that the call returned
    error : that it raised; None for none
    is_lost : whether its process ended before it did
    """

    value: Any = None
    error: BaseException | None = None
    is_lost: bool = False


class _Worker:
    """A process that does one call after the other."""

    def __init__(self, counter: Any) -> None:
        self.pipe, theirs = _SPAWN.Pipe()
        self.process = _SPAWN.Process(target=_serve, args=(theirs, counter), daemon=True)
        self.process.start()
        theirs.close()  # so that the end of the process is the end of the pipe

    def answer(self) -> Answer:
        """What came of its call, which is over."""
        try:
            answer: Answer = self.pipe.recv()
            return answer
        except (EOFError, OSError):
            return Answer(is_lost=True)

    def end(self) -> None:
        self.process.kill()
        self.process.join()
        self.pipe.close()


class Workers:
    """Processes, each of which does one call at a time, and can be ended in the middle of it. A context.

    They start with their first call, and end with the context, or with our own end, even by SIGKILL.

    Parameters
    ----------
    n : number of processes
    counter : for `advance_parent`
    """

    def __init__(self, n: int, counter: Any = None) -> None:
        self._counter = counter
        self._workers: list[_Worker | None] = [None] * n
        self._busy: set[int] = set()

    def __len__(self) -> int:
        return len(self._workers)

    @property
    def idle(self) -> list[int]:
        """Numbers of the processes that do nothing."""
        return [k for k in range(len(self)) if k not in self._busy]

    def begin(self, k: int, function: Callable[..., Any], *args: Any) -> None:
        """Let process k, which must be idle, do a call; function and arguments are pickled."""
        worker = self._workers[k] or _Worker(self._counter)
        self._workers[k] = worker
        self._busy.add(k)
        with suppress(OSError):  # it was killed while it was idle: `wait` finds that out
            worker.pipe.send((function, args))

    def wait(self, timeout_s: float) -> list[tuple[int, Answer]]:
        """Numbers of processes whose call is over, and what came of it; waits for the first of them, but not longer."""
        pipes: dict[Any, int] = {}
        for k in sorted(self._busy):
            worker = self._workers[k]
            assert worker is not None
            pipes[worker.pipe] = k
        found = []
        for pipe in wait(list(pipes), timeout_s):
            k = pipes[pipe]
            worker = self._workers[k]
            assert worker is not None
            answer = worker.answer()
            self._busy.discard(k)
            if answer.is_lost:
                self.end(k)
            found.append((k, answer))
        return found

    def end(self, k: int) -> None:
        """End process k, in the middle of its call if it has one; its next call has another process."""
        worker = self._workers[k]
        if worker is not None:
            worker.end()
        self._workers[k] = None
        self._busy.discard(k)

    def __enter__(self) -> "Workers":
        return self

    def __exit__(self, *_: object) -> None:
        for k in range(len(self)):
            self.end(k)


def in_processes(
    work: Callable[..., Result], jobs: Sequence[tuple[Any, ...]], n: int, advance: Callable[[int], None]
) -> list[Result]:
    """Results of `work(*job)` for each job, n at a time, in order; jobs tell of progress by `advance_parent`.

    An error of one, or Ctrl-C, ends all of them at once, in the middle of their work.
    """
    counter = _SPAWN.Value("q", 0)
    reported = 0
    found: dict[int, Result] = {}
    doing: dict[int, int] = {}
    left = iter(range(len(jobs)))
    with Workers(min(n, len(jobs)), counter) as workers:
        while len(found) < len(jobs):
            for k, job in zip(workers.idle, left, strict=False):
                workers.begin(k, work, *jobs[job])
                doing[k] = job
            for k, answer in workers.wait(0.5):
                if answer.is_lost:
                    raise BudgetsegError(_KILLED)
                if answer.error is not None:
                    raise answer.error
                found[doing.pop(k)] = answer.value
            now = counter.value
            advance(now - reported)
            reported = now
    return [found[job] for job in range(len(jobs))]


def advance_parent(n: int) -> None:
    """In a job of `in_processes`: so many more units are done."""
    if _done is not None:  # nobody is reported where the job runs without a parent
        with _done.get_lock():
            _done.value += n


def _serve(calls: Connection, counter: Any) -> None:
    """Do calls, one after the other, until we are ended."""
    global _done
    _done = counter
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches us too, but the parent ends us, and says so once
    Thread(target=_end_with_parent, daemon=True).start()
    while True:
        try:
            function, args = calls.recv()
        except EOFError:  # the parent has closed its end
            return
        try:
            answer = Answer(function(*args))
        except Exception as error:
            answer = Answer(error=error)
        calls.send(answer)


def _end_with_parent() -> None:
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)  # otherwise a worker would wait forever for the next job
