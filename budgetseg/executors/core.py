"""What every executor does: take calls, one for each idle worker, and give back what came of them."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Self

from budgetseg.processes import Answer

__all__ = ["Executor", "Outcome"]


@dataclass(frozen=True)
class Outcome:
    """A call that is over.

    Attributes
    ----------
    number : of the call, as `submit` gave it
    answer : what came of it
    """

    number: int
    answer: Answer


class Executor(ABC):
    """Does calls of functions, each on a worker of its own. A context: leaving it ends all that is under way.

    Functions and arguments are pickled: functions by their names, arguments as paths and plain settings. What a worker
    has loaded, it keeps for its next calls.
    """

    name: str

    @property
    @abstractmethod
    def n_workers(self) -> int:
        """Number of calls that can be under way."""

    @property
    @abstractmethod
    def n_idle(self) -> int:
        """Number of calls that may be submitted now."""

    @abstractmethod
    def submit(self, function: Callable[..., Any], *args: Any) -> int:
        """Begin a call on an idle worker; its number."""

    @abstractmethod
    def wait(self, timeout_s: float) -> list[Outcome]:
        """Calls that are over since the last time; waits for the first of them, but not longer."""

    @abstractmethod
    def cancel(self, number: int) -> None:
        """End a call that is under way, and the worker with it: another one takes its place. It has no outcome."""

    @abstractmethod
    def close(self) -> None:
        """End all that is under way."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
