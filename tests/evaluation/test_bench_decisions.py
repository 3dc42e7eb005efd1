"""Deciding is cheap, and its rows are as announced."""

from budgetseg.evaluation.bench_decisions import bench_decisions


def test_a_decision_takes_microseconds_and_a_small_share_of_the_budget() -> None:
    rows = bench_decisions(None, repeats=3, sizes=(1000,))
    assert [row["features"] for row in rows] == ["paper", "extended"]
    for row in rows:
        assert list(row)[:3] == ["n_supervoxels", "us_per_decision", "share_of_budget"]
        assert float(row["us_per_decision"] or 99) < 10
        assert float(row["share_of_budget"] or 1) < 0.02
