"""A full disk or a closed pipe behind standard output is one line at the end."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from budgetseg.cli.streams import Outlet

ROOT = Path(__file__).parents[2]


def budgetseg(shell: str) -> tuple[int, str]:
    env = os.environ | {"PYTHONPATH": str(ROOT)}
    words = ["bash", "-c", f"set -o pipefail; B='{sys.executable} -m budgetseg'; {shell}"]
    done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


@pytest.mark.parametrize("words", ["models --help", "datasets list", "--version"])
def test_a_full_disk_behind_standard_output_is_one_line(words: str) -> None:
    line = "budgetseg: cannot print (No space left on device); files that were written are kept\n"
    assert budgetseg(f"$B {words} > /dev/full") == (2, line)


def test_a_reader_that_has_gone_ends_the_program_quietly() -> None:
    assert budgetseg("(sleep 2; $B datasets list) | true")[1] == ""


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&-", ">&- 2>&- <&-"])
def test_closed_streams_do_no_harm(closed: str) -> None:
    assert budgetseg(f"$B datasets list {closed}") == (0, "")
    assert budgetseg(f"$B label nowhere.mp4 --budget 1s {closed}")[0] == 2


def test_a_full_standard_error_changes_no_exit_code() -> None:
    assert budgetseg("$B label nowhere.mp4 --budget 1s 2> /dev/full")[0] == 2


def test_an_outlet_that_failed_takes_everything(tmp_path: Path) -> None:
    with Path("/dev/full").open("w") as full:
        outlet = Outlet(full)
        outlet.write("a")
        outlet.flush()
        assert outlet.failure is not None
        assert not outlet.is_closed_pipe
        assert outlet.write("abc") == 3
        outlet.flush()
        os.dup2(os.open(tmp_path / "taken", os.O_WRONLY | os.O_CREAT), full.fileno())
