"""What is under way when time is up is cut off, and not before."""

import time
from threading import Event

import pytest

from budgetseg.timing.deadline import cutting_off


class Worker:
    def __init__(self) -> None:
        self.stop, self.n_cuts = Event(), 0

    def cut_off(self) -> None:
        self.n_cuts += 1
        self.stop.set()


def test_what_takes_too_long_is_cut_off_when_time_is_up() -> None:
    workers, end = [Worker(), Worker()], time.perf_counter() + 0.1
    with cutting_off(workers, lambda: end - time.perf_counter()):
        assert all(worker.stop.wait(10) for worker in workers)
        assert 0 <= time.perf_counter() - end < 0.1


def test_who_begins_after_the_end_is_cut_off_as_well() -> None:
    worker = Worker()
    with cutting_off([worker], lambda: -1.0):
        for _ in range(3):
            worker.stop.clear()
            assert worker.stop.wait(10)


@pytest.mark.parametrize("left_s", [0.2, 1e9, float("inf")])
def test_nobody_is_cut_off_before_or_after_the_block(left_s: float) -> None:
    worker, end = Worker(), time.perf_counter() + left_s
    with cutting_off([worker], lambda: end - time.perf_counter()):
        time.sleep(0.01)
    time.sleep(0.3)
    assert worker.n_cuts == 0


def test_an_error_in_the_block_is_not_lost() -> None:
    with pytest.raises(KeyError), cutting_off([Worker()], lambda: 1.0):
        raise KeyError
