"""The end of a run: labels as of the unbounded CRF, or the best there is so far."""

from collections.abc import Iterator

import numpy as np
import pytest

from budgetseg.classifiers.samples import place_of
from budgetseg.evaluation.experiment import label_table
from budgetseg.inference.ledger import Books, Ledger
from budgetseg.inference.stages import StageCosts
from budgetseg.policy.state import State, new_state, world_of
from budgetseg.spaces.regions.closing import STAGES, Closing
from budgetseg.spaces.regions.interpolation import interpolate
from budgetseg.types import Float32, Int32
from tests.models.made import HAND_MADE, random_model, random_table

MODEL = random_model(HAND_MADE)
H = MODEL.classifiers
TABLE = random_table(HAND_MADE, n=60)
FULL = np.full(60, H.n_subsets - 1, np.int32)
SOME = np.random.default_rng(3).integers(0, H.n_subsets, 60, np.int32) * (np.arange(60) % 3 > 0)


@pytest.fixture
def books() -> Books:
    """On an idle machine, whatever the kernel says."""
    stages = StageCosts()
    stages.contention.look = lambda: None  # type: ignore[method-assign]
    return Books(Ledger(None), stages)


def closing() -> Closing:
    return Closing(MODEL.crf, H.prior, H.starts, TABLE.graph)


def state_of(subsets: Int32) -> State:
    """Where a run stands that has computed these."""
    state = new_state(world_of(TABLE.graph, TABLE.costs), H.n_labels, np.inf, 0)
    state.subsets[:] = subsets
    state.said[:] = H.predict(TABLE.values, place_of(TABLE.graph), subsets)
    return state


def inputs() -> Float32:
    return H.scaled(TABLE.values)


def after(n: int) -> Iterator[bool]:
    """False, until it is asked for the n-th time."""
    yield from [False] * (n - 1)
    while True:
        yield True


@pytest.mark.parametrize("subsets", [FULL, SOME.astype(np.int32), 0 * FULL], ids=["full", "some", "none"])
def test_labels_are_those_of_the_unbounded_crf(books: Books, subsets: Int32) -> None:
    end = closing()
    closed = end(state_of(subsets), inputs(), books)
    assert np.array_equal(closed.labels, label_table(MODEL, TABLE, subsets))
    assert end.last is closed
    assert closed.n_moves is None


def test_probabilities_are_interpolated_where_nothing_was_computed(books: Books) -> None:
    end, state = closing(), state_of(SOME.astype(np.int32))
    found = end(state, inputs(), books).probabilities
    known = state.subsets > 0
    assert 0 < known.sum() < len(known)
    assert np.array_equal(found[known], state.said[known])
    assert np.array_equal(found, interpolate(state.said, known, TABLE.graph, H.prior))


def test_who_has_no_time_at_all_gets_the_labels_of_the_unaries(books: Books) -> None:
    end = closing()
    labels, _, n_moves = end(state_of(FULL), inputs(), books, lambda: True)
    assert np.array_equal(labels, label_table(MODEL, TABLE, FULL, with_crf=False))
    assert not np.array_equal(labels, label_table(MODEL, TABLE, FULL))
    assert n_moves == 1


def test_who_stops_early_has_labels_and_knows_where_it_was(books: Books) -> None:
    enough, end = after(2), closing()
    labels, _, n_moves = end(state_of(FULL), inputs(), books, lambda: next(enough))
    assert n_moves == 2
    assert labels.shape == (60,)
    assert ((labels >= 0) & (labels < H.n_labels)).all()
    # Told again, the rest is made up for.
    labels, _, n_moves = end(state_of(FULL), inputs(), books)
    assert labels.shape == (60,)
    assert n_moves is None


def test_closing_again_with_nothing_new_changes_nothing(books: Books) -> None:
    end = closing()
    first = end(state_of(FULL), inputs(), books).labels.copy()
    assert np.array_equal(end(state_of(FULL), inputs(), books).labels, first)


def test_at_best_a_second_time_takes_no_longer_than_the_first(books: Books) -> None:
    end = closing()
    end(state_of(FULL), inputs(), books)
    first_s = closing().foretold_s(books)
    for stage in STAGES:
        books.stages.observe(f"{stage} again", 60.0, 100 * first_s)
    assert end.foretold_s(books, at_best=True) == pytest.approx(first_s)
    assert end.foretold_s(books) > 10 * first_s


def test_first_and_later_times_are_foretold_apart(books: Books) -> None:
    end = closing()
    assert end.foretold_s(books) == 0
    end(state_of(FULL), inputs(), books)
    assert list(books.ledger.stages) == list(STAGES)
    first_s = sum(entry.spent_s for entry in books.ledger.stages.values())
    assert closing().foretold_s(books) == pytest.approx(first_s)
    assert end.foretold_s(books) == 0  # never closed again
    end(state_of(FULL), inputs(), books)
    again_s = sum(entry.spent_s for entry in books.ledger.stages.values()) - first_s
    assert end.foretold_s(books) == pytest.approx(again_s, rel=1e-3)
    assert closing().foretold_s(books) == pytest.approx(first_s)
