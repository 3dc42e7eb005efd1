"""The manifest of a job: lines are only added, and the last one of a video counts."""

import errno
import json
from pathlib import Path
from typing import Any

import pytest

from budgetseg.app import manifest as module
from budgetseg.app.manifest import DONE, MANIFEST, SKIPPED, Manifest, Row
from budgetseg.errors import OutputError

SETTINGS = {"budget": "10s", "frames": [0, None, 1]}


def test_the_last_row_of_a_video_counts_also_after_a_rerun(tmp_path: Path) -> None:
    manifest = Manifest(tmp_path, SETTINGS)
    manifest.add(Row("a", SKIPPED, why="broken"))
    manifest.add(Row("b", DONE))
    manifest.add(Row("a", DONE, seconds=2.5))
    for found in (manifest, Manifest(tmp_path, SETTINGS)):
        assert found.rows == {"a": Row("a", DONE, seconds=2.5), "b": Row("b", DONE)}
        assert [row.name for row in found.history] == ["a", "b", "a"]


def test_rows_of_others_are_seen(tmp_path: Path) -> None:
    ours, theirs = Manifest(tmp_path, SETTINGS), Manifest(tmp_path, SETTINGS)
    theirs.add(Row("a", DONE))
    ours.follow()
    assert list(ours.rows) == ["a"]


def test_a_line_that_was_cut_off_is_left_out_and_the_next_one_is_whole(tmp_path: Path) -> None:
    Manifest(tmp_path, SETTINGS).add(Row("a", DONE))
    with (tmp_path / MANIFEST).open("a") as file:
        file.write('{"name": "b", "sta')
    manifest = Manifest(tmp_path, SETTINGS)
    assert list(manifest.rows) == ["a"]
    manifest.add(Row("c", DONE))
    assert list(manifest.rows) == ["a", "c"]
    assert list(Manifest(tmp_path, SETTINGS).rows) == ["a", "c"]


def test_settings_that_differ_are_named(tmp_path: Path) -> None:
    Manifest(tmp_path, SETTINGS)
    with pytest.raises(OutputError, match=r"other settings \(budget 10s, not 20s\); choose another folder, or add"):
        Manifest(tmp_path, SETTINGS | {"budget": "20s"})
    assert Manifest(tmp_path, SETTINGS | {"budget": "20s"}, restart=True).rows == {}


@pytest.mark.parametrize("text", ["", "notes\n", "[1]\n", '{"format": 1}\n'])
def test_a_file_of_others_is_not_written_to(tmp_path: Path, text: str) -> None:
    (tmp_path / MANIFEST).write_text(text)
    with pytest.raises(OutputError, match="is no manifest of a job; move it, or choose another folder"):
        Manifest(tmp_path, SETTINGS)
    assert (tmp_path / MANIFEST).read_text() == text


def test_another_format_is_refused(tmp_path: Path) -> None:
    (tmp_path / MANIFEST).write_text(json.dumps({"format": 9, "settings": {}}) + "\n")
    with pytest.raises(OutputError, match="has format 9, not 1"):
        Manifest(tmp_path, SETTINGS)


def test_a_full_disk_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest = Manifest(tmp_path, SETTINGS)

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(module, "_append", full)
    with pytest.raises(OutputError, match="No space left on device; free some space and start again"):
        manifest.add(Row("a", DONE))
    assert manifest.rows == {}
