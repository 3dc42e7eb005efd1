"""Accuracy and speed of the bundled networks on CamVid's dense run, one core.

Usage: python benchmarks/networks.py DATA, where DATA holds camvid/.
"""

import sys
import time
from pathlib import Path

import cv2
import numpy as np
import onnxruntime

from budgetseg.datasets import open_dataset
from budgetseg.descriptors.network import MEAN, STD
from budgetseg.models import bundled
from budgetseg.types import IGNORE


def main(data: Path) -> None:
    """Print a line per network."""
    (dense,) = open_dataset("camvid", data / "camvid").videos("val")
    frames, labels = dense.video().frames, dense.labels()
    n_labels = 11
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    for name in ("dcnn", "dcnn_large"):
        path = bundled("camvid", f"{name}.onnx")
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        confusion, seconds = np.zeros((n_labels, n_labels), np.int64), []
        for frame, truth in zip(frames, labels, strict=True):
            x = ((frame.astype(np.float32) / 255 - MEAN) / STD).transpose(2, 0, 1)[None]
            started = time.process_time()
            probabilities = session.run(None, {"frames": np.ascontiguousarray(x)})[0][0]
            seconds.append(time.process_time() - started)
            found = cv2.resize(probabilities.transpose(1, 2, 0), (480, 360)).argmax(axis=2)
            kept = truth != IGNORE
            pairs = truth[kept].astype(np.int64) * n_labels + found[kept]
            confusion += np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels)
        hits, truths, claims = np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)
        print(
            f"{name:10s} class average {100 * np.mean(hits / truths):.1f}  global {100 * hits.sum() / truths.sum():.1f}"
            f"  mIoU {100 * np.mean(hits / (truths + claims - hits)):.1f}  {1e3 * np.median(seconds):.1f} ms a frame"
        )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
