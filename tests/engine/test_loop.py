"""Deciding and doing: order, threads, what is late, and what goes wrong. What is done is made up."""

import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from threading import Barrier, Event, get_ident
from typing import NoReturn

import numpy as np
import pytest

from budgetseg.engine.loop import LATE, Listed, Outcome, done_of, spend
from budgetseg.timing.clock import CostClock, ManualClock
from budgetseg.timing.deadline import Cuttable
from budgetseg.types import NOTHING, Action, Batch

LONG_S = 20.0
"""Real seconds after which a thread that should go on is taken to be stuck."""
ACTIONS = [Action(place, place % 3) for place in range(20)]


class Office:
    """A state whose actions give their place; it remembers what was added, and notices two threads where one may be."""

    def __init__(self, clock: ManualClock, do: Callable[[int], None] = lambda _: None) -> None:
        self.added: list[int] = []
        self.workers: set[int] = set()
        self.cut = Event()
        self._clock = clock
        self._do = do
        self._one = threading.Lock()

    @contextmanager
    def alone(self) -> Iterator[None]:
        assert self._one.acquire(blocking=False), "another thread is in here"
        yield
        self._one.release()

    def do(self, batch: Batch) -> Outcome:
        """Each takes a second."""
        self.workers.add(get_ident())
        for place in batch.places.tolist():
            self._do(place)
        self._clock.advance(float(batch.n_actions))
        return Outcome(batch.places, np.ones(batch.n_actions), np.zeros(batch.n_actions))

    def add(self, batch: Batch, outcome: Outcome) -> None:
        with self.alone():
            self.added += [batch.actions[k].place for k in done_of(batch, outcome)]

    def cuttable(self) -> Sequence[Cuttable]:
        return [self]

    def cut_off(self) -> None:
        self.cut.set()


def nothing_for(n: int, why: str) -> Outcome:
    """The outcome of n actions none of which has a value, all for the same reason."""
    return Outcome(None, np.zeros(n), np.zeros(n), dict.fromkeys(range(n), why))


def forever() -> float:
    return np.inf


class Endless:
    """A policy that never stops by itself."""

    def __init__(self, state: Office) -> None:
        self._state = state
        self.n_asked = 0

    def __call__(self, state: Office, left_s: float) -> Batch:  # noqa: ARG002
        with self._state.alone():
            self.n_asked += 1
            return Batch.of([Action(self.n_asked, 0)], [1.0])


# Order


def test_actions_are_done_in_the_order_of_a_list() -> None:
    clock = ManualClock()
    state = Office(clock)
    spend(state, Listed(ACTIONS), clock, forever)
    assert state.added == [action.place for action in ACTIONS]


def test_a_list_is_followed_one_by_one_however_little_time_is_left() -> None:
    policy = Listed(ACTIONS[:2])
    batches = [policy(None, -1.0) for _ in range(3)]
    assert [batch.actions for batch in batches] == [[ACTIONS[0]], [ACTIONS[1]], []]
    assert not batches[0].planned_s.any()


def test_where_the_policy_stops_at_once_nothing_is_done() -> None:
    clock = ManualClock()
    state = Office(clock)
    spend(state, lambda *_: NOTHING, clock, forever)
    assert not state.workers
    assert not state.added


def test_the_policy_is_given_the_seconds_that_are_left() -> None:
    clock, left = ManualClock(), list[float]()

    def choose(_: Office, left_s: float) -> Batch:
        left.append(left_s)
        return Batch.of([Action(0, 0)], [1.0]) if left_s >= 1 else NOTHING

    spend(Office(clock), choose, clock, lambda: 2.5 - clock.now_s())
    assert left == [2.5, 1.5, 0.5]


def test_what_was_done_is_recorded_with_the_moment_of_its_decision() -> None:
    clock, records = ManualClock(), list[tuple[Batch, Outcome, float]]()
    spend(Office(clock), Listed(ACTIONS[:3]), clock, forever, lambda *record: records.append(record))
    assert [batch.actions for batch, _, _ in records] == [[action] for action in ACTIONS[:3]]
    assert [outcome.values.tolist() for _, outcome, _ in records] == [[0], [1], [2]]
    assert [at_s for _, _, at_s in records] == [0.0, 1.0, 2.0]


def test_an_outcome_is_added_before_it_is_recorded_and_before_the_next_decision() -> None:
    clock = ManualClock()
    state, policy, seen = Office(clock), Listed(ACTIONS[:3]), list[tuple[str, int]]()

    def choose(_: Office, left_s: float) -> Batch:
        seen.append(("decided", len(state.added)))
        return policy(state, left_s)

    spend(state, choose, clock, forever, lambda *_: seen.append(("recorded", len(state.added))))
    assert seen == [(what, n) for n in range(4) for what in ("recorded", "decided")][1:]


# Threads


def test_actions_are_done_side_by_side() -> None:
    clock, both = ManualClock(), Barrier(2, timeout=LONG_S)

    def do(_: int) -> None:
        both.wait()  # one thread alone would wait in vain

    state = Office(clock, do)
    spend(state, Listed(ACTIONS), clock, forever, threads=2)
    assert len(state.workers) == 2
    assert sorted(state.added) == list(range(20))


