"""Means over seeds, and how sure they are."""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from budgetseg.evaluation.summary import Mean, summarise


def row(method: str, budget_s: float | None, seed: int, value: float | None, video: str = "all") -> dict[str, Any]:
    accuracy = {"class_average": value, "global": 0.5, "miou": None}
    fraction = None if budget_s is None else budget_s / 10
    return {
        "video": video,
        "method": method,
        "budget_fraction": fraction,
        "budget_s": budget_s,
        "spent_s": seed,
        "seed": seed,
        "accuracy": accuracy,
    }


def test_the_interval_is_that_of_student() -> None:
    figures = [0.3, 0.5, 0.45, 0.6]
    found = Mean.of(figures)
    low, high = stats.t.interval(0.95, 3, loc=np.mean(figures), scale=stats.sem(figures))
    assert found.value == pytest.approx(np.mean(figures))
    assert found.within == pytest.approx((high - low) / 2)


def test_one_figure_has_no_interval_and_none_no_mean() -> None:
    assert Mean.of([0.25]) == Mean(0.25, None)
    assert Mean.of([]) == Mean.of([None, None]) == Mean(None, None)


def test_each_method_and_budget_has_a_line_over_seeds() -> None:
    rows = [row("a", 2.0, 0, 0.2), row("a", 2.0, 0, 0.9, "street"), row("a", 2.0, 1, 0.4), row("a", 4.0, 0, 0.1)]
    lines = summarise([*rows, row("b", None, 0, 0.7)])
    assert [(line.method, line.budget_fraction, line.budget_s, line.spent_s) for line in lines] == [
        ("a", 0.2, 2.0, 0.5),
        ("a", 0.4, 4.0, 0),
        ("b", None, None, 0),
    ]
    assert lines[0].figures["class_average"].value == pytest.approx(0.3)
    assert lines[0].figures["global"] == Mean(0.5, 0.0)
    assert lines[2].figures == {"class_average": Mean(0.7), "global": Mean(0.5), "miou": Mean(None)}
