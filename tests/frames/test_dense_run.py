"""A real clip: labels of frames are on time and better than those of the small network on all frames."""

from pathlib import Path

import numpy as np
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.label import label_frames
from budgetseg.frames.warm import calibrate_frames, warm_up_frames

from budgetseg.datasets import open_dataset
from budgetseg.descriptors.registry import open_networks
from budgetseg.engine.request import Request
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from budgetseg.types import IGNORE, Budget
from budgetseg.video import open_video


def test_the_dense_run_is_labelled_well_in_two_seconds(data_root: Path) -> None:
    model = load_model(find_model("camvid"))
    networks = open_networks(model.classifiers.names, model.networks)
    engine = FrameEngine(networks, model.classifiers.prior.astype(np.float32), threads=2)
    warm_up_frames(engine)
    calibrate_frames(engine)
    labelled = label_frames(engine, open_video(data_root / "camvid" / "val"), Request((Budget(2.0),)))
    truth = open_dataset("camvid", data_root / "camvid").videos("val")[0].labels()
    kept = truth != IGNORE
    assert np.mean(labelled.labels[0][kept] == truth[kept]) > 0.92
    assert labelled.ledgers[0].spent_s < 2.5  # on a machine that others use, too
