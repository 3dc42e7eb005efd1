"""Of a run by whole frames the page has the labels of every pixel, and what they come from."""

import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.app.export.run import read_run
from budgetseg.app.trace import read_trace
from budgetseg.datasets.synthetic import CLASSES
from budgetseg.report.player import player_of
from budgetseg.video import read_label_pngs
from tests.report.test_player import unpacked
from tests.report.worlds import FRAMES_BUDGETS


@pytest.fixture(scope="module")
def player(frames_run: Path) -> dict[str, Any]:
    return player_of(read_run(frames_run), 60, 480)


def test_pixels_have_at_every_budget_the_labels_of_the_pictures(player: dict[str, Any], frames_run: Path) -> None:
    ids, labels = unpacked(player["ids"]), unpacked(player["labels"])
    for own, budget in zip(labels, FRAMES_BUDGETS, strict=True):
        assert np.array_equal(own[ids], read_label_pngs(frames_run / budget / "labels"))
    assert len(np.unique(labels, axis=1).T) == labels.shape[1] == ids.max() + 1


def test_confidence_is_known_at_every_budget(player: dict[str, Any]) -> None:
    nothing, some, everything = unpacked(player["sure"])
    assert len(np.unique(nothing)) == 1  # the prior is the same everywhere
    assert not np.array_equal(some, everything)
    assert min(some.min(), everything.min()) >= 255 // len(CLASSES) - 1


def test_sources_are_frames_that_were_looked_at_by_then(player: dict[str, Any], frames_run: Path) -> None:
    (window,) = read_trace(frames_run).windows
    nothing, some, everything = player["sources"]
    assert all(one == {"carry": "prior", "late": None, "keys": []} for one in nothing)
    asked = {event.place for event in window.events[: window.finishes[1].n_events]}
    assert {key for one in some for _, key in one["keys"]} == asked
    assert 0 < len(asked) < 24
    assert all([0, t] in one["keys"] for t, one in enumerate(everything))
    assert {frame for _, frame, budget in player["asks"] if budget <= 1} == asked
    assert player["networks"] == ["dcnn"]


def test_what_was_copied_is_shown_to_be(frames_run: Path, tmp_path: Path) -> None:
    folder = tmp_path / "out"
    shutil.copytree(frames_run, folder)
    stored = json.loads((folder / "trace.json").read_text())
    finishes = stored["windows"][0]["finishes"]
    finishes[1]["carry"] = "copy"
    finishes[2]["late"] = [5, 6]
    (folder / "trace.json").write_text(json.dumps(stored))
    _, copied, late = player_of(read_run(folder), 60, 480)["sources"]
    asked = sorted({key for one in copied for _, key in one["keys"]})
    assert [one["keys"] for one in copied] == [[[0, min(asked, key=lambda a: abs(a - t))]] for t in range(24)]
    assert [one["late"] for one in late[4:8]] == [None, 4, 7, None]
    assert late[5]["keys"] == late[4]["keys"]


def test_long_and_wide_videos_are_shown_in_part(frames_run: Path) -> None:
    player = player_of(read_run(frames_run), 5, 40)
    assert unpacked(player["ids"]).shape == (5, player["frame_size"][1], 40)
    assert unpacked(player["sure"]).shape[:2] == (3, 5)
    assert [len(own) for own in player["sources"]] == [5, 5, 5]
