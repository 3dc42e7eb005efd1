"""`budgetseg datasets`: a list, a check, and exit codes that a script can trust."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli import datasets, main
from budgetseg.datasets import DATASETS
from budgetseg.errors import DatasetError, UsageError


@pytest.mark.parametrize("words", [[], ["list"]])
def test_the_list_names_every_dataset_and_its_layout(words: list[str]) -> None:
    result = CliRunner().invoke(datasets.app, words)
    assert result.exit_code == 0
    for name, entry in DATASETS.items():
        assert any(line.startswith(f"{name} ") and entry.layout in line for line in result.stdout.splitlines())


@pytest.mark.parametrize("words", [["--json"], ["list", "--json"]])
def test_the_list_as_json(words: list[str]) -> None:
    listed = json.loads(CliRunner().invoke(datasets.app, words).stdout)
    assert [entry["name"] for entry in listed] == list(DATASETS)
    assert all(entry.keys() == {"name", "what", "layout"} for entry in listed)


def test_a_sound_dataset_exits_with_0(suny_copy: Path) -> None:
    result = CliRunner().invoke(datasets.app, ["check", "suny", "--root", str(suny_copy)])
    assert result.exit_code == 0
    lines = [line.split() for line in result.stdout.splitlines()]
    assert ["test", "1", "4", "4"] in lines
    assert result.stdout.splitlines()[-1] == "suny is sound"


def test_problems_are_named_and_exit_with_2(suny_copy: Path) -> None:
    damaged = suny_copy / "dataset" / "Chen_png" / "bus" / "00003.png"
    damaged.write_bytes(damaged.read_bytes()[:-100])
    result = CliRunner().invoke(datasets.app, ["check", "suny", "--root", str(suny_copy)])
    assert result.exit_code == 2
    assert str(damaged) in result.stdout
    assert result.stdout.splitlines()[-1] == "suny: 1 problem"


def test_the_check_as_json(suny_copy: Path) -> None:
    missing = suny_copy / "groundtruth" / "Chen_gt" / "bus" / "bus_cif000003_GT_index.png"
    missing.unlink()
    result = CliRunner().invoke(datasets.app, ["check", "suny", "--root", str(suny_copy), "--json"])
    report = json.loads(result.stdout)
    assert result.exit_code == 2
    assert report["sound"] is False
    assert str(missing) in [problem["path"] for problem in report["problems"]]
    assert [split["split"] for split in report["splits"]] == ["train", "fit", "selection", "test"]


def test_an_unknown_name_or_root_is_an_error_of_the_library(tmp_path: Path) -> None:
    unknown = CliRunner().invoke(datasets.app, ["check", "kitti", "--root", str(tmp_path)])
    assert isinstance(unknown.exception, UsageError)
    missing = CliRunner().invoke(datasets.app, ["check", "suny", "--root", str(tmp_path / "nowhere")])
    assert isinstance(missing.exception, DatasetError)


def test_an_error_is_one_line_and_exit_code_2(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["budgetseg", "datasets", "check", "kitti", "--root", str(tmp_path)])
    with pytest.raises(SystemExit) as exit_:
        main()
    assert exit_.value.code == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("budgetseg: no dataset 'kitti'; choose from")


def test_the_exit_codes_are_in_the_help() -> None:
    text = " ".join(CliRunner().invoke(datasets.app, ["check", "--help"]).stdout.split())
    assert "exit code" in text
