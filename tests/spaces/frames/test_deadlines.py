"""Labels are complete and ready by the deadline, whatever is late: by a clock that only work moves."""

import threading
import time
from collections.abc import Callable, Iterator

import numpy as np
import pytest

from budgetseg.engine.result import Result
from budgetseg.spaces.frames.costs import COPY
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, UInt8
from budgetseg.video import VideoSource
from tests.spaces.clocks import Machine, Reported, quiet_prices
from tests.spaces.frames.worlds import (
    NETWORKS,
    PRIOR,
    SECONDS,
    SIZE,
    TableNetwork,
    counts,
    film,
    label,
    rates_of,
    request_of,
    slides,
    space_of,
    street,
    with_network,
    work_takes_time,
)

N = 24
FRAMES = street(N)
STEP_S = 0.002
"""Seconds after which a network notices that it was cut off."""
BUDGETS = [0.05, 0.1, 0.2, 0.5, 1.0]

Of = Callable[[UInt8, Machine], VideoSource]


@pytest.fixture(autouse=True)
def no_long_sleep(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """No test sleeps, and none leaves a thread behind."""

    def refuse(seconds: float) -> None:
        assert seconds <= 0.05, f"slept {seconds} s"

    monkeypatch.setattr(time, "sleep", refuse)
    before = threading.active_count()
    yield
    assert threading.active_count() <= before


def run_on(
    machine: Machine,
    monkeypatch: pytest.MonkeyPatch,
    *seconds: float,
    of: Of = slides,
    prices: Prices | None = None,
    window: int | None = None,
    networks: dict[str, TableNetwork] | None = None,
    step_s: float | None = STEP_S,
) -> list[Result]:
    """Results of labelling a street on a machine."""
    work_takes_time(monkeypatch, machine)
    space = space_of(FRAMES, machine, prices, step_s=step_s)
    space = with_network(space, **(networks or {}))
    return label(space, of(FRAMES, machine), request_of(*seconds, window=window), machine.clock)


def check_ready(result: Result, end_s: float, slack_s: float = 0.0) -> None:
    """Every pixel has a label, and all were there in time."""
    assert result.labels.shape == result.confidence.shape == (N, *SIZE[::-1])
    assert result.labels.max() < 3
    assert result.ledger.spent_s <= end_s + slack_s
    (finish,) = (finishes[-1] for finishes in [result.windows[-1].finishes])
    assert len(result.labels) > len(finish.late)


def has_note(result: Result, beginning: str) -> bool:
    return any(line.startswith(beginning) for line in result.ledger.notes)


def is_labelled(result: Result) -> bool:
    """Whether labels come from a network, not from the prior."""
    return bool(counts(result)) and len(np.unique(result.labels)) > 1


# Nothing is late


@pytest.mark.parametrize("seconds", [0.02, *BUDGETS])
@pytest.mark.parametrize("of", [slides, film])
def test_where_everything_takes_what_is_known_nothing_is_late_and_little_is_left_over(
    seconds: float, of: Of, monkeypatch: pytest.MonkeyPatch
) -> None:
    (result,) = run_on(Machine(SECONDS), monkeypatch, seconds, of=of, step_s=None)
    check_ready(result, seconds)
    if of is slides:
        assert is_labelled(result)
        assert not result.ledger.notes
    assert seconds - result.ledger.spent_s < result.ledger.next_s + 0.1 * seconds


# Decoding


@pytest.mark.parametrize("seconds", BUDGETS)
@pytest.mark.parametrize("of", [slides, film])
def test_a_decoder_ten_times_slower_than_known_costs_frames_not_the_deadline(
    seconds: float, of: Of, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(SECONDS, {"decode": 10})
    (result,) = run_on(machine, monkeypatch, seconds, of=of, step_s=None)
    check_ready(result, seconds)
    assert is_labelled(result)
    is_short = len(result.windows[0].read) < N and of is film
    assert has_note(result, "reading took too long") or not is_short
    assert machine.done["decode"] == len(result.windows[0].read)  # no frame is read again


@pytest.mark.parametrize("of", [slides, film])
@pytest.mark.parametrize("seconds", [3.0, 10.0, 30.0])
def test_however_long_reading_takes_time_is_left_for_a_network(
    seconds: float, of: Of, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Twenty frames, and then just the time that a prediction takes: no part of it must be kept back.
    frame_s = (seconds - SECONDS["small"] - 0.003) / 20
    machine = Machine(SECONDS, {"decode": frame_s / SECONDS["decode"]})
    (result,) = run_on(machine, monkeypatch, seconds, of=of, step_s=None)
    check_ready(result, seconds)
    assert is_labelled(result)
    assert has_note(result, "reading took too long")


def test_windows_of_a_film_that_takes_too_long_to_decode_end_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    prices = quiet_prices(rates_of())
    machine = Machine(SECONDS, {"decode": 20})
    (result,) = run_on(machine, monkeypatch, 0.4, of=film, prices=prices, window=6, step_s=None)
    check_ready(result, 0.4)
    assert is_labelled(result)
    assert prices.predict("decode .film", SIZE[0] * SIZE[1]) > 5 * SECONDS["decode"]


# Networks


@pytest.mark.parametrize("seconds", BUDGETS)
@pytest.mark.parametrize("is_learned", [False, True], ids=["frozen", "learned"])
def test_networks_three_times_slower_than_known_cost_key_frames_not_the_deadline(
    seconds: float, is_learned: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(SECONDS, dict.fromkeys(NETWORKS, 3))
    prices = quiet_prices(rates_of()) if is_learned else None
    (result,) = run_on(machine, monkeypatch, seconds, prices=prices)
    check_ready(result, seconds)
    assert is_labelled(result)
    asked = sum(counts(result).values())
    n_cut_off = machine.done["small"] + machine.done["large"] - asked
    assert n_cut_off <= 1  # what was late is not tried again


def test_a_network_that_hangs_is_cut_off_and_asked_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(SECONDS)
    stuck = TableNetwork(FRAMES, "large", machine, STEP_S, hangs_at=1)
    (result,) = run_on(machine, monkeypatch, 0.5, networks={"large": stuck})
    check_ready(result, 0.5)
    assert is_labelled(result)
    assert len(stuck.asked) == 2
    assert counts(result)["large"] == 1
    assert result.ledger.work_left
    assert not has_note(result, "large failed")


def test_a_network_that_hangs_from_the_first_frame_on_leaves_the_prior_and_is_named(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(SECONDS)
    stuck = {name: TableNetwork(FRAMES, name, machine, STEP_S, hangs_at=0) for name in NETWORKS}
    (result,) = run_on(machine, monkeypatch, 0.5, networks=stuck)
    check_ready(result, 0.5)
    assert (result.labels == PRIOR).all()
    nothing = "no time for a prediction: all is the most frequent class"
    assert result.ledger.notes == ["small did not finish in time", nothing]
    assert len(stuck["small"].asked) == 1


def test_a_prediction_that_was_cut_off_at_one_budget_is_there_at_the_next(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(SECONDS)
    stuck = TableNetwork(FRAMES, "large", machine, STEP_S, hangs_at=3)
    first, second = run_on(machine, monkeypatch, 0.3, 2.0, networks={"large": stuck})
    check_ready(first, 0.3)
    check_ready(second, 2.0)
    late = stuck.asked[3]
    assert stuck.asked.count(late) == 2
    assert late in {event.place for event in second.windows[0].events}
    assert len(stuck.asked) == len(set(stuck.asked)) + 1


@pytest.mark.parametrize("fails_at", [0, 2])
@pytest.mark.parametrize("seconds", [0.3, 0.5, 1.0])
def test_a_network_that_fails_is_dropped_and_the_other_goes_on_within_the_budget(
    seconds: float, fails_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(SECONDS)
    broken = TableNetwork(FRAMES, "large", machine, STEP_S, fails_at=fails_at)
    (result,) = run_on(machine, monkeypatch, seconds, networks={"large": broken})
    check_ready(result, seconds)
    assert is_labelled(result)
    assert len(broken.asked) <= fails_at + 1
    if len(broken.asked) > fails_at:
        assert has_note(result, "large failed (RuntimeError: no more); dropped")
        assert counts(result)["small"] > 2


class Slowing(TableNetwork):
    """A network that fails when there is hardly time for another prediction."""

    def __init__(self, machine: Machine, from_s: float) -> None:
        super().__init__(FRAMES, "large", machine, STEP_S)
        self._from_s = from_s

    def __call__(self, frame: UInt8) -> Float32:
        found = super().__call__(frame)
        if self._machine is not None and self._machine.clock.now_s() > self._from_s:
            raise RuntimeError("no more")
        return found


@pytest.mark.parametrize("from_s", [0.25, 0.3, 0.35, 0.39])
def test_a_network_may_fail_when_there_is_no_time_for_another_prediction(
    from_s: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(SECONDS)
    (result,) = run_on(machine, monkeypatch, 0.4, networks={"large": Slowing(machine, from_s)})
    check_ready(result, 0.4)
    assert is_labelled(result)


# The end


@pytest.mark.parametrize("seconds", BUDGETS)
@pytest.mark.parametrize("kinds", [("pixels",), ("fusing",), ("pixels", "fusing", "edges")], ids=len)
def test_painting_three_times_slower_than_known_costs_frames_not_the_deadline(
    seconds: float, kinds: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(SECONDS, dict.fromkeys(kinds, 3))
    (result,) = run_on(machine, monkeypatch, seconds, step_s=None)
    check_ready(result, seconds, slack_s=0.001)  # a frame that is under way is painted to its end
    assert is_labelled(result)
    (finish,) = result.windows[0].finishes
    assert has_note(result, "painting took too long") == bool(finish.late)
    assert finish.late or finish.carry == COPY or len(kinds) < 3


@pytest.mark.parametrize("seconds", BUDGETS)
def test_flow_five_times_slower_than_known_costs_key_frames_not_the_deadline(
    seconds: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    (result,) = run_on(Machine(SECONDS, {"flow": 5}), monkeypatch, seconds, step_s=None)
    check_ready(result, seconds)
    assert is_labelled(result)


def test_where_there_is_no_time_to_find_flow_labels_are_copied_and_a_note_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(SECONDS, {"flow": 50})
    (result,) = run_on(machine, monkeypatch, 0.2, step_s=None)
    check_ready(result, 0.2)
    assert is_labelled(result)
    assert has_note(result, "no time to find flow: labels are copied")
    assert result.windows[0].finishes[0].carry == "copy"


# Everything


@pytest.mark.parametrize("seconds", BUDGETS)
@pytest.mark.parametrize("when", [0.25, 0.5, 0.75, 0.95])
@pytest.mark.parametrize("is_reported", [False, True], ids=["unreported", "reported"])
def test_a_core_that_goes_away_in_the_middle_costs_predictions_not_the_deadline(
    seconds: float, when: float, is_reported: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    machine = Machine(SECONDS, pace=lambda now_s: 2.0 if now_s > when * seconds else 1.0)
    prices = quiet_prices(rates_of())
    if is_reported:
        prices.slowdown = Reported(machine.clock, machine.pace)
    (result,) = run_on(machine, monkeypatch, seconds, prices=prices)
    check_ready(result, seconds, slack_s=0.001)
    assert is_labelled(result)
    assert has_note(result, "painting took too long") == bool(result.windows[0].finishes[0].late)


def test_several_budgets_are_kept_on_a_machine_that_gets_slower_and_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(SECONDS, pace=lambda now_s: 1 + now_s)
    budgets = (0.1, 0.4, 1.0, 2.0)
    results = run_on(machine, monkeypatch, *budgets, prices=quiet_prices(rates_of()))
    for result, seconds in zip(results, budgets, strict=True):
        check_ready(result, seconds, slack_s=0.001)
        assert is_labelled(result)


def test_windows_are_kept_on_a_machine_that_is_slower_than_known(monkeypatch: pytest.MonkeyPatch) -> None:
    machine = Machine(SECONDS, pace=lambda _: 2.0)
    (result,) = run_on(machine, monkeypatch, 0.8, prices=quiet_prices(rates_of()), window=6)
    check_ready(result, 0.8)
    assert [bool(window.events) for window in result.windows] == [True] * 4


def test_more_is_kept_back_where_the_process_waits_for_a_core(monkeypatch: pytest.MonkeyPatch) -> None:
    spent = []
    for factor in (1.0, 2.0):
        machine = Machine(SECONDS, pace=lambda _, factor=factor: factor)  # type: ignore[misc]
        prices = quiet_prices(rates_of())
        prices.slowdown = Reported(machine.clock, machine.pace)
        prices.look()
        with monkeypatch.context() as patch:
            (result,) = run_on(machine, patch, 1.0, prices=prices)
        check_ready(result, 1.0)
        spent.append(result.ledger.spent_s)
    margins = Margins()
    assert margins.reserve_s(1.0, 0.5) > margins.reserve_s(1.0, 0.0)
    assert spent[1] < 1.0 - margins.reserve_s(1.0, 0.5) + 0.01
