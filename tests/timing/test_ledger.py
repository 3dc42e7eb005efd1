"""Accounts add up, and prices are learned from them."""

import json
from copy import deepcopy
from pathlib import Path

import pytest

from budgetseg.timing.clock import CostClock, ManualClock
from budgetseg.timing.ledger import Account, Entry, Ledger
from budgetseg.timing.prices import Prices
from budgetseg.timing.slowdown import Slowdown


def some_ledger(budget_s: float | None = 2.0) -> Ledger:
    ledger = Ledger(budget_s, spent_s=1.5, stages={"decode": Entry(0.4, 0.5, 1)}, decisions=7, cache_hits=3)
    ledger.book_source("hog", 0.1, 0.2)
    ledger.note("hog failed; dropped")
    return ledger


def assert_entry(entry: Entry, planned_s: float, spent_s: float, count: int) -> None:
    assert (entry.planned_s, entry.spent_s) == pytest.approx((planned_s, spent_s))
    assert entry.count == count


def test_entries_add_up() -> None:
    entry = Entry()
    entry.merge(Entry(1.5, 2.25, 2))
    entry.merge(Entry(1.0, 1.0, 3))
    assert entry == Entry(2.5, 3.25, 5)


@pytest.mark.parametrize(("budget_s", "overrun_s"), [(None, 0.0), (1.0, 0.5), (1.5, 0.0), (2.0, 0.0)])
def test_an_overrun_is_what_was_spent_beyond_the_budget(budget_s: float | None, overrun_s: float) -> None:
    assert some_ledger(budget_s).overrun_s == pytest.approx(overrun_s)


def test_a_note_is_written_once() -> None:
    ledger = Ledger(None)
    for line in ("one", "two", "one"):
        ledger.note(line)
    assert ledger.notes == ["one", "two"]


def test_stages_are_booked_by_name_in_the_order_in_which_they_first_ran() -> None:
    ledger = Ledger(None)
    ledger.book_stage("pixels", 0.1, 0.2)
    ledger.book_stage("decode", 1.0, 2.0, count=5)
    ledger.book_stage("pixels", 0.3, 0.4)
    assert list(ledger.stages) == ["pixels", "decode"]
    assert_entry(ledger.stages["decode"], 1.0, 2.0, 5)
    assert_entry(ledger.stages["pixels"], 0.4, 0.6, 2)


def test_seconds_of_sources_are_those_of_every_source() -> None:
    ledger = some_ledger()
    ledger.book_source("hog", 0.1, 0.3)
    ledger.book_source("colour", 0.0, 0.5)
    assert ledger.sources["hog"] == Entry(0.2, 0.5, 2)
    assert ledger.sources_s == pytest.approx(1.0)


def test_two_accounts_become_one_and_stay_what_they_were() -> None:
    first, second = some_ledger(), some_ledger(budget_s=9.0)
    second.scope = "descriptors"
    second.work_left = True
    second.cache_misses = 4
    second.next_s = 0.3
    second.stages["pixels"] = Entry(0.1, 0.1, 1)
    second.note("colour is not finite; dropped")
    before = deepcopy(first), deepcopy(second)
    whole = first.plus(second)
    assert (first, second) == before
    assert whole == Ledger(
        2.0,
        "total",
        spent_s=3.0,
        stages={"decode": Entry(0.8, 1.0, 2), "pixels": Entry(0.1, 0.1, 1)},
        sources={"hog": Entry(0.2, 0.4, 2)},
        decisions=14,
        cache_hits=6,
        cache_misses=4,
        work_left=True,
        next_s=0.3,
        notes=["hog failed; dropped", "colour is not finite; dropped"],
    )
    whole.book_stage("pixels", 1, 1)
    assert second.stages["pixels"].count == 1


def test_adding_to_nothing_shares_nothing() -> None:
    ledger = some_ledger()
    whole = Ledger(None).plus(ledger)
    whole.book_source("hog", 1, 1)
    whole.note("more")
    assert ledger == some_ledger()


def test_json_has_it_all_and_the_overrun() -> None:
    stored = json.loads(json.dumps(some_ledger(1.0).as_dict()))
    assert stored["overrun_s"] == pytest.approx(0.5)
    assert stored["sources"]["hog"] == {"planned_s": 0.1, "spent_s": 0.2, "count": 1}
    assert set(vars(some_ledger())) - {"counted"} < set(stored)


