"""The chain of commands behind the tables: complete, and of options that there are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.main import get_command

from budgetseg.cli.app import app

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "reproduce.sh"

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a shell script")


@pytest.fixture
def commands(tmp_path: Path) -> list[list[str]]:
    """What the script would run."""
    folder, log = tmp_path / "bin", tmp_path / "log"
    folder.mkdir()
    for name in ("budgetseg", "python"):
        (folder / name).write_text(f'#!/bin/sh\necho {name} "$@" >> {log}\n')
        (folder / name).chmod(0o755)
    places = {"BIN": str(folder), "NETWORKS": "nets", "FIGURES": "figures"}
    subprocess.run([SCRIPT, "data", tmp_path / "out"], check=True, env={**os.environ, **places})
    return [line.split() for line in log.read_text().splitlines()]


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
