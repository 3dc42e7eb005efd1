"""`budgetseg doctor` prints what it found, and its exit status says whether all is fine."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from budgetseg.cli.app import app


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, folder in (("BUDGETSEG_CACHE", "cache"), ("NUMBA_CACHE_DIR", "compiled")):
        monkeypatch.setenv(name, str(tmp_path / folder))
    return tmp_path / "cache"


def test_all_is_fine() -> None:
    result = CliRunner().invoke(app, ["doctor"])
    assert result.exit_code == 0
    assert result.stdout.endswith("All is fine.\n")
    assert "onnxruntime" in result.stdout


def test_json_holds_what_is_wrong_and_the_exit_status_is_1(cache: Path) -> None:
    cache.mkdir()
    (cache / "backends.json").write_text("no JSON")
    text = CliRunner().invoke(app, ["doctor"])
    assert text.exit_code == 1
    assert text.stdout.splitlines()[-1].startswith("Wrong: '")
    result = CliRunner().invoke(app, ["doctor", "--json"])
    assert result.exit_code == 1
    found = json.loads(result.stdout)
    assert found["is_fine"] is False
    assert [trouble["remedy"] for trouble in found["wrong"]] == ["remove it; it is made again"]
    assert {"machine", "versions", "backends", "measured", "caches", "codecs"} <= set(found)
