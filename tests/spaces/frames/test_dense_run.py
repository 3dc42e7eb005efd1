"""A real clip: labels of frames are on time and better than those of the small network on all frames."""

from pathlib import Path

import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.descriptors.registry import open_networks
from budgetseg.engine.request import Request
from budgetseg.engine.run import run
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import CostClock
from budgetseg.timing.prices import Prices
from budgetseg.types import IGNORE, Budget
from budgetseg.video import open_video

RATES = {
    "dcnn": 0.009,
    "dcnn_large": 0.04,
    "looking": 1.3e-9,
    "flow": 1.5e-7,
    "fusing": 3.4e-8,
    "pixels": 1.1e-9,
    "edges": 1.0e-8,
    "copies": 2.7e-10,
}
"""Seconds of a unit of each kind of work, by one thread of an ordinary machine."""


def test_the_dense_run_is_labelled_well_in_two_seconds(data_root: Path) -> None:
    model = load_model(find_model("camvid"))
    networks = open_networks(model.classifiers.names, model.networks)
    rates = {f"frames {work}": rate for work, rate in RATES.items()} | {"decode .png": 2.7e-8}
    space = Frames(networks, model.classifiers.prior.astype(np.float32), Prices(rates, frozen=True)).in_order()
    video = open_video(data_root / "camvid" / "val")
    (result,) = run(space, video, Request((Budget(2.0),)), model.classes, CostClock())
    truth = open_dataset("camvid", data_root / "camvid").videos("val")[0].labels()
    kept = truth != IGNORE
    assert np.mean(result.labels[kept] == truth[kept]) > 0.93
    assert result.ledger.spent_s <= 2.0
