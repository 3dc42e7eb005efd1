"""Jobs for tests: short streets, a model under frozen prices, and executors that fail as they are told."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from budgetseg.app.job import Job
from budgetseg.app.labeller import Order
from budgetseg.app.manifest import Row
from budgetseg.app.model import LoadedModel
from budgetseg.app.output import Wanted
from budgetseg.app.videos import find_videos
from budgetseg.app.worker import Setup
from budgetseg.engine.request import Request
from budgetseg.executors.core import Executor, Outcome
from budgetseg.executors.local import Local
from budgetseg.networks.backends.registry import REFERENCE
from budgetseg.networks.backends.registry import Wanted as Backend
from budgetseg.processes import Answer
from budgetseg.timing.clock import Clock, ManualClock
from budgetseg.types import Budget
from tests.app.simulated import load_simulated

FILES = Wanted(overlay=False)


def simulated(model: str, threads: int, policy: str | None, select: str | None, space: str, **_: object) -> LoadedModel:
    """A worker's model under frozen prices."""
    assert policy is select is None
    return load_simulated(Path(model), threads, space)


def setup_of(model: Path) -> Setup:
    """Workers that label by frozen prices."""
    return Setup(str(model), wanted=Backend(REFERENCE), load=simulated)


def order_of(videos: Sequence[Path], output: Path, *budgets: Budget, **options: Any) -> Order:
    return Order(videos, Request(budgets or (Budget(0.5, is_share=True),)), output=output, wanted=FILES, **options)


def job_of(order: Order, model: Path, **options: Any) -> Job:
    """A job; its clock stands still unless another one is given."""
    options = {"clock": ManualClock(), **options}
    return Job(order, find_videos(order.videos), setup_of(model), **options)


def carry_out(order: Order, model: Path, executor: Executor | None = None, **options: Any) -> list[Row]:
    with executor or Local() as workers:
        return job_of(order, model, **options).run(workers)


class Playing(Local):
    """Does calls in this process, unless `play` has an answer, or says that the worker hangs by returning None."""

    def __init__(self, play: Callable[[str, tuple[Any, ...]], Answer | bool], clock: Clock | None = None) -> None:
        super().__init__()
        self.play = play
        self.clock = clock
        self.calls: list[tuple[str, tuple[Any, ...]]] = []
        self.cancelled: list[int] = []

    def submit(self, function: Callable[..., Any], *args: Any) -> int:
        self.calls.append((function.__name__, args))
        return super().submit(function, *args)

    def wait(self, timeout_s: float) -> list[Outcome]:
        if self._next is None:
            return []
        function, args = self._next
        answer = self.play(function.__name__, args)
        if answer is True:
            return super().wait(timeout_s)
        if answer is False:  # it hangs
            if isinstance(self.clock, ManualClock):
                self.clock.advance(timeout_s)
            return []
        assert isinstance(answer, Answer)
        self._next = None
        return [Outcome(self._n_calls, answer)]

    def cancel(self, number: int) -> None:
        self.cancelled.append(number)
        super().cancel(number)
