"""The networks that come with the package."""

from pathlib import Path

import cv2
import numpy as np
import onnxruntime
import pytest

from budgetseg.datasets import open_dataset
from budgetseg.models import bundled
from budgetseg.networks import MEAN, STD
from budgetseg.types import IGNORE

FLOORS = {"dcnn": 0.90, "dcnn_large": 0.92}


def test_both_networks_fit_in_eight_megabytes() -> None:
    assert sum(bundled("camvid", f"{name}.onnx").stat().st_size for name in FLOORS) < 8_000_000


@pytest.mark.parametrize("name", sorted(FLOORS))
def test_the_network_labels_the_dense_run_well(name: str, data_root: Path) -> None:
    (dense,) = open_dataset("camvid", data_root / "camvid").videos("val")
    frames, labels = dense.video().frames[::20], dense.labels()[::20]
    session = onnxruntime.InferenceSession(bundled("camvid", f"{name}.onnx"), providers=["CPUExecutionProvider"])
    right = total = 0
    for frame, truth in zip(frames, labels, strict=True):
        x = ((frame.astype(np.float32) / 255 - MEAN) / STD).transpose(2, 0, 1)[None]
        probabilities = session.run(None, {"frames": x})[0][0]
        found = cv2.resize(probabilities.transpose(1, 2, 0), (480, 360)).argmax(axis=2)
        right += int((found == truth)[truth != IGNORE].sum())
        total += int((truth != IGNORE).sum())
    assert right / total > FLOORS[name]
