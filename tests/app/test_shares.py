"""Shares of classes are those of their pixels."""

import json
from pathlib import Path

import numpy as np
import pytest

from budgetseg.app.shares import class_shares, found_classes, write_classes
from tests.video.clips import CLASSES


@pytest.mark.parametrize("repeats", [1, 3])
def test_shares_are_counted_over_all_pixels_also_where_frames_repeat(repeats: int) -> None:
    labels = np.random.default_rng(0).integers(0, 5, (4, 6, 7)).astype(np.uint8).repeat(repeats, axis=0)
    expected = np.bincount(labels.ravel(), minlength=5) / labels.size
    assert class_shares(labels, 5) == pytest.approx(expected)
    assert class_shares(labels, 3) == pytest.approx(expected[:3])


def test_rare_classes_are_not_found() -> None:
    assert found_classes({"a": 0.3, "b": 0.0009, "c": 0.6991}) == ["c", "a"]


def test_classes_are_written_in_the_order_of_their_indices(tmp_path: Path) -> None:
    write_classes(tmp_path / "classes.json", CLASSES, {"sky": 0.25, "road": 0.75, "car": 0.0})
    rows = json.loads((tmp_path / "classes.json").read_text())
    assert [row["name"] for row in rows] == ["sky", "road", "car"]
    assert [row["index"] for row in rows] == [0, 1, 2]
    assert [row["share"] for row in rows] == [0.25, 0.75, 0.0]
    assert rows[2]["colour"] == [255, 0, 0]
