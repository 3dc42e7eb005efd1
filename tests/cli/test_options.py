"""Options that several commands share."""

import math

import pytest

from budgetseg.cli.options import parse_budgets, parse_size
from budgetseg.errors import UsageError
from budgetseg.types import Budget


def test_a_size_is_width_times_height() -> None:
    assert parse_size("480x360") == parse_size(" 480×360") == (480, 360)
    assert parse_size(None) is None


@pytest.mark.parametrize("text", ["480", "axb", "480x", "-1x5"])
def test_other_texts_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match="for example 480x360"):
        parse_size(text)


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("10s", Budget(10)),
        ("500ms", Budget(0.5)),
        ("2m", Budget(120)),
        ("1.5H", Budget(5400)),
        (" .5 s", Budget(0.5)),
        ("20%", Budget(0.2, is_share=True)),
        ("0.2", Budget(0.2, is_share=True)),
        ("1", Budget(1, is_share=True)),
        ("inf", Budget(math.inf)),
    ],
)
def test_a_budget_is_a_time_a_share_or_without_end(text: str, budget: Budget) -> None:
    assert parse_budgets(text) == (budget,)


def test_a_number_without_a_unit_is_shown_with_one() -> None:
    with pytest.raises(UsageError, match=r"with its unit\. Got '5'; write 5s; "):
        parse_budgets("5")


def test_no_bound_goes_with_times_and_with_shares() -> None:
    assert parse_budgets("2s, 5s,inf") == (Budget(2), Budget(5), Budget(math.inf))
    assert parse_budgets("50%,inf") == (Budget(0.5, is_share=True), Budget(math.inf, is_share=True))


@pytest.mark.parametrize(
    "text", ["", "0", "0s", "-1s", "ten", "10 seconds", "10", "1.5", "120%", "0%", "nan", "1e3s", "2s,,5s", "infs"]
)
def test_other_budgets_are_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError, match=r"budget must be .*; for example .*10s"):
        parse_budgets(text)
