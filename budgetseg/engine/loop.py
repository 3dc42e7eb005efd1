"""Algorithm 1: decide, do, add, until time is up. Labelling, replaying and simulating all run this loop."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Event, Lock
from typing import Any, NamedTuple, Protocol

from budgetseg.timing.clock import Clock
from budgetseg.timing.deadline import Cuttable, cutting_off
from budgetseg.types import NOTHING, Action, Batch, Float64

__all__ = ["LATE", "Listed", "Outcome", "Policy", "Record", "Workable", "spend"]

LATE = "late"
"""The reason given for an action that was cut off because its time was up."""


class Outcome(NamedTuple):
    """The result of a batch of K actions.

    Attributes
    ----------
    values : what the sources returned, in a form that only the state that did the batch needs to understand
    spent_s : (K,) float64, seconds that each action took
    shared_s : (K,) float64, the part of `spent_s` that went into results which other actions can use, too
    missing : for each action without a value, its number in the batch and the reason: `LATE`, or what went wrong
    """

    values: Any
    spent_s: Float64
    shared_s: Float64
    missing: dict[int, str] = {}  # noqa: RUF012 - nobody writes to this one


class Workable(Protocol):
    """The state of a run: it does actions, and keeps their results."""

    def do(self, batch: Batch) -> Outcome:
        """Do the actions of a batch. Several threads may call this at the same time."""

    def add(self, batch: Batch, outcome: Outcome) -> None:
        """Add the outcome of a batch to the state. Only one thread at a time calls this."""

    def cuttable(self) -> Sequence[Cuttable]:
        """Work under way that can be made to stop when time is up."""


Policy = Callable[[Any, float], Batch]
"""Maps a state, and the seconds left for actions, to the actions to do next; an empty batch stops the run."""


Record = Callable[[Batch, Outcome, float], None]
"""Called after each batch with the batch, its outcome, and when it was decided, in seconds of the clock."""


class Listed:
    """A policy that does the actions of a list, one at a time. A replay is a run with this policy.

    Parameters
    ----------
    actions : to do, in this order
    """

    def __init__(self, actions: Sequence[Action]) -> None:
        self._left = iter(actions)

    def __call__(self, state: Any, left_s: float) -> Batch:  # noqa: ARG002 - the list alone decides
        """The next action of the list as a batch; an empty batch after the last one."""
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
    """Decide and do actions until the policy stops.

    One thread decides at a time; several do actions at the same time. Work under way when no seconds are left is cut
    off. If a thread raises an error, the others end the batch they are working on, and the error is raised here.

    Parameters
    ----------
    state : does actions, and receives their outcomes
    policy : decides what to do next
    clock : of the run; with a simulated one only one thread works, so that runs can be repeated exactly
    left_s : returns the seconds left for actions, by the clock
    record : called with every batch that was done
    threads : number of threads that decide and do
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
        other.result()  # raises the error of that thread, if it had one


def done_of(batch: Batch, outcome: Outcome) -> list[int]:
    """Numbers of the actions of a batch that have a value."""
    return [k for k in range(batch.n_actions) if k not in outcome.missing]
