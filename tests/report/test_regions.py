"""Regions of a run whose windows were not labelled alike."""

import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.app.export.run import read_run
from budgetseg.app.labeller import Labeller, Order
from budgetseg.app.output import Wanted
from budgetseg.app.state import STATE, read_state, write_state
from budgetseg.engine.request import Request
from budgetseg.report.player import player_of
from budgetseg.types import Budget, Supervoxels
from budgetseg.video import read_label_pngs
from tests.app.simulated import load_simulated
from tests.app.streets import write_model, write_street
from tests.report.test_player import unpacked


@pytest.fixture(scope="module")
def run_in_windows(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run by regions in two windows, with the why map; the second was worked on at half the size of the first."""
    folder = tmp_path_factory.mktemp("windows")
    budgets = tuple(Budget(share, is_share=True) for share in (0.05, 0.4))
    order = Order(
        [write_street(folder / "street.mp4")],
        Request(budgets, "descriptors", window=6),
        output=folder / "out",
        wanted=Wanted(why=True),
    )
    Labeller(load_simulated(write_model(folder / "model"))).run(order, order.task())
    first, second = read_state(folder / "out")
    ids = np.ascontiguousarray(second.supervoxels.ids[:, ::2, ::2])
    assert (ids.min(), ids.max()) == (0, len(second.supervoxels) - 1)
    graph = second.supervoxels.graph
    boxes = graph.boxes // np.array([1, 1, 2, 2, 2, 2], np.int32)
    boxes[:, 1::2] = np.maximum(boxes[:, 1::2], boxes[:, ::2] + 1)
    half = replace(
        second, supervoxels=Supervoxels(ids, replace(graph, boxes=boxes, centroids=graph.centroids / (1, 2, 2)))
    )
    write_state(folder / "out" / STATE, [first, half])
    return folder / "out"


def player(run: Path, **options: Any) -> dict[str, Any]:
    return player_of(read_run(run), **{"n_frames": 60, "width": 480, **options})


def test_windows_of_different_sizes_are_shown_at_one_size(run_in_windows: Path) -> None:
    shown = player(run_in_windows)
    ids, labels = unpacked(shown["ids"]), unpacked(shown["labels"])
    truth = read_label_pngs(run_in_windows / "40%" / "labels")
    assert ids.shape == truth.shape
    assert np.array_equal(labels[1][ids][:6], truth[:6])
    assert (labels[1][ids][6:] == truth[6:]).mean() > 0.9
    assert shown["n_windows"] == 2


def test_they_are_also_shown_without_the_why_map(run_in_windows: Path, tmp_path: Path) -> None:
    shutil.copytree(run_in_windows, tmp_path / "out")
    (tmp_path / "out" / "why.npz").unlink()
    assert unpacked(player(tmp_path / "out", width=40)["ids"]).shape[2] == 40
