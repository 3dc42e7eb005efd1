"""Clocks: what moves them, what does not, and what a pause leaves out."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from threading import Event

import pytest

from budgetseg.timing.clock import Clock, CostClock, ManualClock, WallClock, process_s, thread_s


def pass_by(clock: Clock, seconds: float) -> None:
    """Let time pass on a clock that does not run by itself."""
    if isinstance(clock, ManualClock):
        clock.advance(seconds)
    else:
        clock.charge(seconds)


def compute() -> int:
    return sum(range(300_000))


@pytest.fixture(params=[CostClock, ManualClock])
def clock(request: pytest.FixtureRequest) -> Clock:
    """A clock that only the test moves."""
    made: Clock = request.param()
    return made


def test_a_wall_clock_starts_when_it_is_made_and_runs_by_itself() -> None:
    clock = WallClock()
    early_s = clock.now_s()
    compute()
    assert 0 <= early_s < clock.now_s()
    assert WallClock().now_s() < clock.now_s()


def test_other_clocks_start_at_zero_and_stand_still(clock: Clock) -> None:
    compute()
    assert clock.now_s() == 0


def test_a_cost_clock_shows_the_sum_of_what_was_charged() -> None:
    clock = CostClock()
    for seconds in (0.5, 0.0, 2.25):
        clock.charge(seconds)
    assert clock.now_s() == 2.75


def test_a_manual_clock_shows_the_sum_of_what_it_was_advanced_by() -> None:
    clock = ManualClock()
    for seconds in (0.5, 0.0, 2.25):
        clock.advance(seconds)
    assert clock.now_s() == 2.75


def test_only_a_simulated_clock_is_moved_by_a_charge() -> None:
    manual, wall = ManualClock(), WallClock()
    for clock in (manual, wall):
        clock.charge(1e6)
        assert not clock.is_simulated
    assert manual.now_s() == 0
    assert wall.now_s() < 1e6
    assert CostClock().is_simulated


def test_no_second_of_several_threads_is_lost(clock: Clock) -> None:
    def pass_often(_: int) -> None:
        for _ in range(500):
            pass_by(clock, 1.0)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(pass_often, range(8)))
    assert clock.now_s() == 4000


def test_after_a_pause_the_clock_goes_on_from_where_the_pause_began(clock: Clock) -> None:
    pass_by(clock, 1.0)
    with clock.paused():
        pass_by(clock, 10.0)
    assert clock.now_s() == 1.0
    pass_by(clock, 2.0)
    assert clock.now_s() == 3.0


def test_within_a_pause_the_clock_runs_so_that_work_can_be_timed(clock: Clock) -> None:
    with clock.paused():
        began_s = clock.now_s()
        pass_by(clock, 10.0)
        assert clock.now_s() - began_s == 10.0


def test_pauses_add_up(clock: Clock) -> None:
    for _ in range(3):
        with clock.paused():
            pass_by(clock, 10.0)
        pass_by(clock, 1.0)
    assert clock.now_s() == 3.0


def test_a_pause_within_a_pause_is_left_out_once(clock: Clock) -> None:
    with clock.paused():
        pass_by(clock, 1.0)
        with clock.paused():
            pass_by(clock, 10.0)
        pass_by(clock, 1.0)
    assert clock.now_s() == 0


def test_pauses_that_overlap_are_left_out_once(clock: Clock) -> None:
    first, second = ExitStack(), ExitStack()
    first.enter_context(clock.paused())
    pass_by(clock, 1.0)
    second.enter_context(clock.paused())
    pass_by(clock, 10.0)
    first.close()
    pass_by(clock, 100.0)
    second.close()
    pass_by(clock, 1000.0)
    assert clock.now_s() == 1000.0


def test_a_pause_ends_where_its_block_fails(clock: Clock) -> None:
    def fail() -> None:
        pass_by(clock, 10.0)
        raise KeyError

    with pytest.raises(KeyError), clock.paused():
        fail()
    pass_by(clock, 1.0)
    assert clock.now_s() == 1.0


@pytest.mark.parametrize("kind", [WallClock, CostClock, ManualClock])
def test_nobody_waits_for_an_event_that_was_set(kind: type[Clock]) -> None:
    event = Event()
    event.set()
    assert kind().wait(event, 1e6)


@pytest.mark.parametrize("kind", [WallClock, CostClock])
def test_an_event_that_is_not_set_is_waited_for_as_long_as_was_asked(kind: type[Clock]) -> None:
    assert not kind().wait(Event(), 0.001)


def test_by_a_manual_clock_a_wait_is_a_moment_however_long_it_should_be() -> None:
    assert not ManualClock().wait(Event(), 1e6)


def test_seconds_of_a_thread_are_its_own_and_seconds_of_the_process_those_of_all_threads() -> None:
    def work() -> float:
        began_s = thread_s()
        for _ in range(5):
            compute()
        return thread_s() - began_s

    own_s, all_s = thread_s(), process_s()
    with ThreadPoolExecutor(1) as pool:
        others_s = pool.submit(work).result()
    own_s, all_s = thread_s() - own_s, process_s() - all_s
    assert 0 < own_s < others_s < all_s
