"""Tables hold means over seeds, in the order of the paper."""

from typing import Any

import pytest

from budgetseg.report.results import tables_of
from tests.report.worlds import result_row, result_rows


def test_seeds_become_a_mean_and_an_interval() -> None:
    (table,) = tables_of(result_rows())
    (line,) = [one for one in table["lines"] if (one["method"], one["budget_fraction"]) == ("static", 0.1)]
    mean, within = line["figures"]["class_average"]
    assert line["seeds"] == 3
    assert mean == pytest.approx(0.62)
    assert within == pytest.approx(4.303 * 0.01 / 3**0.5, rel=1e-3)  # Student's t with two degrees of freedom
    assert line["figures"]["class road"] == pytest.approx((mean, within))


def test_no_bound_comes_first_and_then_the_budgets_rise() -> None:
    (table,) = tables_of(result_rows())
    assert [line["budget_fraction"] for line in table["lines"]] == [None, 0.1, 0.1, 0.5, 0.5]
    assert table["lines"][0]["over_time"] == []
    assert table["lines"][1]["over_time"] == [[5, 1]] * 10
    assert table["lines"][1]["counts"] == [50, 10]


def test_budgets_in_seconds_are_the_same_for_methods_of_another_full_cost() -> None:
    rows = [
        result_row(method, share, 0, 0.5, budget_s=3.0) for method, share in (("static", 0.3), ("static-full", 0.1))
    ]
    (table,) = tables_of(rows)
    assert [line["budget"] for line in table["lines"]] == [3.0, 3.0]
    assert tables_of(result_rows())[0]["lines"][-1]["budget"] == 0.5


def test_a_table_has_one_dataset_and_one_cost_model() -> None:
    rows = [
        *result_rows(),
        result_row("crf", None, 0, 0.8, costs="unshared"),
        result_row("crf", None, 0, 0.8, split="val"),
    ]
    assert [(one["split"], one["costs"]) for one in tables_of(rows)] == [
        ("test", "shared"),
        ("test", "unshared"),
        ("val", "shared"),
    ]


def test_rows_of_single_videos_and_classes_that_do_not_occur_do_no_harm() -> None:
    accuracy: dict[str, Any] = {"global": None, "class_average": None, "miou": None, "per_class": {}}
    rows = [result_row("crf", None, 0, 0.9), result_row("crf", None, 0, 0.1, video="one")]
    (table,) = tables_of([*rows, result_row("unary", None, 0, 0.0, accuracy=accuracy)])
    assert [line["figures"]["class sky"] for line in table["lines"]] == [(1.0, None), (None, None)]


def test_temporal_consistency_is_a_mean_over_seeds_and_missing_in_older_files() -> None:
    rows = [result_row("frames", 0.1, seed, 0.5, temporal_consistency=0.8 + 0.1 * seed) for seed in range(2)]
    (table,) = tables_of([*rows, result_row("static", 0.1, 0, 0.5)])
    mean, none = (line["figures"]["temporal_consistency"] for line in table["lines"])
    assert mean[0] == pytest.approx(0.85)
    assert none == (None, None)
