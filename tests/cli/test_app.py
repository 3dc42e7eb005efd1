"""The program as a whole."""

import subprocess
import sys
import time

import pytest
import typer
from typer.testing import CliRunner

import budgetseg
from budgetseg.cli.app import app


def commands(group: typer.Typer, path: tuple[str, ...] = ()) -> list[tuple[str, ...]]:
    """Every command with the words that lead to it."""
    return [(*path, name) for name in getattr(typer.main.get_command(group), "commands", {})]


@pytest.mark.parametrize(
    "words", [*commands(app), ("bench", "supervoxels"), ("datasets", "check"), ("datasets", "list")]
)
def test_every_command_explains_itself(words: tuple[str, ...]) -> None:
    result = CliRunner().invoke(app, [*words, "--help"])
    assert result.exit_code == 0
    assert len(result.stdout.splitlines()) > 5


def test_the_version_is_the_packages() -> None:
    assert CliRunner().invoke(app, ["--version"]).stdout == f"budgetseg {budgetseg.__version__}\n"


def test_the_package_can_be_run_as_a_module() -> None:
    done = subprocess.run([sys.executable, "-m", "budgetseg", "--version"], capture_output=True, text=True, check=True)
    assert done.stdout.startswith("budgetseg ")


def test_importing_the_package_is_quick() -> None:
    def seconds(code: str) -> float:
        started = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True)
        return time.perf_counter() - started

    bare = min(seconds("pass") for _ in range(3))
    assert min(seconds("import budgetseg, budgetseg.cli") for _ in range(3)) - bare < 0.5
