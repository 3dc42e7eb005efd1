"""Rows of the benchmark of decisions are as announced."""

from itertools import count

import pytest

from budgetseg.evaluation import bench_decisions as module
from budgetseg.evaluation.bench_decisions import bench_decisions


@pytest.fixture(autouse=True)
def _second_a_look(monkeypatch: pytest.MonkeyPatch) -> None:
    """A clock that moves by a second whenever it is read."""
    seconds = count()
    monkeypatch.setattr(module, "thread_s", lambda: float(next(seconds)))


def test_seconds_are_shared_out_over_decisions_and_compared_with_the_budget() -> None:
    rows = bench_decisions(None, repeats=2, sizes=(200,))
    assert [row["features"] for row in rows] == ["paper", "extended"]
    for row in rows:
        assert list(row) == [
            "n_supervoxels",
            "us_per_decision",
            "share_of_budget",
            "features",
            "order",
            "decisions",
            "descriptors",
        ]
        decisions = int(row["decisions"] or 0)
        assert decisions >= int(row["descriptors"] or 0) > 0
        assert row["us_per_decision"] == pytest.approx(1e6 / decisions)
        assert float(row["share_of_budget"] or 0) > 0
    assert rows[0]["share_of_budget"] == rows[1]["share_of_budget"]
