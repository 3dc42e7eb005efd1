"""Claims: no two machines work on a video, and what a dead one has claimed is taken over."""

import json
import os
from pathlib import Path

import pytest

from budgetseg.app.claims import CLAIMS, Claims, Patience

UNUSED_PID = 2**22 + 1  # above the highest that Linux gives


def claims_in(folder: Path) -> list[Path]:
    return sorted((folder / CLAIMS).glob("*.json"))


def test_one_of_two_gets_a_video(tmp_path: Path) -> None:
    with Claims(tmp_path, "one") as one, Claims(tmp_path, "two") as two:
        assert one.take("a/b")
        assert not two.take("a/b")
        assert two.take("c")
        one.give_back("a/b")
        assert two.take("a/b")
    assert not (tmp_path / CLAIMS).exists()


def test_what_is_held_is_given_back_at_the_end(tmp_path: Path) -> None:
    with Claims(tmp_path, "one") as one:
        one.take("a")
        one.stop_file.touch()
    with Claims(tmp_path, "two") as two:
        assert two.take("a")
        assert not one.stop_file.exists()


def test_a_claim_of_a_process_that_is_gone_is_taken_over(tmp_path: Path) -> None:
    with Claims(tmp_path, "one") as one, Claims(tmp_path, "two") as two:
        assert one.take("a")
        (path,) = claims_in(tmp_path)
        path.write_text(json.dumps(json.loads(path.read_text()) | {"pid": UNUSED_PID}))
        assert two.take("a")
        assert not one.take("a")
        assert len(claims_in(tmp_path)) == 1


def test_a_claim_of_another_machine_is_void_once_it_was_not_touched_for_long(tmp_path: Path) -> None:
    patience = Patience(beat_s=1000.0, stale_s=60.0)
    with Claims(tmp_path, "one", patience) as one, Claims(tmp_path, "two", patience) as two:
        assert one.take("a")
        (path,) = claims_in(tmp_path)
        path.write_text(json.dumps(json.loads(path.read_text()) | {"host": "elsewhere", "pid": UNUSED_PID}))
        assert not two.take("a")
        touched_s = path.stat().st_mtime - 61
        os.utime(path, (touched_s, touched_s))
        assert two.take("a")


def test_what_is_held_is_touched_again_and_again(tmp_path: Path) -> None:
    with Claims(tmp_path, "one", Patience(beat_s=0.001)) as one:
        one.take("a")
        (path,) = claims_in(tmp_path)
        os.utime(path, (0, 0))
        while path.stat().st_mtime == 0:  # the test's own time limit ends it, where nobody touches the file
            pass


def test_a_claim_that_is_being_written_is_not_void(tmp_path: Path) -> None:
    with Claims(tmp_path, "one") as one, Claims(tmp_path, "two") as two:
        one.take("a")
        claims_in(tmp_path)[0].write_text('{"ru')
        assert not two.take("a")


def test_of_two_that_find_a_claim_void_the_later_one_gives_back_what_the_first_has_claimed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Claims(tmp_path, "one") as one, Claims(tmp_path, "two") as two:
        assert one.take("a")
        real = two._is_void
        views = iter([True])  # what it has seen before the first one was faster
        monkeypatch.setattr(two, "_is_void", lambda path: next(views, None) or real(path))
        assert not two.take("a")
        (path,) = claims_in(tmp_path)
        assert json.loads(path.read_text())["run"] == "one"
