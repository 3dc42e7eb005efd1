"""A cache of compiled code that cannot be used costs time, and nothing else."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
CODE = """
import sys
import budgetseg.compiling
sys.path.insert(0, "code")
from own import twice
print(twice(3))
"""
OWN = "from numba import njit\n@njit(cache=True)\ndef twice(x):\n    return x + x\n"


def run(folder: Path, cache: str) -> tuple[int, str, str]:
    env = os.environ | {"PYTHONPATH": str(ROOT), "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", CODE], cwd=folder, env=env, capture_output=True, text=True, check=False
    )
    return done.returncode, done.stdout, done.stderr


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A program with a function to compile, which was run once."""
    (tmp_path / "code").mkdir()
    (tmp_path / "code" / "own.py").write_text(OWN)
    assert run(tmp_path, "cache") == (0, "6\n", "")
    return tmp_path


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("content", [b"", b"half", None])
def test_a_damaged_cache_is_said_once_and_made_again(folder: Path, suffix: str, content: bytes | None) -> None:
    files = list((folder / "cache").rglob(f"*{suffix}"))
    assert files
    for file in files:
        file.write_bytes(file.read_bytes()[:-7] if content is None else content)
    code, out, err = run(folder, "cache")
    assert (code, out) == (0, "6\n")
    assert err.startswith("compiled code cannot be kept (")
    assert len(err.splitlines()) == 1
    assert run(folder, "cache") == (0, "6\n", "")


def test_a_place_that_cannot_be_written_is_said_once(folder: Path) -> None:
    code, out, err = run(folder, "/proc/nowhere")
    assert (code, out) == (0, "6\n")
    assert len(err.splitlines()) <= 1
