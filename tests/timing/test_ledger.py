"""Accounts add up, and what they are foretold by learns from them."""

import json
from copy import deepcopy

import pytest

from budgetseg.inference.ledger import Books, Entry, Ledger
from budgetseg.inference.stages import StageCosts


def some_ledger(budget_s: float | None = 2.0) -> Ledger:
    ledger = Ledger(budget_s, spent_s=1.5, stages={"decode": Entry(0.4, 0.5, 1)}, decisions=7, cache_hits=3)
    ledger.computed("hog", 0.1, 0.2)
    ledger.note("hog failed; dropped")
    return ledger


def test_an_entry_counts_and_adds_up() -> None:
    entry = Entry()
    entry.add(1.0, 2.0)
    entry.add(0.5, 0.25)
    assert entry == Entry(1.5, 2.25, 2)
    entry.merge(Entry(1.0, 1.0, 3))
    assert entry == Entry(2.5, 3.25, 5)


@pytest.mark.parametrize(("budget_s", "overrun_s"), [(None, 0.0), (1.0, 0.5), (1.5, 0.0), (2.0, 0.0)])
def test_an_overrun_is_what_was_spent_beyond_the_budget(budget_s: float | None, overrun_s: float) -> None:
    assert some_ledger(budget_s).overrun_s == pytest.approx(overrun_s)


def test_nobody_is_told_twice() -> None:
    ledger = Ledger(None)
    for line in ("one", "two", "one"):
        ledger.note(line)
    assert ledger.notes == ["one", "two"]


def test_seconds_of_descriptors_are_those_of_every_descriptor() -> None:
    ledger = some_ledger()
    ledger.computed("hog", 0.1, 0.3)
    ledger.computed("colour", 0.0, 0.5)
    assert ledger.descriptors["hog"] == Entry(0.2, 0.5, 2)
    assert ledger.descriptors_s == pytest.approx(1.0)


def test_two_accounts_become_one_and_stay_what_they_were() -> None:
    first, second = some_ledger(), some_ledger(budget_s=9.0)
    second.scope, second.work_left, second.cache_misses, second.next_s = "descriptors", True, 4, 0.3
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
        descriptors={"hog": Entry(0.2, 0.4, 2)},
        decisions=14,
        cache_hits=6,
        cache_misses=4,
        work_left=True,
        next_s=0.3,
        notes=["hog failed; dropped", "colour is not finite; dropped"],
    )
    whole.stages["pixels"].add(1, 1)
    assert second.stages["pixels"].count == 1


def test_adding_to_nothing_shares_nothing() -> None:
    ledger = some_ledger()
    whole = Ledger(None).plus(ledger)
    whole.computed("hog", 1, 1)
    whole.note("more")
    assert ledger == some_ledger()


def test_json_has_it_all_and_the_overrun() -> None:
    stored = json.loads(json.dumps(some_ledger(1.0).as_dict()))
    assert stored["overrun_s"] == pytest.approx(0.5)
    assert stored["descriptors"]["hog"] == {"planned_s": 0.1, "spent_s": 0.2, "count": 1}
    assert set(vars(some_ledger())) < set(stored)


def books_of(stretch: float = 1.0) -> Books:
    """On a machine that is so many times slower than alone, whatever the kernel says."""
    stages = StageCosts({"decode .mp4": 0.01})
    stages.contention.stretch = stretch
    stages.contention.look = lambda: None  # type: ignore[method-assign]
    return Books(Ledger(None), stages)


def test_stages_are_foretold_as_busy_as_the_machine_is() -> None:
    assert books_of(2.0).foretold_s("decode .mp4", 50) == pytest.approx(1.0)
    assert books_of().foretold_s("never seen", 50) == 0


def test_a_stage_is_written_down_under_its_name_and_known_by_its_line() -> None:
    books = books_of(2.0)
    books.book("decode", 50, 4.0, "decode .mp4")
    (entry,) = books.ledger.stages.values()
    assert list(books.ledger.stages) == ["decode"]
    assert entry.planned_s == pytest.approx(1.0)
    assert (entry.spent_s, entry.count) == (4.0, 1)
    assert "decode" not in books.stages
    assert 1.0 < books.foretold_s("decode .mp4", 50) < 4.0
    books.book("pixels", 10, 3.0)
    assert books.foretold_s("pixels", 20) == pytest.approx(6.0)  # 1.5 s alone, twice the work, half of the core


def test_a_block_is_timed_and_one_that_fails_is_not_learned_from() -> None:
    books = books_of()
    with books.stage("pixels", 10):
        sum(range(10_000))
    entry = books.ledger.stages["pixels"]
    assert entry.count == 1
    assert 0 < entry.spent_s < 1
    with pytest.raises(ZeroDivisionError), books.stage("carrying", 10):
        raise ZeroDivisionError
    assert "carrying" not in books.ledger.stages
    assert "carrying" not in books.stages


def test_decoding_is_guessed_until_it_was_done_once() -> None:
    books = Books(Ledger(None), StageCosts())
    assert books.decoding_s("decode .mp4", 1e6, False) == pytest.approx(0.003)
    assert books.decoding_s("decode ", 1e6, True) == pytest.approx(0.015)
    books.book("decode", 1e6, 0.1, "decode .mp4")
    assert books.decoding_s("decode .mp4", 2e6, False) == pytest.approx(0.2, rel=0.1)
    assert books.decoding_s("decode .mkv", 1e6, False) == pytest.approx(0.003)
