"""Results appear whole, replace those of an earlier run, and spare what others have put there."""

import json
import math
from pathlib import Path

import pytest

from budgetseg.app.marks import ModelMark, VideoMark
from budgetseg.app.output import budget_name, check_place, plain, results_folder
from budgetseg.app.trace import TRACE, Trace, write_trace
from budgetseg.engine.plan import Plan
from budgetseg.errors import OutputError
from budgetseg.types import Budget


def fill(folder: Path, *files: str) -> None:
    """What a whole run leaves."""
    for name in files:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text("new")
    video, model = VideoMark("v", 1, 2, 3, ""), ModelMark("m", "m", "", (), (), ())
    write_trace(folder / TRACE, Trace(video, model, {}, "frames", (), Plan(1, (3, 2)), [], [*files, TRACE]))


def fail_after(folder: Path) -> None:
    fill(folder, "labels/1.png")
    raise KeyError


def files_of(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def test_a_run_replaces_an_earlier_one_and_spares_the_rest(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with results_folder(out) as part:
        fill(part, "2s/labels/0.png", "2s/ledger.json", "5s/ledger.json", "state.npz")
    (out / "notes.txt").write_text("mine")
    (out / "5s" / "notes.txt").write_text("mine")
    check_place(out, ())
    with results_folder(out) as part:
        fill(part, "labels/0.png", "ledger.json", "state.npz")
    assert files_of(out) == ["5s/notes.txt", "labels/0.png", "ledger.json", "notes.txt", "state.npz", TRACE]
    assert not (out / "2s").exists()
    assert [path.name for path in tmp_path.iterdir()] == ["out"]


def test_a_run_that_fails_leaves_the_earlier_one(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with results_folder(out) as part:
        fill(part, "labels/0.png")
    with pytest.raises(KeyError), results_folder(out) as part:
        fail_after(part)
    assert files_of(out) == ["labels/0.png", TRACE]


def test_files_of_a_trace_that_lie_elsewhere_are_not_touched(tmp_path: Path) -> None:
    out, mine = tmp_path / "out", tmp_path / "mine.txt"
    mine.write_text("mine")
    with results_folder(out) as part:
        fill(part, "labels/0.png")
    stored = json.loads((out / TRACE).read_text())
    (out / TRACE).write_text(json.dumps(stored | {"files": ["../mine.txt", str(mine), "labels/0.png"]}))
    with results_folder(out) as part:
        fill(part, "ledger.json")
    assert mine.read_text() == "mine"
    assert files_of(out) == ["ledger.json", TRACE]


@pytest.mark.parametrize("name", ["labels", "overlay.mp4", "2s"])
def test_a_folder_with_the_users_own_files_of_our_names_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).mkdir()
    with pytest.raises(
        OutputError, match=f"holds '{name}', which is not of a complete earlier run; move it, or choose"
    ):
        check_place(tmp_path, ("2s", "5s"))
    fill(tmp_path)
    check_place(tmp_path, ("2s", "5s"))


def test_a_place_that_can_be_written_is_left_as_it_is(tmp_path: Path) -> None:
    check_place(tmp_path / "new" / "out", ())
    assert not list(tmp_path.iterdir())
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="it is a file; give the name of a folder"):
        check_place(tmp_path / "file", ())


def test_budgets_have_short_names_and_json_no_numbers_without_end() -> None:
    names = [budget_name(budget) for budget in (Budget(120), Budget(0.25), Budget(1, is_share=True), Budget(math.inf))]
    assert names == ["120s", "0.25s", "100%", "inf"]
    assert plain({"a": [math.inf, 1.5, {"b": math.nan}], "c": "x"}) == {"a": [None, 1.5, {"b": None}], "c": "x"}
