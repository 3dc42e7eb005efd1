"""Files and folders appear whole or not at all."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from budgetseg.errors import OutputError
from budgetseg.files import atomic_file, atomic_folder, check_writable, forget_leftovers


def names(folder: Path) -> list[str]:
    return [file.name for file in folder.iterdir()]


def fail_after_writing(place: Path, error: BaseException) -> None:
    place.write_text("half")
    raise error


def test_a_file_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "new" / "folders" / "a.json"
    with atomic_file(target) as part:
        part.write_text("whole")
        assert part.suffix == ".json"
        assert not target.parent.exists()
    assert target.read_text() == "whole"
    assert names(target.parent) == ["a.json"]
    assert names(tmp_path) == ["new"]


def test_a_failed_file_leaves_the_old_one(tmp_path: Path) -> None:
    target = tmp_path / "a.json"
    target.write_text("old")
    with pytest.raises(KeyError), atomic_file(target) as part:
        fail_after_writing(part, KeyError())
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.json"]


def test_a_folder_appears_when_the_block_ends(tmp_path: Path) -> None:
    target = tmp_path / "new" / "out"
    with atomic_folder(target) as part:
        (part / "labels").mkdir()
        (part / "labels" / "0.png").write_text("png")
        assert not target.exists()
    assert (target / "labels" / "0.png").read_text() == "png"
    assert names(tmp_path) == ["new"]
    assert names(tmp_path / "new") == ["out"]


def test_a_folder_keeps_the_files_of_the_user_and_replaces_its_own(tmp_path: Path) -> None:
    target = tmp_path / "out"
    (target / "labels").mkdir(parents=True)
    (target / "notes.txt").write_text("mine")
    (target / "labels" / "0.png").write_text("old")
    with atomic_folder(target) as part:
        (part / "labels").mkdir()
        for name in ("0.png", "1.png"):
            (part / "labels" / name).write_text("new")
    assert (target / "notes.txt").read_text() == "mine"
    assert {f.name: f.read_text() for f in (target / "labels").iterdir()} == {"0.png": "new", "1.png": "new"}
    assert names(tmp_path) == ["out"]


def test_the_file_that_tells_that_all_are_there_is_the_first_to_go_and_the_last_to_come(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    moved: list[str] = []
    move = Path.replace

    def watched(self: Path, target: Path) -> Path:
        assert not (tmp_path / "index").exists()
        moved.append(self.name)
        return move(self, target)

    monkeypatch.setattr(Path, "replace", watched)
    monkeypatch.setattr("budgetseg.switch._exchange", lambda *_: False)
    (tmp_path / "index").write_text("old")
    with atomic_folder(tmp_path, last="index") as part:
        for name in ("z", "index", "a"):
            (part / name).write_text("new")
        assert (tmp_path / "index").read_text() == "old"
    assert moved == ["a", "z", "index"]


def test_a_failed_folder_leaves_nothing_or_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a").write_text("old")
    for target in (tmp_path / "fresh", tmp_path / "old"):
        with pytest.raises(KeyboardInterrupt), atomic_folder(target) as part:
            fail_after_writing(part / "a", KeyboardInterrupt())
    assert names(tmp_path) == ["old"]
    assert (tmp_path / "old" / "a").read_text() == "old"


def test_a_folder_can_be_filled_through_another(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "out") as outer, atomic_folder(outer / "labels") as inner:
        (inner / "0.png").write_text("png")
    assert (tmp_path / "out" / "labels" / "0.png").read_text() == "png"


def test_a_killed_command_leaves_nothing_that_looks_whole(tmp_path: Path) -> None:
    script = (
        "import os, sys; from pathlib import Path; from budgetseg.files import atomic_file, atomic_folder\n"
        "with atomic_folder('out') as folder, atomic_file('v.mp4') as file:\n"
        "    (folder / '0.png').write_text('x'); file.write_text('x'); os.kill(os.getpid(), 9)"
    )
    root = str(Path(__file__).parents[1])
    subprocess.run([sys.executable, "-c", script], cwd=tmp_path, env=os.environ | {"PYTHONPATH": root}, check=False)
    assert len(names(tmp_path)) == 2
    assert all(name.startswith(".") for name in names(tmp_path))


def test_a_place_that_cannot_be_written_is_told_before_the_work(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    for place in (tmp_path / "file" / "below", Path("/proc/nowhere/below")):
        for atomic in (atomic_file, atomic_folder):
            with pytest.raises(OutputError, match=f"cannot write '{place}': .*; free some space"), atomic(place):
                pytest.fail("the block ran")
    assert (tmp_path / "file").read_text() == "mine"


def test_a_folder_is_no_file_and_a_file_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")
    with pytest.raises(OutputError, match="it is a folder; give the name of a file"), atomic_file(tmp_path):
        pass
    with pytest.raises(OutputError, match="it is a file; give the name of a folder"), atomic_folder(tmp_path / "file"):
        pass


def test_a_full_disk_is_told_in_one_line(tmp_path: Path) -> None:
    for atomic in (atomic_file, atomic_folder):
        with pytest.raises(OutputError, match=r"No space left on device; free some space"), atomic(tmp_path / "x"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert not names(tmp_path)


def test_errors_of_reading_are_not_taken_for_errors_of_writing(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), atomic_file(tmp_path / "x"):
        (tmp_path / "input.mp4").read_bytes()


def test_what_a_killed_command_left_can_be_forgotten_and_nothing_else_is(tmp_path: Path) -> None:
    left, kept = [".out.0123abcd"], ["out", ".out.0123abc", ".out.0123abcde", ".out.notahex0", ".outer.0123abcd"]
    for name in left + kept:
        (tmp_path / name / "below").mkdir(parents=True)
    (tmp_path / ".out.89abcdef").write_text("a file")
    forget_leftovers(tmp_path / "out")
    assert sorted(names(tmp_path)) == sorted([*kept, ".out.89abcdef"])


def test_leftovers_of_a_name_with_wildcards_are_its_own(tmp_path: Path) -> None:
    for name in (".clip*.0123abcd", ".clip2.0123abcd"):
        (tmp_path / name).mkdir()
    forget_leftovers(tmp_path / "clip*")
    forget_leftovers(tmp_path / "nowhere" / "clip")
    assert names(tmp_path) == [".clip2.0123abcd"]


def test_whether_a_folder_can_be_written_is_known_before_the_work(tmp_path: Path) -> None:
    check_writable(tmp_path / "new" / "folder")
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="it is a file"):
        check_writable(tmp_path / "file")
