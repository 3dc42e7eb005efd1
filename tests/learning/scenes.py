"""A folder dataset of rendered streets that is learned from in seconds."""

from pathlib import Path

import cv2
import numpy as np

from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.video import write_index_png

SIZE = (64, 48)
N_FRAMES = {"a": 3, "b": 3, "c": 3, "d": 3, "blank": 2, "test": 1}
NEVER = "sea"
"""The last of the classes; no pixel has it."""

NAMES = (*CLASSES.names, NEVER)


def write_scenes(root: Path) -> Path:
    """Four videos to learn from, the last of them for selection, a `blank` one without labels, a frame to `test` on."""
    for seed, (name, n_frames) in enumerate(N_FRAMES.items()):
        frames, labels = root / "frames" / name, root / "labels" / name
        frames.mkdir(parents=True)
        labels.mkdir(parents=True)
        video, truth = render(seed, n_frames, SIZE)
        for index, frame in enumerate(video.frames):
            cv2.imwrite(str(frames / f"{index}.png"), frame[..., ::-1])
            if name != "blank":
                write_index_png(labels / f"{index}.png", truth.labels[index], np.zeros((256, 3), np.uint8))
    (root / "classes.toml").write_text(f"names = {list(NAMES)}\n")
    splits = {"train": list("abcd"), "blank": ["blank"], "test": ["test"]}
    (root / "splits.toml").write_text("".join(f"{name} = {videos}\n" for name, videos in splits.items()))
    return root
