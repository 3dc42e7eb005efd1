"""A folder is the old one or the new one, whenever the process that switches them ends."""

import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from budgetseg.errors import OutputError
from budgetseg.files import atomic_folder, complete_switch
from budgetseg.switch import JOURNAL, Switching, complete, replace_folder
from tests import kills

OLD = {"labels/0.png": "old", "labels/1.png": "old", "2s/ledger.json": "old", "trace.json": "old"}
NEW = {"labels/0.png": "new", "labels/2.png": "new", "state.npz": "new", "trace.json": "new"}
FOREIGN = {"notes.txt": "mine", "2s/notes.txt": "mine", "mine/deep/a.txt": "mine"}


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def contents(folder: Path) -> dict[str, str]:
    return {p.relative_to(folder).as_posix(): p.read_text() for p in folder.rglob("*") if not p.is_dir()}


def switch(out: Path, new: dict[str, str] = NEW) -> None:
    with atomic_folder(out, last="trace.json", stale=lambda _: [*OLD, *NEW]) as part:
        write(part, new)


def every_end(tmp_path: Path, end: str, exchange: str) -> None:
    """Switch again and again, ended at the first change, at the second, and so on; run in a process of its own."""
    n = 0
    while True:
        n += 1
        out = tmp_path / f"{n}" / "out"
        write(out, OLD | FOREIGN)
        was_ended = kills.ends_at(n, partial(switch, out), getattr(kills, end), exchange == "exchange")
        found = contents(out)
        if exchange == "exchange" or end == "stop":
            assert found in (OLD | FOREIGN, NEW | FOREIGN), (n, found)
        assert FOREIGN.items() <= found.items(), (n, found)
        if end == "stop":
            assert [path.name for path in out.parent.iterdir()] == ["out"], n
        complete_switch(out)
        assert contents(out) in (OLD | FOREIGN, NEW | FOREIGN), (n, contents(out))
        switch(out)
        assert contents(out) == NEW | FOREIGN, n
        assert [path.name for path in out.parent.iterdir()] == ["out"], n
        if not was_ended:
            break
    print(n)


@pytest.mark.parametrize("exchange", ["exchange", "journal"])
@pytest.mark.parametrize("end", ["kill", "stop"])
def test_a_folder_is_the_old_run_or_the_new_one_after_an_end_at_any_change(
    tmp_path: Path, end: str, exchange: str
) -> None:
    code = "import sys; from pathlib import Path; from tests.test_switch import every_end\n"
    words = [sys.executable, "-c", code + "every_end(Path(sys.argv[1]), *sys.argv[2:])", str(tmp_path), end, exchange]
    done = subprocess.run(words, cwd=Path(__file__).parents[1], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert int(done.stdout) > 15  # there were so many changes to end it at


def test_a_folder_of_a_user_keeps_its_mode_and_its_links(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, OLD | FOREIGN)
    out.chmod(0o750)
    (out / "elsewhere").symlink_to("/nowhere")
    (out / "empty").mkdir()
    switch(out)
    assert out.stat().st_mode & 0o777 == 0o750
    assert (out / "elsewhere").readlink() == Path("/nowhere")
    assert (out / "empty").is_dir()
    assert not (out / "2s" / "ledger.json").exists()


def test_a_link_to_a_folder_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk")
    switch(tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert contents(tmp_path / "disk") == NEW


def test_a_program_that_stands_in_a_folder_stays_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "out", OLD | FOREIGN)
    monkeypatch.chdir(tmp_path / "out")
    before = Path().stat().st_ino
    switch(Path())
    assert contents(Path()) == NEW | FOREIGN
    assert (tmp_path / "out").stat().st_ino == before


def test_a_folder_with_more_files_of_others_than_are_linked_is_moved_into(tmp_path: Path) -> None:
    write(tmp_path / "out", OLD | FOREIGN)
    write(tmp_path / "part", NEW)
    before = (tmp_path / "out").stat().st_ino
    replace_folder(tmp_path / "part", tmp_path / "out", "trace.json", lambda _: OLD, Switching(most_kept=2))
    assert contents(tmp_path / "out") == NEW | FOREIGN
    assert (tmp_path / "out").stat().st_ino == before


@pytest.mark.parametrize(("there", "ours"), [("a", "a/b"), ("a/b", "a")])
def test_a_file_of_a_user_in_the_way_is_not_replaced_by_a_folder(tmp_path: Path, there: str, ours: str) -> None:
    write(tmp_path / "out", {there: "mine"})
    with pytest.raises(OutputError, match=r"is in the way of results; move it"):
        switch(tmp_path / "out", {ours: "new"})
    assert contents(tmp_path) == {f"out/{there}": "mine"}


@pytest.mark.parametrize("gone", [["../mine.txt"], ["/mine.txt"], ["link/mine.txt"], 3, None])
def test_a_journal_of_others_removes_nothing_outside(tmp_path: Path, gone: object) -> None:
    write(tmp_path, {"mine.txt": "mine", "out/trace.json": "old", "left/trace.json": "new"})
    (tmp_path / "out" / "link").symlink_to(tmp_path)
    text = str({"gone": gone, "last": None}).replace("'", '"').replace("None", "null")
    (tmp_path / "left" / JOURNAL).write_text(text)
    complete(tmp_path / "left", tmp_path / "out")
    assert (tmp_path / "mine.txt").read_text() == "mine"
    assert not (tmp_path / "left").exists()


def test_two_runs_on_one_folder_leave_one_of_them(tmp_path: Path) -> None:
    out = tmp_path / "out"
    write(out, OLD | FOREIGN)

    def inner() -> Callable[[], None]:
        switch(out, {"labels/7.png": "other", "trace.json": "other"})
        return lambda: None

    with atomic_folder(out, last="trace.json", stale=lambda _: [*OLD, "labels/7.png"]) as part:
        write(part, NEW)
        inner()
        assert part.is_dir()  # the other has not taken it for something that was left
    assert contents(out) == NEW | FOREIGN
    assert [path.name for path in tmp_path.iterdir()] == ["out"]
