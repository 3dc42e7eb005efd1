"""`budgetseg bench`, on a video small enough for a test."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.cli.bench import _cell
from budgetseg.errors import UsageError
from budgetseg.evaluation import bench_descriptors, bench_supervoxels
from budgetseg.evaluation.bench_descriptors import Row
from budgetseg.evaluation.bench_supervoxels import Case
from budgetseg.evaluation.clips import Street
from tests.app.streets import write_model, write_networks


def test_supervoxels_prints_the_agreed_rows(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    case = Case("tiny street", Street((64, 48), 8), (10, 30))
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


def test_backends_prints_the_agreed_rows(tmp_path: Path) -> None:
    pytest.importorskip("onnx")
    net = write_networks(tmp_path / "nets", {"net": 4}) / "net.toml"
    words = ["bench", "backends", "--json", "--network", str(net), "--threads", "2", "--frames", "3"]
    report = json.loads(CliRunner().invoke(app, words).stdout)
    assert report["bench"] == "backends"
    assert [list(row) for row in report["rows"]] == [
        ["network", "backend", "precision", "threads", "ms", "agreement"] for _ in report["rows"]
    ]
    first = report["rows"][0]
    assert first["ms"] > 0
    assert (first["backend"], first["precision"], first["agreement"]) == ("onnxruntime", "f32", 1.0)
    assert {(row["network"], row["threads"]) for row in report["rows"]} == {("net", 2)}


def test_backends_of_a_model_without_networks_are_refused(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "backends", "--model", str(write_model(tmp_path / "model"))])
    assert isinstance(result.exception, UsageError)
    assert "has no networks; choose another --model, or give --network" in str(result.exception)


ROW: Row = {
    "descriptor": "colour",
    "ms_per_frame": 0.5,
    "us_per_supervoxel": 15.25,
    "cpu_s": 0.05,
    "cost_error_median": 0.125,
    "us_per_track": None,
}


@pytest.fixture
def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Path | None, int]]:
    """What the bench of descriptors was asked to measure; it answers one row at once."""
    asked: list[tuple[Path | None, int]] = []

    def answer(data: Path | None, repeats: int, *_: object) -> list[Row]:
        asked.append((data, repeats))
        return [ROW]

    monkeypatch.setattr(bench_descriptors, "bench_descriptors", answer)
    return asked


def test_descriptors_prints_rows_for_programs(measured: list[tuple[Path | None, int]], tmp_path: Path) -> None:
    (tmp_path / "camvid").mkdir()
    words = ["bench", "descriptors", "--json", "--data", str(tmp_path), "--repeats", "2"]
    report = json.loads(CliRunner().invoke(app, words).stdout)
    assert (report["bench"], report["rows"]) == ("descriptors", [ROW])
    assert report["environment"]["cores"] >= 1
    assert measured == [(tmp_path, 2)]


@pytest.mark.usefixtures("measured")
def test_descriptors_prints_a_table_for_people(tmp_path: Path) -> None:
    (tmp_path / "camvid").mkdir()
    header, row, *_ = CliRunner().invoke(app, ["bench", "descriptors", "--data", str(tmp_path)]).stdout.splitlines()
    assert header.split() == list(ROW)
    assert row.split() == ["colour", "0.500", "15", "0.050", "0.125", "-"]


def test_without_data_descriptors_are_measured_on_a_street(
    measured: list[tuple[Path | None, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("BUDGETSEG_DATA", raising=False)
    assert CliRunner().invoke(app, ["bench", "descriptors"]).exit_code == 0
    assert measured == [(None, 3)]


@pytest.mark.parametrize("bench", ["supervoxels", "descriptors"])
@pytest.mark.parametrize("how", ["option", "environment"])
def test_a_data_folder_that_is_not_there_is_an_error(tmp_path: Path, how: str, bench: str) -> None:
    place = str(tmp_path / "nowhere")
    words, env = (["--data", place], {}) if how == "option" else ([], {"BUDGETSEG_DATA": place})
    result = CliRunner().invoke(app, ["bench", bench, *words], env=env)
    assert isinstance(result.exception, UsageError)
    assert place in str(result.exception)


def test_people_get_numbers_that_fit_a_table() -> None:
    assert [_cell(value) for value in (None, "bus", 1000, 0.98765, 412.4)] == ["-", "bus", "1000", "0.988", "412"]


def test_deadlines_need_real_clips(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "deadline", "--data", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "no real clips" in str(result.exception)
