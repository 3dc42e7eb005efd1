"""Paired differences of runs in alternation, and composites whose labels belong to their frames."""

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.cases import APART, STEADY, Case, composite_cases
from benchmarks.composites import Ranges, draw
from benchmarks.decisions import judged, read, summary, table
from budgetseg.types import IGNORE

Row = dict[str, Any]


def run(case: str, method: str, repeat: int, miou: float, spent_s: float = 1.0, checkout: int = 0) -> Row:
    row = {"case": case, "kind": STEADY, "dataset": "suny", "method": method, "checkout": checkout, "budget": "8/100"}
    figures = {"spent_s": spent_s, "n_asked": 5, "miou": miou, "global": 0.9, "consistency": None}
    return row | {"budget_s": 1.0, "repeat": repeat} | figures


def runs() -> list[Row]:
    """Two videos, three repeats: `frames` is 2 points ahead on one, 4 on the other, whatever a repeat does to both."""
    luck = (0.0, 0.1, -0.2)
    ours = [run(case, "frames", k, at + luck[k]) for case, at in (("a", 0.5), ("b", 0.6)) for k in range(3)]
    theirs = [run(case, "keyframes", k, at + luck[k]) for case, at in (("a", 0.48), ("b", 0.56)) for k in range(3)]
    return ours + theirs


def test_differences_are_paired_by_repeat() -> None:
    a, b, mean = summary(runs())
    gains = [row["methods"]["keyframes"]["miou_gain"] for row in (a, b, mean)]
    assert gains == pytest.approx([2, 4, 3])
    assert [row["methods"]["keyframes"]["miou_within"] for row in (a, b, mean)] == pytest.approx([0, 0, 0], abs=1e-9)
    assert (a["case"], b["case"], mean["case"]) == ("a", "b", "mean")
    assert mean["methods"]["frames"]["miou"] == pytest.approx(100 * (0.55 - 0.1 / 3))


def test_the_half_width_is_that_of_student() -> None:
    rows = [run("a", "frames", k, 0.5) for k in range(3)]
    rows += [run("a", "keyframes", k, 0.5 - gain) for k, gain in enumerate((0.01, 0.02, 0.03))]
    found = summary(rows)[0]["methods"]["keyframes"]
    assert found["miou_gain"] == pytest.approx(2)
    assert found["miou_within"] == pytest.approx(4.303 / 3**0.5, rel=1e-3)


def test_a_repeat_that_lacks_a_video_or_a_method_does_not_count() -> None:
    rows = [row for row in runs() if (row["case"], row["method"], row["repeat"]) != ("b", "keyframes", 2)]
    mean = summary(rows)[-1]["methods"]
    assert mean["keyframes"]["miou_gain"] == pytest.approx(3)
    assert mean["keyframes"]["miou"] == pytest.approx(100 * (0.52 + 0.05))


def test_another_checkout_is_a_method_of_its_own() -> None:
    rows = [run("a", "frames", 0, 0.5), run("a", "frames", 0, 0.4, checkout=1)]
    assert summary(rows)[0]["methods"]["frames of checkout 1"]["miou_gain"] == pytest.approx(10)


def test_a_method_that_is_late_is_marked() -> None:
    rows = [run("a", "frames", 0, 0.5), run("a", "keyframes", 0, 0.5, spent_s=1.25)]
    *_, line, _ = table(summary(rows), "miou")
    assert line == "| steady suny: a | 8/100 | 1000 | 50.0 | +0.0, used 1.25 |"


def test_a_run_that_was_cut_off_while_written_is_done_again(tmp_path: Path) -> None:
    rows = runs()
    out = tmp_path / "out.jsonl"
    out.write_text("".join(json.dumps(row) + "\n" for row in rows) + '{"case": "a", "meth')
    assert read(out) == rows
    assert read(tmp_path / "none.jsonl") == []


def test_labels_are_judged_by_truth_and_by_flow(tmp_path: Path) -> None:
    truth = np.zeros((2, 2, 4), np.uint8)
    truth[:, :, 2:] = 1
    truth[0, 0] = IGNORE
    labels = truth.copy()
    labels[0, 0] = 1
    np.save(tmp_path / "truth.npy", truth)
    np.save(tmp_path / "labels.npy", labels)
    np.save(tmp_path / "origins.npy", np.arange(8, dtype=np.int32).reshape(1, 2, 4))
    assert judged(tmp_path, 2) == {"miou": 1, "global": 1, "consistency": 0.75 + 0.0}


def a_case(name: str, value: int, n_frames: int) -> Case:
    """Frames whose pixels tell the video and the number, as do the labels and the networks."""
    numbers = np.arange(n_frames, dtype=np.uint8)
    frames = np.zeros((n_frames, 160, 240, 3), np.uint8) + value
    frames[..., 1] = numbers[:, None, None]
    truth = np.zeros((n_frames, 160, 240), np.uint8) + (10 * value + numbers)[:, None, None].astype(np.uint8)
    networks = {"dcnn": [Path(f"{value}-{t}") for t in range(n_frames)]}
    return Case(name, APART, "suny", frames, truth, networks, np.ones(3, np.float32), 30.0)


def test_frames_labels_and_networks_of_a_composite_belong_together() -> None:
    cases = [a_case("a", 1, 8), a_case("b", 2, 9), a_case("c", 3, 7)]
    (found,) = composite_cases(cases, [4])
    assert len(found.frames) == len(found.truth) == len(found.networks["dcnn"]) == Ranges().n_frames
    for frame, truth, path in zip(found.frames, found.truth, found.networks["dcnn"], strict=True):
        video, number = int(frame[0, 0, 0]), int(frame[0, 0, 1])
        assert truth[0, 0] == 10 * video + number
        assert path == Path(f"{video}-{number}")


def test_pieces_are_drawn_from_the_stated_ranges_and_neighbours_differ() -> None:
    lengths = {"a": 41, "b": 43, "c": 35}
    for seed in range(20):
        pieces = draw(lengths, seed)
        assert sum(len(piece.frames) for piece in pieces) == 200
        assert all(0 <= t < lengths[piece.source] for piece in pieces for t in piece.frames)
        assert all(a.source != b.source for a, b in pairwise(pieces))
        assert all(len(piece.frames) <= 60 for piece in pieces)
        assert pieces == draw(lengths, seed)
    assert draw(lengths, 0) != draw(lengths, 1)
