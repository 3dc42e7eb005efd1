"""What windows cost: accuracy and the share of pixels that keep their id, on CamVid's dense run.

Usage: python benchmarks/streaming.py DATA, where DATA holds camvid/.
"""

import sys
from pathlib import Path

import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.supervoxels import TIERS, Segmenter
from budgetseg.supervoxels.truth import achievable_accuracy, count_labels
from budgetseg.types import IGNORE, Int32, UInt8


def stream(frames: UInt8, length: int, tier: str, n: int = 3500) -> Int32:
    """Ids of a clip in windows of a length."""
    height, width = frames.shape[1:3]
    segmenter = Segmenter((height, width), tier)
    windows = [frames[t : t + length] for t in range(0, len(frames), length)]
    shares = np.cumsum([len(window) for window in windows]) * n // len(frames)
    return np.concatenate([segmenter.push(w, n_new=k - segmenter.n) for w, k in zip(windows, shares, strict=True)])


if __name__ == "__main__":
    (dense,) = open_dataset("camvid", Path(sys.argv[1]) / "camvid").videos("val")
    frames, labels = dense.video().frames, dense.labels()
    for tier in TIERS:
        for length in (101, 51, 20, 10):
            ids = stream(frames, length, tier)
            kept = (ids[1:] == ids[:-1]).mean(axis=(1, 2))
            border = np.arange(1, len(frames)) % length == 0
            across = f"{kept[border].mean():.3f}" if border.any() else "    -"
            asa = achievable_accuracy(count_labels(ids, labels, IGNORE))
            print(
                f"{tier:8s} {length:3d} frames  ASA {asa:.4f}  kept: border {across}, inside {kept[~border].mean():.3f}"
            )
