"""Work in processes of this machine."""

from collections.abc import Callable
from typing import Any

from budgetseg.executors.core import Executor, Outcome
from budgetseg.processes import Workers

__all__ = ["Processes"]


class Processes(Executor):
    """Does calls in n processes of this machine."""

    name = "processes"

    def __init__(self, n: int) -> None:
        self._workers = Workers(n)
        self._n_calls = 0
        self._doing: dict[int, int] = {}  # by process, the number of its call

    @property
    def n_workers(self) -> int:
        """Number of processes."""
        return len(self._workers)

    @property
    def n_idle(self) -> int:
        """Number of processes that do nothing."""
        return len(self._workers.idle)

    def submit(self, function: Callable[..., Any], *args: Any) -> int:
        """Begin a call in an idle process; its number."""
        self._n_calls += 1
        k = self._workers.idle[0]
        self._workers.begin(k, function, *args)
        self._doing[k] = self._n_calls
        return self._n_calls

    def wait(self, timeout_s: float) -> list[Outcome]:
        """Calls that are over since the last time; waits for the first of them, but not longer."""
        return [Outcome(self._doing.pop(k), answer) for k, answer in self._workers.wait(timeout_s)]

    def cancel(self, number: int) -> None:
        """End the process of a call."""
        for k, own in list(self._doing.items()):
            if own == number:
                del self._doing[k]
                self._workers.end(k)

    def close(self) -> None:
        """End all processes."""
        self._workers.__exit__()
