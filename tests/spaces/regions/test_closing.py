"""The end of a run: labels as of the unbounded CRF, or the best there is so far."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from budgetseg.classifiers.samples import place_of
from budgetseg.evaluation.experiment import label_table
from budgetseg.policy.state import State, new_state, world_of
from budgetseg.spaces.regions.closing import STAGES, Closing
from budgetseg.spaces.regions.interpolation import interpolate
from budgetseg.timing.clock import CostClock, ManualClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import Prices
from budgetseg.timing.slowdown import Slowdown
from budgetseg.types import Float32, Int32
from tests.models.made import HAND_MADE, random_model, random_table

MODEL = random_model(HAND_MADE)
H = MODEL.classifiers
TABLE = random_table(HAND_MADE, n=60)
FULL = np.full(60, H.n_subsets - 1, np.int32)
SOME = np.random.default_rng(3).integers(0, H.n_subsets, 60, np.int32) * (np.arange(60) % 3 > 0)


@pytest.fixture
def account() -> Account:
    """Of a run in which only the test lets time pass, on an idle machine."""
    prices = Prices()
    prices.slowdown = Slowdown(Path("/nowhere"))
    return Account(ManualClock(), prices, Ledger(None))


def closing() -> Closing:
    return Closing(MODEL.crf, H.prior, H.starts, TABLE.graph)


def state_of(subsets: Int32) -> State:
    """Where a run stands that has computed these."""
    state = new_state(world_of(TABLE.graph, TABLE.costs), H.n_labels, np.inf, 0)
    state.subsets[:] = subsets
    state.probabilities[:] = H.predict(TABLE.values, place_of(TABLE.graph), subsets)
    return state


def inputs() -> Float32:
    return H.scaled(TABLE.values)


def after(n: int) -> Iterator[bool]:
    """False, until it is asked for the n-th time."""
    yield from [False] * (n - 1)
    while True:
        yield True


@pytest.mark.parametrize("subsets", [FULL, SOME.astype(np.int32), 0 * FULL], ids=["full", "some", "none"])
def test_labels_are_those_of_the_unbounded_crf(account: Account, subsets: Int32) -> None:
    end = closing()
    closed = end(state_of(subsets), inputs(), account)
    assert np.array_equal(closed.labels, label_table(MODEL, TABLE, subsets))
    assert end.last is closed
    assert closed.n_moves is None


def test_probabilities_are_interpolated_where_nothing_was_computed(account: Account) -> None:
    end, state = closing(), state_of(SOME.astype(np.int32))
    found = end(state, inputs(), account).probabilities
    known = state.subsets > 0
    assert 0 < known.sum() < len(known)
    assert np.array_equal(found[known], state.probabilities[known])
    assert np.array_equal(found, interpolate(state.probabilities, known, TABLE.graph, H.prior))


def test_without_any_time_labels_are_those_of_the_unaries(account: Account) -> None:
    end = closing()
    labels, _, n_moves = end(state_of(FULL), inputs(), account, lambda: True)
    assert np.array_equal(labels, label_table(MODEL, TABLE, FULL, with_crf=False))
    assert not np.array_equal(labels, label_table(MODEL, TABLE, FULL))
    assert n_moves == 1


def test_an_expansion_that_stops_early_has_labels_and_counts_its_moves(account: Account) -> None:
    enough, end = after(2), closing()
    labels, _, n_moves = end(state_of(FULL), inputs(), account, lambda: next(enough))
    assert n_moves == 2
    assert labels.shape == (60,)
    assert ((labels >= 0) & (labels < H.n_labels)).all()
    # The next time makes up for the rest.
    labels, _, n_moves = end(state_of(FULL), inputs(), account)
    assert labels.shape == (60,)
    assert n_moves is None


def test_closing_again_with_nothing_new_changes_nothing(account: Account) -> None:
    end = closing()
    first = end(state_of(FULL), inputs(), account).labels.copy()
    assert np.array_equal(end(state_of(FULL), inputs(), account).labels, first)


FIRST = {"interpolation": 0.01, "potentials": 0.02, "expansion": 0.03}
AGAIN = {"interpolation again": 0.001, "potentials again": 0.002, "expansion again": 0.003}


def test_first_and_later_times_have_prices_of_their_own() -> None:
    clock = CostClock()
    account = Account(clock, Prices(FIRST | AGAIN, frozen=True), Ledger(None))
    end = closing()
    for seconds in (60 * 0.06, 60 * 0.006, 60 * 0.006):
        assert end.predict_s(account) == pytest.approx(seconds)
        before_s = clock.now_s()
        end(state_of(FULL), inputs(), account)
        assert clock.now_s() - before_s == pytest.approx(seconds)
    assert closing().predict_s(account) == pytest.approx(60 * 0.06)


def test_both_are_booked_under_the_same_names_and_learned_apart(account: Account) -> None:
    clock, end = account.clock, closing()
    assert isinstance(clock, ManualClock)
    for move_s in (1.0, 0.25):
        before_s = clock.now_s()

        def enough(move_s: float = move_s) -> bool:
            clock.advance(move_s)  # every move takes so long
            return False

        end(state_of(FULL), inputs(), account, enough)
        key = "expansion" if move_s == 1.0 else "expansion again"
        assert account.predict_s(key, 60.0) == pytest.approx(clock.now_s() - before_s)
    assert list(account.ledger.stages) == list(STAGES)
    assert account.ledger.stages["expansion"].count == 2
    assert account.ledger.stages["expansion"].spent_s == pytest.approx(clock.now_s())
