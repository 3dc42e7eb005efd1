"""What may be wanted of a run, and what is refused."""

import math

import pytest

from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.types import Budget

SHARE = Budget(0.5, is_share=True)


def test_labels_are_due_at_the_largest_budget() -> None:
    assert Request((Budget(2.0), Budget(5.0))).end_s == 5.0


@pytest.mark.parametrize("wanted", [Request((SHARE,)), Request((Budget(2.0),), "descriptors")])
def test_a_share_or_a_budget_of_descriptors_alone_bounds_no_moment(wanted: Request) -> None:
    assert wanted.end_s == math.inf


@pytest.mark.parametrize(
    ("budgets", "scope", "line"),
    [
        ((), "total", "a budget must be more than 0; for example 10s"),
        ((Budget(0.0),), "total", "a budget must be more than 0; for example 10s"),
        ((Budget(-1.0), Budget(2.0)), "total", "a budget must be more than 0; for example 10s"),
        ((Budget(2.0), Budget(1.0)), "total", "budgets must rise; for example 2s,5s,10s"),
        ((Budget(1.0), Budget(1.0)), "total", "budgets must rise; for example 2s,5s,10s"),
        ((SHARE, Budget(1.0)), "total", "budgets must all be times, or all be shares; for example 2s,5s or 10%,50%"),
        ((Budget(1.0),), "decode", "no scope 'decode'; choose from total, descriptors"),
    ],
)
def test_what_makes_no_sense_is_refused_in_one_line(budgets: tuple[Budget, ...], scope: str, line: str) -> None:
    with pytest.raises(UsageError) as error:
        Request(budgets, scope)
    assert str(error.value) == line
