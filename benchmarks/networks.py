"""Accuracy and speed of the bundled networks on CamVid's dense run and SUNY's test halves, one core.

Usage: python benchmarks/networks.py DATA, where DATA holds camvid/ and suny/.
"""

import sys
from pathlib import Path

import cv2
import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.models import bundled
from budgetseg.networks.card import card_for
from budgetseg.networks.run import OnnxNetwork
from budgetseg.timing.clock import process_s
from budgetseg.types import IGNORE, Int64, UInt8

REPORTED = {"camvid": "val", "suny": "test"}


def main(data: Path) -> None:
    """Print a line per network."""
    for name, split in REPORTED.items():
        dataset = open_dataset(name, data / name)
        for path in sorted(bundled(name, "").glob("*.onnx")):
            ask = OnnxNetwork(card_for(path))
            confusion, seconds = np.zeros((len(dataset.classes),) * 2, np.int64), []
            for video in dataset.videos(split):
                for frame, truth in zip(video.video().frames[list(video.labelled)], video.labels(), strict=True):
                    began_s = process_s()
                    probabilities = ask(frame)
                    seconds.append(process_s() - began_s)
                    found = cv2.resize(probabilities, (frame.shape[1], frame.shape[0])).argmax(axis=2)
                    confusion += _confusion(truth, found, len(dataset.classes))
            accuracy = accuracy_of(confusion)
            print(
                f"{name} {path.stem}: class average {100 * accuracy.class_average:.1f}, "
                f"global {100 * accuracy.overall:.1f}, mIoU {100 * accuracy.miou:.1f}, "
                f"{1e3 * np.median(seconds):.1f} ms a frame"
            )


def _confusion(truth: UInt8, found: Int64, n_labels: int) -> Int64:
    kept = truth != IGNORE
    pairs = truth[kept].astype(np.int64) * n_labels + found[kept]
    return np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
