"""The table of Baseline3: what it wants, and what it is not made of."""

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.policy.baseline3 import N_LEVELS, Baseline3Policy, baseline3_for
from budgetseg.types import Float32

AMONG = ("colour", "hog", "hof")


def policy_of(*values: float) -> Baseline3Policy:
    """The same values, of each descriptor and of none, in every state."""
    return Baseline3Policy(AMONG, "shared", np.tile(np.array(values, np.float32), (8, N_LEVELS, 1)))


def test_it_wants_what_is_worth_more_than_nothing_and_is_not_there_best_first() -> None:
    policy = policy_of(0.2, 0.5, 0.1, 0.15)
    assert policy.wanted(0b000, 0.5) == [1, 0]
    assert policy.wanted(0b010, 0.5) == [0]
    assert policy.wanted(0b011, 0.5) == []


@pytest.mark.parametrize(("left", "place"), [(-0.1, 0), (0.0, 0), (0.0099, 0), (0.5, 50), (0.999, 99), (7.0, 100)])
def test_the_budget_left_is_told_in_hundredths_of_the_full_cost(left: float, place: int) -> None:
    policy = policy_of(0, 0, 0, 1)
    policy.values[0, place, 2] = 2
    assert policy.wanted(0, left) == [2]


@pytest.mark.parametrize(
    ("costs", "values", "line"),
    [
        ("free", np.zeros((8, N_LEVELS, 4), np.float32), "no costs 'free'"),
        ("shared", np.zeros((8, N_LEVELS, 3), np.float32), "values must be"),
        ("shared", np.full((8, N_LEVELS, 4), np.nan, np.float32), "values must be"),
    ],
)
def test_tables_that_make_no_sense_are_refused(costs: str, values: Float32, line: str) -> None:
    with pytest.raises(UsageError, match=line):
        Baseline3Policy(AMONG, costs, values)


def test_a_policy_is_found_by_its_descriptors_in_any_order_and_its_costs() -> None:
    policy = policy_of(0, 0, 0, 0)
    assert baseline3_for([policy], AMONG[::-1]) is policy
    assert baseline3_for([policy], AMONG, "unshared") is None
    assert baseline3_for([policy], AMONG[:2]) is None