def test_one_thread_at_a_time_decides_adds_and_records() -> None:
    clock = ManualClock()
    state, records = Office(clock), list[int]()
    policy = Listed([Action(place, 0) for place in range(500)])

    def choose(_: Office, left_s: float) -> Batch:
        with state.alone():
            return policy(state, left_s)

    def record(batch: Batch, _: Outcome, __: float) -> None:
        with state.alone():
            records.extend(batch.places.tolist())

    spend(state, choose, clock, forever, record, threads=4)
    assert state.added == records
    assert sorted(records) == list(range(500))


def test_a_simulated_run_has_one_thread_so_that_it_repeats() -> None:
    clock = ManualClock()
    state = Office(clock)
    spend(state, Listed(ACTIONS), CostClock(), forever, threads=4)
    assert state.workers == {get_ident()}
    assert state.added == list(range(20))


# Time is up


class Late(Office):
    """Its second action does not end by itself: it is cut off."""

    def do(self, batch: Batch) -> Outcome:
        if batch.places[0] != ACTIONS[1].place:
            return super().do(batch)
        self._clock.advance(5.0)
        assert self.cut.wait(LONG_S)
        return nothing_for(1, LATE)


def test_what_is_under_way_when_time_is_up_is_cut_off_and_that_was_the_last() -> None:
    clock, missing = ManualClock(), list[str | None]()
    state = Late(clock)
    spend(
        state,
        Listed(ACTIONS),
        clock,
        lambda: 4.0 - clock.now_s(),
        lambda _, outcome, __: missing.append(outcome.missing.get(0)),
    )
    assert state.added == [0]
    assert missing == [None, LATE]


def test_nothing_is_cut_off_while_there_is_time() -> None:
    clock = ManualClock()
    state = Office(clock)
    spend(state, Listed(ACTIONS), clock, lambda: 21.0 - clock.now_s())
    assert not state.cut.is_set()


def test_where_one_thread_is_late_the_others_ask_the_policy() -> None:
    clock, first = ManualClock(), Event()

    class OneLate(Office):
        def do(self, batch: Batch) -> Outcome:
            if batch.places[0] == 0:
                first.set()
                return nothing_for(1, LATE)
            assert first.wait(LONG_S)
            return super().do(batch)

    state = OneLate(clock)
    spend(state, Listed(ACTIONS), clock, forever, threads=2)
    assert sorted(state.added) == list(range(1, 20))


def test_an_action_that_is_missing_for_another_reason_does_not_end_the_run() -> None:
    clock = ManualClock()

    class Odd(Office):
        def do(self, batch: Batch) -> Outcome:
            return nothing_for(1, "failed") if batch.places[0] % 2 else super().do(batch)

    state = Odd(clock)
    spend(state, Listed(ACTIONS), clock, forever)
    assert state.added == list(range(0, 20, 2))


# What goes wrong


@pytest.mark.parametrize("in_main_thread", [True, False])
def test_an_error_in_one_thread_ends_the_others_and_is_raised(in_main_thread: bool) -> None:
    clock, main = ManualClock(), get_ident()
    both, has_failed = Barrier(2, timeout=LONG_S), Event()

    def do(place: int) -> None:
        if place <= 2:
            both.wait()  # both threads are at work
            if (get_ident() == main) == in_main_thread:
                has_failed.set()
                raise KeyError("no such frame")
        assert has_failed.wait(LONG_S)

    state = Office(clock, do)
    with pytest.raises(KeyError, match="no such frame"):
        spend(state, Endless(state), clock, forever, threads=2)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("where", ["policy", "add", "record"])
def test_an_error_of_the_policy_the_state_or_the_record_is_raised(where: str, threads: int) -> None:
    clock = ManualClock()

    def fail(*_: object) -> NoReturn:
        raise KeyError(where)

    class Bad(Office):
        def add(self, batch: Batch, outcome: Outcome) -> None:
            super().add(batch, outcome)
            if where == "add":
                fail()

    state = Bad(clock)
    policy, record = fail if where == "policy" else Endless(state), fail if where == "record" else lambda *_: None
    with pytest.raises(KeyError, match=where):
        spend(state, policy, clock, forever, record, threads)


def test_after_an_error_no_thread_is_left() -> None:
    clock, before = ManualClock(), threading.active_count()

    def fail(_: int) -> None:
        raise KeyError

    with pytest.raises(KeyError):
        spend(Office(clock, fail), Listed(ACTIONS), clock, forever, threads=4)
    assert threading.active_count() <= before


# Outcomes


def test_done_is_what_is_not_missing() -> None:
    batch = Batch.of(ACTIONS[:4], [1.0] * 4)
    outcome = Outcome(None, np.ones(4), np.zeros(4), {1: LATE, 3: "failed"})
    assert done_of(batch, outcome) == [0, 2]


def test_nothing_has_a_reason_for_every_action_and_costs_nothing() -> None:
    outcome = nothing_for(3, LATE)
    assert outcome.missing == {0: LATE, 1: LATE, 2: LATE}
    assert outcome.spent_s.tolist() == outcome.shared_s.tolist() == [0, 0, 0]
