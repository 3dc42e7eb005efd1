"""What the settings of the supervoxels were chosen by: mean ASA on data that is never reported.

Usage: python benchmarks/choose_supervoxels.py DATA, where DATA holds camvid/ and suny/.

Selection data: the training halves of SUNY (real motion), and slow zooms into three frames of CamVid's held-out
sequence (480x360, since that sequence itself has one frame a second).
"""

import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from unittest.mock import patch

import cv2
import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.supervoxels import build_hierarchy
from budgetseg.supervoxels.truth import achievable_accuracy, count_labels
from budgetseg.types import IGNORE, UInt8

Clip = tuple[UInt8, UInt8, tuple[int, ...]]

VARIANTS: dict[str, dict[str, object]] = {
    "as shipped": {},
    "chroma counts once": {"regions.FEATURE_WEIGHTS": np.array([1.0, 1.0, 1.0, 0.4])},
    "chroma counts 3x": {"regions.FEATURE_WEIGHTS": np.array([1.0, 3.0, 3.0, 0.4])},
    "chroma counts 7x": {"regions.FEATURE_WEIGHTS": np.array([1.0, 7.0, 7.0, 0.4])},
    "no texture": {"regions.FEATURE_WEIGHTS": np.array([1.0, 5.0, 5.0, 0.0])},
    "texture counts 2x": {"regions.FEATURE_WEIGHTS": np.array([1.0, 5.0, 5.0, 0.8])},
    "leaves of 8 to 64": {"window.MIN_SIZE": 8},
    "leaves of 32 to 64": {"window.MIN_SIZE": 32},
    "leaves of 16 to 256": {"window.MAX_SIZE": 256},
    "scale 10": {"window.SCALE": 10.0},
    "scale 160": {"window.SCALE": 160.0},
    "slabs of 1 frame": {"window.BLOCK": (1, 64, 160)},
    "slabs of 16 frames": {"window.BLOCK": (16, 64, 160)},
    "blocks of 128x160": {"window.BLOCK": (8, 128, 160)},
}


def selection_clips(data: Path) -> Iterator[Clip]:
    """Frames, labels and the numbers of supervoxels to try."""
    for video in open_dataset("suny", data / "suny").videos("train"):
        yield video.video().frames, video.labels(), (150, 500, 1500)
    (held_out,) = open_dataset("camvid", data / "camvid").videos("selection")
    frames, labels = held_out.video().frames, held_out.labels()
    for index in (10, 35, 58):
        yield *_zoom(frames[index], labels[index]), (120, 350, 1200)


def _zoom(frame: UInt8, labels: UInt8, n_frames: int = 30) -> tuple[UInt8, UInt8]:
    """A camera that moves into a picture and a little to the side, with some noise."""
    height, width = labels.shape
    rng = np.random.default_rng(0)
    pictures, truths = [], []
    for t in range(n_frames):
        s = 1 + 0.02 * t
        move = np.array([[s, 0, width / 2 * (1 - s) - 1.2 * t], [0, s, 0.47 * height * (1 - s)]], np.float32)
        moved = cv2.warpAffine(frame, move, (width, height), flags=cv2.INTER_CUBIC, borderMode=cv2.BORDER_REFLECT)
        noisy = moved + rng.normal(0, 1.5, (height, width, 1))
        pictures.append(np.clip(noisy, 0, 255).astype(np.uint8))
        truths.append(
            cv2.warpAffine(
                labels,
                move,
                (width, height),
                flags=cv2.INTER_NEAREST,
                borderMode=cv2.BORDER_CONSTANT,
                borderValue=IGNORE,
            )
        )
    return np.stack(pictures), np.stack(truths)


def _mean_asa(clips: list[Clip], tier: str) -> float:
    scores = []
    for frames, labels, counts in clips:
        hierarchy = build_hierarchy(frames, tier)
        cuts = [count_labels(hierarchy.cut(n).ids, labels, IGNORE) for n in counts]
        scores.append(np.mean([achievable_accuracy(counts) for counts in cuts]))
    return float(np.mean(scores))


def main(data: Path) -> None:
    """Print a line per variant."""
    clips = list(selection_clips(data))
    for name, changes in VARIANTS.items():
        with ExitStack() as stack:
            for setting, value in changes.items():
                stack.enter_context(patch(f"budgetseg.supervoxels.{setting}", value))
            scores = "  ".join(f"{tier} {_mean_asa(clips, tier):.4f}" for tier in ("quality", "fast"))
        print(f"{name:22s} {scores}", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
