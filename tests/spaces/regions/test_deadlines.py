"""Labels are complete and ready by the deadline, whatever is late: by a clock that only work moves.

The end of a run cannot be cut off, but for the expansion. So where everything takes longer in the last moments than
anybody could know, labels are late by what the end takes longer than its margin, and by no more.
"""

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from threading import Event
from typing import Any

import numpy as np
import pytest

from budgetseg.crf import Memory, expand
from budgetseg.crf.problem import Problem
from budgetseg.descriptors.core import Descriptor
from budgetseg.engine.result import Result
from budgetseg.spaces.regions import closing as closing_module
from budgetseg.spaces.regions import state as state_module
from budgetseg.spaces.regions.paint import paint
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.supervoxels import Segmenter
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Int32, UInt8
from tests.spaces.clocks import ChargedClock, Reported
from tests.spaces.regions.worlds import (
    FRAME_S,
    NAMES,
    PRIOR_CLASS,
    REGION_S,
    SHAPE,
    Odd,
    Outputs,
    Seen,
    Timed,
    counts,
    frozen_prices,
    label,
    lines_of,
    model_of,
    rates_of,
    request_of,
    space_of,
    street,
    video_of,
)

FRAMES = street()
N = 400
"""Supervoxels of the whole street."""
FINISH_S = N * sum(REGION_S[stage] for stage in ("interpolation", "potentials", "expansion")) + 16 * FRAME_S["pixels"]
"""What the end of a run on the whole street is known to take."""
BUDGETS = [0.05, 0.1, 0.15, 0.3]
MARGINS = Margins()


@pytest.fixture(autouse=True)
def no_long_sleep(monkeypatch: pytest.MonkeyPatch) -> None:
    """No test sleeps."""

    def refuse(seconds: float) -> None:
        assert seconds <= 0.05, f"slept {seconds} s"

    monkeypatch.setattr(time, "sleep", refuse)


def learned_prices(clock: ChargedClock, is_reported: bool = False) -> Prices:
    """Prices that learn; the kernel reports how busy the machine is, or tells nothing."""
    prices = Prices(rates_of(), lines_of())
    if is_reported:
        clock.slowdown = Reported(clock, clock.pace)
    prices.slowdown = clock.slowdown
    return prices


def run_on(
    clock: ChargedClock,
    *seconds: float,
    names: Sequence[str] = NAMES,
    descriptors: Sequence[Descriptor] | None = None,
    prices: Prices | None = None,
    window: int | None = None,
    read_s: float = 0.0,
    **how: Any,
) -> list[Result]:
    """Results of labelling the street; frames take `read_s` longer to decode than known."""
    own = descriptors or [Timed(name, clock) for name in names]
    space = space_of(model_of(names), own, prices=prices or frozen_prices(), **how)
    return label(space, video_of(FRAMES, lambda: clock.take(read_s)), request_of(*seconds, window=window), clock)


def check_ready(result: Result, end_s: float, slack_s: float = 0.0) -> None:
    """Every pixel has a label, and all were there in time."""
    assert result.labels.shape == result.confidence.shape == SHAPE
    assert result.labels.max() < len(result.classes)
    assert result.ledger.spent_s <= end_s + slack_s


def is_labelled(result: Result) -> bool:
    """Whether labels come from descriptors, not from the prior."""
    return bool(counts(result)) and len(np.unique(result.labels)) > 1


def has_note(result: Result, beginning: str) -> bool:
    return any(line.startswith(beginning) for line in result.ledger.notes)


# Nothing is late


@pytest.mark.parametrize("seconds", [0.02, *BUDGETS])
@pytest.mark.parametrize("names", [NAMES, ("colour", "network")], ids=["hand-made", "network"])
def test_where_everything_takes_what_is_known_nothing_is_late(seconds: float, names: tuple[str, ...]) -> None:
    clock = ChargedClock()
    own = [Seen(Outputs(clock)) if name == "network" else Timed(name, clock) for name in names]
    (result,) = run_on(clock, seconds, names=names, descriptors=own)
    check_ready(result, seconds)
    assert is_labelled(result)
    assert all(line.startswith("the budget is short") for line in result.ledger.notes)


