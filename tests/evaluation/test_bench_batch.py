"""`budgetseg bench batch`: rows of jobs over the same videos."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app
from budgetseg.errors import UsageError
from budgetseg.evaluation.bench_batch import Batch, bench_batch
from budgetseg.executors.registry import ExecutorOptions

KEYS = ["executor", "jobs", "videos", "frames", "seconds", "frames_per_s", "overhead_share", "accuracy"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BUDGETSEG_CACHE", str(tmp_path / "cache"))


def test_all_videos_are_labelled_and_judged(data_root: Path) -> None:
    (row,) = bench_batch(data_root, Batch(n_videos=6, n_frames=3), [ExecutorOptions("local")])
    assert list(row) == KEYS
    assert (row["executor"], row["jobs"], row["videos"], row["frames"]) == ("local", 1, 6, 18)
    assert isinstance(row["accuracy"], float)
    assert row["accuracy"] > 0.8
    assert isinstance(row["overhead_share"], float)
    assert 0 < row["overhead_share"] < 1


def test_the_command_prints_the_agreed_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[ExecutorOptions] = []

    def rows(_: Path, batch: Batch, settings: list[ExecutorOptions], __: object) -> list[dict[str, object]]:
        asked.extend(settings)
        assert batch == Batch(3, 5, 2.0)
        return [dict.fromkeys(KEYS, 1)]

    monkeypatch.setattr("budgetseg.evaluation.bench_batch.bench_batch", rows)
    (tmp_path / "suny").mkdir()
    words = ["bench", "batch", "--data", str(tmp_path), "--executor", "local", "--executor", "processes"]
    result = CliRunner().invoke(app, [*words, "--videos", "3", "--frames", "5", "--budget", "2s", "--json"])
    assert list(json.loads(result.stdout)["rows"][0]) == KEYS
    assert [(options.name, options.jobs, options.cpus) for options in asked] == [
        ("local", 1, 1),
        ("processes", 1, 1),
        ("processes", 2, 1),
    ]


def test_data_without_suny_is_one_line(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["bench", "batch", "--data", str(tmp_path)])
    assert isinstance(result.exception, UsageError)
    assert "no suny/ in" in str(result.exception)
