"""The rows of the deadline benchmark, and their summary."""

from pathlib import Path

import pytest

from budgetseg.app.model import LoadedModel
from budgetseg.evaluation import bench_deadline as module
from budgetseg.evaluation.bench_deadline import bench_deadline, deadline_clips, summarise
from budgetseg.models.bundle import load_model
from budgetseg.video import open_video
from tests.app.streets import write_seeing_model, write_street


@pytest.mark.parametrize("space", ["frames", "regions"])
def test_every_clip_runs_at_every_budget_idle_and_loaded(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, space: str
) -> None:
    pytest.importorskip("onnx")
    monkeypatch.setattr(module, "TIMES_FLOOR", (4.0,))
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path))
    clip = open_video(write_street(tmp_path / "street.mp4"))
    model = LoadedModel(load_model(write_seeing_model(tmp_path / "model")), space=space)
    steps: list[int] = []
    rows = bench_deadline(model, [clip], 2, steps.append, space, n_floors=1)
    assert [row["load"] for row in rows] == ["idle", "idle", "loaded", "loaded"]
    assert {row["engine"] for row in rows} == {space}
    assert sum(steps) == len(rows)
    for row in rows:
        assert row["spent_s"] >= row["ledger_s"]
        assert row["used_share"] == pytest.approx(row["spent_s"] / row["budget_s"])
        assert row["overrun_share"] == max(row["used_share"] - 1, 0)


def test_the_summary_tells_of_the_worst_and_of_runs_with_work_left() -> None:
    rows = [
        {
            "load": load,
            "overrun_share": over,
            "used_share": 1 + over - 0.02,
            "work_left": over > 0,
            "next_s": 0.1,
            "budget_s": 1.0,
            "notes": "",
        }
        for load in ("idle", "loaded")
        for over in (0.0, 0.01, 0.03)
    ]
    idle, loaded = summarise(rows)
    assert (idle["load"], loaded["load"]) == ("idle", "loaded")
    assert idle["overrun_max"] == 0.03
    assert idle["work_left"] == 2
    assert idle["used_min"] == pytest.approx(0.99)


def test_a_budget_is_unused_where_a_piece_of_work_would_have_fitted() -> None:
    row = {"load": "idle", "overrun_share": 0.0, "budget_s": 2.0, "work_left": True, "notes": ""}
    rows = [{**row, "used_share": used, "next_s": next_s} for used in (0.96, 0.98) for next_s in (0.05, 0.07)]
    rows.append({**row, "used_share": 0.5, "work_left": False, "next_s": 0.0})
    assert summarise([*rows, *({**one, "load": "loaded"} for one in rows)])[0]["unused"] == 1


def test_clips_are_those_that_are_there(data_root: Path, tmp_path: Path) -> None:
    assert len(deadline_clips(data_root)) == 8
    assert deadline_clips(tmp_path) == []
