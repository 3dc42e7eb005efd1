"""`budgetseg bench`, on a video small enough for a test."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.evaluation import bench_supervoxels
from budgetseg.evaluation.bench_supervoxels import Case, _Street


def test_supervoxels_prints_the_agreed_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    case = Case("tiny street", _Street((64, 48), 8), (10, 30))
    monkeypatch.setattr(bench_supervoxels, "data_cases", lambda _: [case])
    result = CliRunner().invoke(app, ["bench", "supervoxels", "--json", "--repeats", "1", "--data", str(tmp_path)])
    report = json.loads(result.stdout)
    assert report["bench"] == "supervoxels"
    assert report["environment"]["cores"] >= 1
    assert [(row["tier"], row["n"]) for row in report["rows"]] == [
        ("quality", 10),
        ("quality", 30),
        ("fast", 10),
        ("fast", 30),
    ]
    keys = ["video", "tier", "n", "ms_per_frame", "cpu_s", "peak_mb", "BR3D", "UE", "UEnp", "SA3D", "ASA", "EV", "bd"]
    assert all(list(row) == keys for row in report["rows"])
    assert all(0 < row["ASA"] <= 1 and row["peak_mb"] > 0 for row in report["rows"])


def test_the_data_that_is_there_decides_what_is_measured(data_root: Path, tmp_path: Path) -> None:
    names = [case.video for case in bench_supervoxels.data_cases(data_root)]
    assert names[0] == "camvid-dense"
    assert {"bus", "container", "garden", "paris", "soccer"} <= set(names)
    assert [case.video for case in bench_supervoxels.data_cases(tmp_path)] == ["street-0000"]
