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
from budgetseg.spaces.frames.warm_up import calibrate, warm_up
from budgetseg.timing.prices import Prices
from budgetseg.types import IGNORE, Budget
from budgetseg.video import open_video


def test_the_dense_run_is_labelled_well_in_two_seconds(data_root: Path) -> None:
    model = load_model(find_model("camvid"))
    networks = open_networks(model.classifiers.names, model.networks)
    space = Frames(networks, model.classifiers.prior.astype(np.float32), Prices(), threads=2)
    warm_up(space)
    calibrate(space)
    (result,) = run(space, open_video(data_root / "camvid" / "val"), Request((Budget(2.0),)), model.classes)
    truth = open_dataset("camvid", data_root / "camvid").videos("val")[0].labels()
    kept = truth != IGNORE
    assert np.mean(result.labels[kept] == truth[kept]) > 0.92
    assert result.ledger.spent_s < 2.5  # on a machine that others use, too
