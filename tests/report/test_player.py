"""The player shows what the files of a run say."""

import json
import shutil
import zlib
from base64 import b64decode
from pathlib import Path
from typing import Any

import cv2
import numpy as np
import pytest
from numpy.typing import NDArray

from budgetseg.app.export.run import read_run
from budgetseg.app.state import read_state
from budgetseg.report.player import player_of
from budgetseg.report.regions import UNKNOWN
from budgetseg.video import open_video, read_label_pngs
from budgetseg.video.png import decode_image
from tests.app.streets import N_FRAMES, SIZE
from tests.report.worlds import BUDGETS

TYPES = {"Uint8Array": "u1", "Uint16Array": "u2", "Uint32Array": "u4", "Int32Array": "i4", "Float32Array": "f4"}


def unpacked(stored: dict[str, Any]) -> NDArray[Any]:
    data = zlib.decompress(b64decode(stored["data"]))
    return np.frombuffer(data, f"<{TYPES[stored['type']]}").reshape(stored["shape"])


@pytest.fixture(scope="module")
def player(street_run: Path) -> dict[str, Any]:
    return player_of(read_run(street_run), 60, 480)


def test_regions_have_at_every_budget_the_labels_of_the_pictures(player: dict[str, Any], street_run: Path) -> None:
    ids, labels = unpacked(player["ids"]), unpacked(player["labels"])
    for own, budget in zip(labels, BUDGETS, strict=True):
        assert np.array_equal(own[ids], read_label_pngs(street_run / budget / "labels"))
    assert not np.array_equal(labels[0], labels[2])


def test_what_was_computed_by_the_last_budget_is_what_the_run_knew(player: dict[str, Any], street_run: Path) -> None:
    (known,) = read_state(street_run)
    steps = {name: unpacked(column) for name, column in player["steps"].items()}
    found = np.zeros(len(known.subsets), np.int32)
    np.bitwise_or.at(found, steps["region"], 1 << steps["descriptor"].astype(np.int32))
    assert np.array_equal(found, known.subsets)
    ledgers = [budget["ledger"] for budget in player["budgets"]]
    for b, ledger in enumerate(ledgers):
        for d, name in enumerate(player["descriptors"]):
            own = (steps["descriptor"] == d) & (steps["budget"] <= b)
            entry = ledger["sources"].get(name, {"count": 0, "spent_s": 0.0})
            assert own.sum() == entry["count"]
            assert steps["spent_s"][own].sum() == pytest.approx(entry["spent_s"], rel=1e-3, abs=1e-4)


def test_opinions_are_those_of_h_at_every_budget(player: dict[str, Any], street_run: Path) -> None:
    (known,) = read_state(street_run)
    computed, opinions = known.subsets > 0, unpacked(player["opinions"])
    assert opinions.shape == (3, len(known.subsets), known.probabilities.shape[1])
    assert np.abs(opinions[-1][computed] / 254 - known.probabilities[computed]).max() < 0.003
    assert np.abs(opinions.sum(axis=2, dtype=int) - 254).max() <= known.probabilities.shape[1] / 2
    assert not np.array_equal(opinions[0], opinions[-1])


def test_without_the_why_map_nothing_is_known_of_what_was_interpolated(street_run: Path, tmp_path: Path) -> None:
    shutil.copytree(street_run, tmp_path / "out")
    (tmp_path / "out" / "why.npz").unlink()
    (known,) = read_state(street_run)
    player = player_of(read_run(tmp_path / "out"), 60, 480)
    computed, (opinions,) = known.subsets > 0, unpacked(player["opinions"])
    assert np.abs(opinions[computed] / 254 - known.probabilities[computed]).max() < 0.003
    assert (opinions[~computed] == UNKNOWN).all()


def test_what_is_shared_is_that_part_of_what_was_spent_which_the_trace_has(street_run: Path, tmp_path: Path) -> None:
    shutil.copytree(street_run, tmp_path / "out")
    stored = json.loads((tmp_path / "out" / "trace.json").read_text())
    events = stored["windows"][0]["events"]
    events["shared_s"] = [spent_s / 4 if k % 3 == 0 else 0.0 for k, spent_s in enumerate(events["spent_s"])]
    (tmp_path / "out" / "trace.json").write_text(json.dumps(stored))
    steps = player_of(read_run(tmp_path / "out"), 60, 480)["steps"]
    assert np.allclose(unpacked(steps["spent_s"]), events["spent_s"], rtol=1e-6)
    assert np.allclose(unpacked(steps["shared_s"]), events["shared_s"], rtol=1e-6)


def test_frames_are_those_of_the_video(player: dict[str, Any], street_run: Path) -> None:
    true = open_video(street_run.parent / "street.mp4").read().frames
    data = [b64decode(address.split(",")[1]) for address in player["frames"]]
    shown = np.stack([np.asarray(decode_image(one, cv2.IMREAD_COLOR))[..., ::-1] for one in data])
    assert shown.shape == true.shape
    assert np.abs(shown.astype(int) - true).mean() < 12


def test_long_and_wide_videos_are_shown_in_part(street_run: Path) -> None:
    player = player_of(read_run(street_run), 5, 40)
    assert player["numbers"] == list(range(0, N_FRAMES, 3))
    assert len(player["frames"]) == len(player["numbers"])
    assert player["frame_size"] == [40, round(SIZE[1] * 40 / SIZE[0])]
    assert player["ids"]["shape"] == (4, player["frame_size"][1], 40)
    ids = unpacked(player["ids"])
    assert ids.max() + 1 == player["labels"]["shape"][1] == player["extent"]["shape"][0]
