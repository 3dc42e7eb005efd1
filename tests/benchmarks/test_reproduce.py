"""The chain of commands behind the tables: complete, and of options that there are."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from budgetseg.cli.app import app

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reproduce.sh"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell script")


def commands_of(tmp_path: Path, **settings: str) -> list[list[str]]:
    """What the script would run."""
    folder, log = tmp_path / "bin", tmp_path / "log"
    folder.mkdir()
    for name in ("budgetseg", "python"):
        (folder / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {log}\n')
        (folder / name).chmod(0o755)
    places = {"BIN": str(folder), "FIGURES": "figures"}
    own = {name: value for name, value in os.environ.items() if name not in ("NETWORKS", "DEVICE")}
    subprocess.run([SCRIPT, "data", tmp_path / "out"], check=True, env={**own, **places, **settings})
    return [line.split() for line in log.read_text().splitlines()]


@pytest.fixture
def commands(tmp_path: Path) -> list[list[str]]:
    return commands_of(tmp_path, NETWORKS="nets")


def test_both_datasets_are_trained_then_evaluated_under_all_clocks_then_shown(
    commands: list[list[str]], tmp_path: Path
) -> None:
    words = [" ".join(command[:3]) for command in commands]
    evaluations = [f"budgetseg evaluate {dataset}" for dataset in ("suny", "camvid") for _ in range(3)]
    shows = [f"python -m benchmarks.{name}" for name in ("tables", "bars", "figures")]
    assert words == ["budgetseg train suny", "budgetseg train camvid", *evaluations, *shows]
    written = [command[command.index("-o") + 1] for command in commands[2:8]]
    assert all(command[-6:] == written for command in commands[8:])
    assert {"shared", "unshared"} == {
        word for command in commands for word in command if word.endswith("shared") and "/" not in word
    }
    for dataset in ("suny", "camvid"):
        assert (tmp_path / "out" / f"{dataset}-unshared" / "table").readlink() == Path(f"../{dataset}-shared/table")


def test_every_option_is_one_of_the_command(commands: list[list[str]]) -> None:
    known = get_command(app).commands  # type: ignore[attr-defined]
    for command in (command for command in commands if command[0] == "budgetseg"):
        options = {option for parameter in known[command[1]].params for option in parameter.opts}
        assert {word for word in command if word.startswith("-")} <= options


def test_networks_are_those_given_those_there_are_or_trained(tmp_path: Path) -> None:
    given, there, trained, both = (
        [" ".join(command) for command in commands_of(make_folder(tmp_path / name), **settings)[:2]]
        for name, settings in (
            ("a", {"NETWORKS": "nets"}),
            ("b", {}),
            ("c", {"DEVICE": "cuda"}),
            ("d", {"NETWORKS": "nets", "DEVICE": "cuda"}),
        )
    )
    for k, dataset in enumerate(("suny", "camvid")):
        assert f"--networks nets/{dataset} " in given[k]
        place = tmp_path / "b" / "out" / "networks" / dataset
        assert f"--networks {place} " in there[k]
        assert "--device cuda " in trained[k]
        assert both[k] == given[k].replace(f"{tmp_path}/a/", f"{tmp_path}/d/")
        seen = json.loads((place / "networks.json").read_text())["seen"]
        folds = {place / f"fold-{fold}" / "dcnn.onnx" for fold in seen.values()}
        assert {*folds, place / "dcnn.onnx"} == set(place.rglob("*.onnx"))


def make_folder(path: Path) -> Path:
    path.mkdir()
    return path
