"""Work in this process, one call after the other."""

from collections.abc import Callable
from typing import Any

from budgetseg.executors.core import Executor, Outcome
from budgetseg.processes import Answer

__all__ = ["Local"]


class Local(Executor):
    """Does each call when its outcome is waited for, for as long as it takes."""

    name = "local"
    n_workers = 1

    def __init__(self) -> None:
        self._n_calls = 0
        self._next: tuple[Callable[..., Any], tuple[Any, ...]] | None = None

    @property
    def n_idle(self) -> int:
        """One, unless there is a call to do."""
        return int(self._next is None)

    def submit(self, function: Callable[..., Any], *args: Any) -> int:
        """Keep a call for `wait`; its number."""
        self._next = function, args
        self._n_calls += 1
        return self._n_calls

    def wait(self, timeout_s: float) -> list[Outcome]:  # noqa: ARG002 - what has begun is done
        """Do the call that there is."""
        if self._next is None:
            return []
        function, args = self._next
        self._next = None
        try:
            answer = Answer(function(*args))
        except Exception as error:
            answer = Answer(error=error)
        return [Outcome(self._n_calls, answer)]

    def cancel(self, number: int) -> None:
        """Forget a call that has not begun."""
        if number == self._n_calls:
            self._next = None

    def close(self) -> None:
        """Forget the call that there is."""
        self._next = None
