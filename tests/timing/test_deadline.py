"""What is under way when time is up is cut off, and not before."""

import threading
from threading import Event

import pytest

from budgetseg.timing.clock import ManualClock, WallClock
from budgetseg.timing.deadline import Deadline, cutting_off

MOMENT_S = 0.02
"""Real seconds in which a watcher that wanted to cut off would have done so."""
LONG_S = 20.0
"""Real seconds after which a watcher that should cut off is taken to be dead."""


class Worker:
    def __init__(self) -> None:
        self.is_cut, self.n_cuts = Event(), 0

    def cut_off(self) -> None:
        self.n_cuts += 1
        self.is_cut.set()


def test_everyone_at_work_is_cut_off_when_time_is_up_and_not_before() -> None:
    clock, workers = ManualClock(), [Worker(), Worker()]
    with cutting_off(workers, lambda: 5.0 - clock.now_s(), clock):
        clock.advance(4.9)
        assert not any(worker.is_cut.wait(MOMENT_S) for worker in workers)
        clock.advance(0.1)
        assert all(worker.is_cut.wait(LONG_S) for worker in workers)


def test_work_that_begins_after_the_end_is_cut_off_as_well() -> None:
    worker = Worker()
    with cutting_off([worker], lambda: -1.0, ManualClock()):
        for _ in range(3):
            worker.is_cut.clear()
            assert worker.is_cut.wait(LONG_S)


def test_nobody_is_cut_off_after_the_block() -> None:
    clock, worker = ManualClock(), Worker()
    with cutting_off([worker], lambda: 5.0 - clock.now_s(), clock):
        pass
    clock.advance(10.0)
    assert not worker.is_cut.wait(MOMENT_S)
    assert worker.n_cuts == 0


@pytest.mark.parametrize("left_s", [1e9, float("inf")])
def test_time_that_runs_out_sooner_than_it_said_is_noticed(left_s: float) -> None:
    worker, is_over = Worker(), Event()
    with cutting_off([worker], lambda: 0.0 if is_over.is_set() else left_s, WallClock(), longest_s=1e-3):
        assert not worker.is_cut.wait(MOMENT_S)
        is_over.set()
        assert worker.is_cut.wait(LONG_S)


def test_an_error_in_the_block_is_raised_and_the_watcher_ends() -> None:
    before = threading.active_count()
    with pytest.raises(KeyError), cutting_off([Worker()], lambda: 1.0, ManualClock()):
        raise KeyError
    assert threading.active_count() <= before


def test_a_deadline_is_over_once_its_clock_is_past_it_and_can_be_moved() -> None:
    clock = ManualClock()
    deadline = Deadline(clock)
    clock.advance(1e9)
    assert not deadline.is_over()
    deadline.at_s = clock.now_s()
    assert not deadline.is_over()
    clock.advance(0.1)
    assert deadline.is_over()
    deadline.at_s += 5.0
    assert not deadline.is_over()
