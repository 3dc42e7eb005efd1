"""A folder dataset of rendered streets, small enough to be described in seconds."""

from pathlib import Path

import cv2
import numpy as np

from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.video import write_index_png

SIZE = (64, 48)
LABELLED = {"a": [0, 1, 2, 3, 4], "b": [0, 2], "c": [], "d": [0]}
N_FRAMES = {"a": 5, "b": 4, "c": 3, "d": 1}


def write_streets(root: Path) -> Path:
    """Three videos to train on, one of them labelled in part and one not at all, and one frame for `val`."""
    for seed, name in enumerate(N_FRAMES):
        frames, labels = root / "frames" / name, root / "labels" / name
        frames.mkdir(parents=True)
        labels.mkdir(parents=True)
        video, truth = render(seed, N_FRAMES[name], SIZE)
        for index, frame in enumerate(video.frames):
            cv2.imwrite(str(frames / f"{index}.png"), frame[..., ::-1])
        for index in LABELLED[name]:
            write_index_png(labels / f"{index}.png", truth.labels[index], np.zeros((256, 3), np.uint8))
    (root / "classes.toml").write_text(f"names = {list(CLASSES.names)}\n")
    (root / "splits.toml").write_text('train = ["a", "b", "c"]\nval = ["d"]\n')
    return root
