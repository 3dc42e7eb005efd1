"""Compiling at first use, on another core."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from budgetseg.app import ahead


def test_what_is_compiled_already_is_not_again(monkeypatch: pytest.MonkeyPatch) -> None:
    ahead.compile_rest()
    monkeypatch.setattr(
        "budgetseg.app.ahead.subprocess.Popen", lambda *_, **__: pytest.fail("another process was begun")
    )
    with ahead.compiled_ahead():
        pass


def test_where_nothing_is_compiled_another_process_does_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code = f"from pathlib import Path; Path({str(tmp_path / 'done')!r}).touch()"
    begin = subprocess.Popen
    monkeypatch.setattr(ahead, "is_compiled", lambda _: False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    monkeypatch.setattr("budgetseg.app.ahead.subprocess.Popen", lambda *_, **__: begin([sys.executable, "-c", code]))
    with ahead.compiled_ahead():
        pass
    assert (tmp_path / "done").exists()