# Decoding


@pytest.mark.parametrize("seconds", [*BUDGETS, 0.2])
@pytest.mark.parametrize("window", [None, 4])
def test_a_decoder_ten_times_slower_than_known_costs_frames_not_the_deadline(
    seconds: float, window: int | None
) -> None:
    clock = ChargedClock()
    (result,) = run_on(clock, seconds, read_s=9 * FRAME_S["decode .array"], window=window)
    check_ready(result, seconds)
    assert is_labelled(result)
    n_read = sum(len(own.read) for own in result.windows)
    assert n_read == 16 or result.ledger.notes


def test_frames_that_could_not_be_read_are_counted_in_a_note() -> None:
    (result,) = run_on(ChargedClock(), 0.15, read_s=9 * FRAME_S["decode .array"])
    assert has_note(result, "reading took too long: ")
    assert has_note(result, "the budget is short: fewer frames")


# Supervoxels


def cut_slowly(monkeypatch: pytest.MonkeyPatch, clock: ChargedClock, frame_s: float) -> list[tuple[int, ...]]:
    """From now on supervoxels of a full frame take so much longer; the sizes that were cut."""
    sizes: list[tuple[int, ...]] = []

    class Slow(Segmenter):
        def push(self, frames: UInt8, *, advance: Callable[[int], None], **how: Any) -> Int32:  # type: ignore[override]
            sizes.append(frames.shape[1:3])
            share = frames[0, ..., 0].size / FRAMES[0, ..., 0].size

            def report(n: int) -> None:
                clock.take(n * share * frame_s)
                advance(n)

            return super().push(frames, advance=report, **how)

    monkeypatch.setattr(state_module, "Segmenter", Slow)
    return sizes


