"""Algorithm 1: decide, do, add, until time is up. Every run goes through it: labelling, replaying, simulating."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any, NamedTuple, Protocol

import numpy as np

from budgetseg.timing.clock import Clock
from budgetseg.timing.deadline import Cuttable, cutting_off
from budgetseg.types import NOTHING, Action, Batch, Float64

__all__ = ["LATE", "Listed", "Outcome", "Policy", "Record", "Workable", "spend"]

LATE = "late"
"""Why an action was not done: there was no time to end it."""


class Outcome(NamedTuple):
    """What came of a batch of K actions.

    Attributes
    ----------
    values : what the sources said; the state that did the batch knows how to read it
    spent_s : (K,) float64
    shared_s : (K,) float64, the part of that for what other actions can use, too
    missing : why there is no value, by number in the batch; `LATE`, or what went wrong
    """

    values: Any
    spent_s: Float64
    shared_s: Float64
    missing: dict[int, str] = {}  # noqa: RUF012 - nobody writes to this one


class Workable(Protocol):
    """The state of a run: it does actions, and knows what came of them."""

    def do(self, batch: Batch) -> Outcome:
        """Do a batch; several threads may be in here."""

    def add(self, batch: Batch, outcome: Outcome) -> None:
        """Take in what came of a batch; one thread at a time is in here."""

    def cuttable(self) -> Sequence[Cuttable]:
        """What can be told to stop when time is up."""


Policy = Callable[[Any, float], Batch]
"""Decides: from a state, and the seconds left for actions, to the next of them; an empty batch to stop."""


Record = Callable[[Batch, Outcome, float], None]
"""Is told of a batch, what came of it, and when it was decided, in seconds of the clock."""


class Listed:
    """A policy that follows a list: a replay is a run by it.

    Parameters
    ----------
    actions : what to do, in order
    """

    def __init__(self, actions: Sequence[Action]) -> None:
        self._left = iter(actions)

    def __call__(self, state: Any, left_s: float) -> Batch:  # noqa: ARG002 - a list heeds neither
        """The next of them."""
        action = next(self._left, None)
        return NOTHING if action is None else Batch.of([action], [0.0])


def spend(
    state: Workable,
    policy: Policy,
    clock: Clock,
    left_s: Callable[[], float],
    record: Record = lambda *_: None,
    threads: int = 1,
) -> None:
    """Decide and do until the policy stops.

    One thread decides at a time; actions are done side by side. What is under way when no seconds are left is cut off.
    Where something goes wrong in one thread, the others end what they are at, and the error is raised.

    Parameters
    ----------
    state : does actions, and is told of the outcomes
    policy : decides
    clock : of the run; a simulated one is served by one thread, so that runs repeat
    left_s : seconds left for actions, by the clock
    record : is told of everything that was done
    threads : that decide and do
    """
    lock = Lock()
    has_failed = Event()

    def work() -> None:
        try:
            work_on()
        except BaseException:
            has_failed.set()
            raise

    def work_on() -> None:
        is_late = False
        while not is_late and not has_failed.is_set():
            with lock:
                at_s = clock.now_s()
                batch = policy(state, left_s())
            if batch.n_actions == 0:
                return
            outcome = state.do(batch)
            is_late = LATE in outcome.missing.values()
            with lock:
                state.add(batch, outcome)
                record(batch, outcome, at_s)

    n_others = 0 if clock.is_simulated else threads - 1
    with cutting_off(state.cuttable(), left_s, clock), ThreadPoolExecutor(max(n_others, 1)) as pool:
        others = [pool.submit(work) for _ in range(n_others)]
        work()
    for other in others:
        other.result()  # what went wrong there is not lost


def done_of(batch: Batch, outcome: Outcome) -> list[int]:
    """Numbers of the actions of a batch that came to something."""
    return [k for k in range(batch.n_actions) if k not in outcome.missing]


def nothing_for(n: int, why: str) -> Outcome:
    """An outcome of n actions none of which came to anything."""
    return Outcome(None, np.zeros(n), np.zeros(n), dict.fromkeys(range(n), why))