def account_of(factor: float = 1.0) -> tuple[Account, ManualClock]:
    """An account on a machine that is so many times slower than alone, and its clock."""
    prices, clock = Prices({"decode .mp4": 0.01}), ManualClock()
    prices.slowdown = Slowdown(Path("/nowhere"))  # the kernel would say how busy this machine is
    prices.slowdown.factor = factor
    return Account(clock, prices, Ledger(None)), clock


def test_stages_are_predicted_for_a_machine_as_busy_as_it_is() -> None:
    assert account_of(2.0)[0].predict_s("decode .mp4", 50) == pytest.approx(1.0)
    assert account_of()[0].predict_s("never seen", 50) == 0


def test_a_stage_is_booked_under_its_name_and_priced_by_its_key() -> None:
    account, _ = account_of(2.0)
    account.book("decode", 50, 4.0, "decode .mp4")
    assert list(account.ledger.stages) == ["decode"]
    assert_entry(account.ledger.stages["decode"], 1.0, 4.0, 1)
    assert "decode" not in account.prices
    assert 1.0 < account.predict_s("decode .mp4", 50) < 4.0


def test_a_stage_without_a_key_is_priced_by_its_name_and_the_slowdown_counts_once() -> None:
    account, _ = account_of(2.0)
    account.book("pixels", 10, 3.0)
    assert account.prices.usual("pixels", 10.0) == pytest.approx(1.5)
    assert account.predict_s("pixels", 20) == pytest.approx(6.0)


def test_a_block_is_timed_by_the_clock_of_the_run() -> None:
    account, clock = account_of()
    with account.stage("pixels", 10):
        clock.advance(0.7)
    assert_entry(account.ledger.stages["pixels"], 0.0, 0.7, 1)
    with account.stage("pixels", 20):
        clock.advance(1.4)
    assert_entry(account.ledger.stages["pixels"], 1.4, 2.1, 2)


def test_a_block_that_fails_is_neither_booked_nor_learned_from() -> None:
    account, _ = account_of()
    with pytest.raises(ZeroDivisionError), account.stage("carrying", 10):
        raise ZeroDivisionError
    assert not account.ledger.stages
    assert "carrying" not in account.prices


def test_a_simulated_clock_is_charged_what_a_stage_was_predicted_to_take() -> None:
    prices, clock = Prices({"pixels": 0.1}, frozen=True), CostClock()
    account = Account(clock, prices, Ledger(None))
    with account.stage("pixels", 10):
        pass
    assert clock.now_s() == pytest.approx(1.0)
    assert_entry(account.ledger.stages["pixels"], 1.0, 1.0, 1)


def test_what_is_done_in_a_pause_is_booked_and_does_not_count() -> None:
    account, clock = account_of()
    with clock.paused(), account.stage("pixels", 10):
        clock.advance(0.7)
    assert clock.now_s() == 0
    assert account.ledger.stages["pixels"].spent_s == pytest.approx(0.7)
    assert account.predict_s("pixels", 10) == pytest.approx(0.7)


def test_a_count_of_frames_is_one_note_that_is_replaced_or_taken_back() -> None:
    ledger = Ledger(1.0)
    ledger.count("no time for {}", 3)
    ledger.count("no time for {}", 1)
    assert ledger.notes == ["no time for 1 frame"]
    ledger.count("no time for {}", 0)
    assert ledger.notes == []


def test_counts_of_windows_add_up_to_one_note() -> None:
    first, second = Ledger(1.0), Ledger(None)
    first.count("no time for {}", 3)
    second.count("no time for {}", 2)
    second.note("networks were cut off")
    assert first.plus(second).notes == ["networks were cut off", "no time for 5 frames"]
    assert "counted" not in first.as_dict()


def test_pandas_gets_a_row_for_each_stage_and_source() -> None:
    pytest.importorskip("pandas")
    table = some_ledger().to_pandas()
    assert table.to_dict("index") == {
        "decode": {"kind": "stage", "planned_s": 0.4, "spent_s": 0.5, "count": 1},
        "hog": {"kind": "source", "planned_s": 0.1, "spent_s": 0.2, "count": 1},
    }
    assert list(Ledger(None).to_pandas().columns) == ["kind", "planned_s", "spent_s", "count"]