def test_supervoxels_that_are_late_are_made_of_smaller_frames_once(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ChargedClock()
    sizes = cut_slowly(monkeypatch, clock, 0.03)
    settings = RegionSettings(smallest_side=32)
    (result,) = run_on(clock, 0.5, settings=settings)
    check_ready(result, 0.5)
    assert sizes == [(64, 96), (32, 48)]
    assert has_note(result, "the budget is short: smaller frames")
    assert is_labelled(result)


def test_supervoxels_a_little_slower_than_known_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ChargedClock()
    sizes = cut_slowly(monkeypatch, clock, 2 * FRAME_S["supervoxels fast 1"])
    (result,) = run_on(clock, 0.3, settings=RegionSettings(smallest_side=32))
    check_ready(result, 0.3)
    assert len(sizes) == 1
    assert is_labelled(result)


# Descriptors and networks


@pytest.mark.parametrize("seconds", BUDGETS)
def test_descriptors_three_times_slower_than_known_cost_descriptors_not_the_deadline(seconds: float) -> None:
    clock = ChargedClock()
    own = [Timed(name, clock, slower=3.0) for name in NAMES]
    (result,) = run_on(clock, seconds, descriptors=own)
    check_ready(result, seconds)
    assert is_labelled(result)


@pytest.mark.parametrize("seconds", BUDGETS)
@pytest.mark.parametrize("is_learned", [False, True], ids=["frozen", "learned"])
def test_a_network_three_times_slower_than_known_costs_frames_not_the_deadline(
    seconds: float, is_learned: bool
) -> None:
    clock = ChargedClock()
    outputs = Outputs(clock, slower=3.0)
    prices = learned_prices(clock) if is_learned else None
    (result,) = run_on(
        clock, seconds, names=("colour", "network"), descriptors=[Timed("colour", clock), Seen(outputs)], prices=prices
    )
    check_ready(result, seconds)
    assert is_labelled(result)
    assert len(outputs.asked) == len(set(outputs.asked))  # what was cut off is not tried again


@pytest.mark.parametrize("seconds", [0.1, 0.15, 0.3])
def test_a_network_that_hangs_is_cut_off_and_asked_no_more(seconds: float) -> None:
    clock = ChargedClock()
    outputs = Outputs(clock, hangs_at=2)
    (result,) = run_on(clock, seconds, names=("colour", "network"), descriptors=[Timed("colour", clock), Seen(outputs)])
    check_ready(result, seconds)
    assert is_labelled(result)
    assert len(outputs.asked) == 3
    assert result.ledger.work_left
    assert not has_note(result, "network")


class Broken(Outputs):
    """A network that fails from the third frame on."""

    def make(self, *words: Any) -> Any:
        if len(self.asked) >= 2:
            self.asked.append(-1)
            raise RuntimeError("no more")
        return super().make(*words)


def test_a_network_that_fails_is_dropped_with_a_note_and_the_rest_is_computed() -> None:
    clock = ChargedClock()
    outputs = Broken(clock)
    (result,) = run_on(clock, 0.3, names=("colour", "network"), descriptors=[Timed("colour", clock), Seen(outputs)])
    check_ready(result, 0.3)
    assert result.ledger.notes == ["network failed (RuntimeError: no more); dropped"]
    assert counts(result)["colour"] == N
    assert outputs.asked.count(-1) == 1


@pytest.fixture
def stuck() -> Iterator[Callable[[ChargedClock], Callable[[], Float32]]]:
    """Answers that do not come before the test ends, while time passes."""
    is_over, threads = Event(), list[threading.Thread]()

    def of(clock: ChargedClock) -> Callable[[], Float32]:
        def hang() -> Float32:
            threads.append(threading.current_thread())
            clock.take(100.0)
            is_over.wait(20.0)
            raise RuntimeError("nobody waits for it")

        return hang

    yield of
    is_over.set()
    for thread in threads:
        thread.join(20.0)


@pytest.mark.parametrize("n_good", [0, 20])
def test_a_plug_in_that_hangs_is_left_behind_when_time_is_up(
    stuck: Callable[[ChargedClock], Callable[[], Float32]], n_good: int
) -> None:
    """The clock moves on while it hangs, beyond the deadline: nothing else could be done meanwhile."""
    clock = ChargedClock()
    own = [Timed("colour", clock), Odd(stuck(clock), n_good)]
    (result,) = run_on(clock, 0.3, descriptors=own, guarded=["hog"])
    assert result.labels.shape == SHAPE
    assert has_note(result, "hog did not return within")
    assert counts(result).get("hog", 0) == n_good
    assert len([line for line in result.ledger.notes if line.startswith("hog")]) == 1


def test_a_plug_in_that_hangs_longer_than_its_patience_is_dropped_and_the_rest_is_computed() -> None:
    clock, is_over = ChargedClock(), Event()

    def hang() -> Float32:
        clock.take(0.06)  # more than ten times what it is known to take, and than its patience
        is_over.wait(20.0)
        raise RuntimeError("nobody waits for it")

    own = [Timed("colour", clock), Odd(hang)]
    settings = RegionSettings(patience_s=0.05)
    (result,) = run_on(clock, 0.4, descriptors=own, guarded=["hog"], settings=settings)
    is_over.set()
    check_ready(result, 0.4)
    assert has_note(result, "hog did not return within 0.05 s; dropped")
    assert counts(result) == {"colour": N, "hog": 20}


# The end


def paint_slowly(monkeypatch: pytest.MonkeyPatch, clock: ChargedClock, seconds: float) -> None:
    """From now on painting takes so much longer."""

    def slow(*words: Any) -> None:
        paint(*words)
        clock.take(seconds)

    monkeypatch.setattr(state_module, "paint", slow)


@pytest.mark.parametrize("seconds", [0.1, 0.15])
def test_painting_slower_than_known_is_late_by_no_more_than_it_takes_longer(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock = ChargedClock()
    paint_slowly(monkeypatch, clock, 0.005)
    (result,) = run_on(clock, seconds)
    check_ready(result, seconds, slack_s=0.005)
    assert is_labelled(result)


def test_painting_slower_than_known_is_known_in_the_next_window(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ChargedClock()
    paint_slowly(monkeypatch, clock, 0.002)
    (result,) = run_on(clock, 0.12, prices=learned_prices(clock), window=2)
    check_ready(result, 0.12)
    assert is_labelled(result)


def test_an_expansion_slower_than_known_is_ended_early(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ChargedClock()

    def slow(problem: Problem, start: Int32 | None, memory: Memory, enough: Callable[[], bool]) -> Int32:
        def asked() -> bool:
            clock.take(0.03)  # every move
            return enough()

        return expand(problem, start, memory, asked)

    monkeypatch.setattr(closing_module, "expand", slow)
    rates = rates_of() | {"expansion": 1e-8}
    (result,) = run_on(clock, 0.12, prices=Prices(rates, lines_of(), frozen=True))
    check_ready(result, 0.12, slack_s=0.03)  # a move that is under way is made
    assert result.windows[0].finishes[0].n_moves is not None
    assert is_labelled(result)


# Everything


@pytest.mark.parametrize("seconds", BUDGETS)
@pytest.mark.parametrize("when", [0.25, 0.5, 0.75, 0.9])
@pytest.mark.parametrize("is_reported", [False, True], ids=["unreported", "reported"])
def test_a_core_that_goes_away_in_the_middle_is_late_by_no_more_than_the_end_takes_longer(
    seconds: float, when: float, is_reported: bool
) -> None:
    clock = ChargedClock(lambda now_s: 2.0 if now_s > when * seconds else 1.0)
    own = [Timed("colour", clock), Seen(Outputs(clock))]
    prices = learned_prices(clock, is_reported)
    (result,) = run_on(clock, seconds, names=("colour", "network"), descriptors=own, prices=prices)
    check_ready(result, seconds, slack_s=(2.0 - MARGINS.finish) * FINISH_S)
    assert is_labelled(result)


@pytest.mark.parametrize("seconds", [0.15, 0.17])
@pytest.mark.parametrize("when", [0.5, 0.6, 0.7])
def test_where_the_kernel_reports_a_core_that_went_away_the_end_is_begun_sooner(seconds: float, when: float) -> None:
    clock = ChargedClock(lambda now_s: 2.0 if now_s > when * seconds else 1.0)
    own = [Timed(name, clock, slower=4.0) for name in NAMES]  # there is more to compute than time for it
    (result,) = run_on(clock, seconds, descriptors=own, prices=learned_prices(clock, is_reported=True))
    check_ready(result, seconds)
    assert is_labelled(result)
    assert result.ledger.work_left


def test_several_budgets_are_kept_on_a_machine_that_gets_slower_and_slower() -> None:
    clock, budgets = ChargedClock(lambda now_s: 1 + 2 * now_s), (0.12, 0.2, 0.4)
    results = run_on(clock, *budgets, prices=learned_prices(clock, is_reported=True))
    for result, seconds in zip(results, budgets, strict=True):
        check_ready(result, seconds)
    assert is_labelled(results[-1])


def test_windows_are_kept_on_a_machine_that_is_slower_than_known() -> None:
    clock = ChargedClock(lambda _: 1.5)
    (result,) = run_on(clock, 0.2, prices=learned_prices(clock), window=4)
    check_ready(result, 0.2)
    assert [bool(window.events) for window in result.windows] == [True] * 4


def test_a_budget_of_nearly_nothing_gives_the_prior_at_once() -> None:
    clock = ChargedClock()
    (result,) = run_on(clock, 1e-4)
    assert result.ledger.notes == [PRIOR_CLASS]
    assert clock.now_s() == 0
    assert not result.windows
