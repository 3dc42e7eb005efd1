"""Small datasets written on the spot, and copies of a few real files that a test may break."""

import shutil
from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.types import UInt8
from budgetseg.video import VideoWriter, write_index_png

CLASSES = """
names = ["road", "car", "sky"]
colours = [[128, 64, 128], [0, 0, 142], [70, 130, 180]]
ignored = [255]
"""
SPLITS = """
train = ["a", "b"]
test = ["c"]
"""
SIZE = (24, 32)
PALETTE = np.zeros((256, 3), np.uint8)


def pixels(index: int) -> UInt8:
    """A frame, (H, W, 3), that tells its index by its brightness."""
    return np.full((*SIZE, 3), 20 + 10 * index, np.uint8)


def write_labels(folder: Path, stems: list[str], n_classes: int) -> None:
    """One label file per stem, with all classes and the ignored index 255."""
    folder.mkdir(parents=True, exist_ok=True)
    labels = (np.indices(SIZE).sum(axis=0) % (n_classes + 1)).astype(np.uint8)
    labels[labels == n_classes] = 255
    for stem in stems:
        write_index_png(folder / f"{stem}.png", labels, PALETTE)


def write_frames(root: Path, name: str, n_frames: int, every: int = 1, n_classes: int = 3) -> None:
    """A video as images f000.png, f001.png, …, every so many of them labelled."""
    folder = root / "frames" / name
    folder.mkdir(parents=True)
    for index in range(n_frames):
        cv2.imwrite(str(folder / f"f{index:03}.png"), pixels(index))
    write_labels(root / "labels" / name, [f"f{index:03}" for index in range(0, n_frames, every)], n_classes)


def write_file(root: Path, name: str, n_frames: int, every: int = 1, n_classes: int = 3) -> None:
    """A video as one file, every so many of its frames labelled."""
    (root / "videos").mkdir(parents=True, exist_ok=True)
    with VideoWriter(root / "videos" / f"{name}.mp4", (SIZE[1], SIZE[0]), 25.0) as writer:
        for index in range(n_frames):
            writer.write(pixels(index))
    write_labels(root / "labels" / name, [f"{index:06}" for index in range(0, n_frames, every)], n_classes)


@pytest.fixture
def folder_root(tmp_path: Path) -> Path:
    """The folder layout: two videos of images and one file, every second frame of it labelled."""
    root = tmp_path / "folder"
    write_frames(root, "a", 6)
    write_frames(root, "b", 5)
    write_file(root, "c", 8, every=2)
    (root / "classes.toml").write_text(CLASSES)
    (root / "splits.toml").write_text(SPLITS)
    return root


@pytest.fixture
def mpi_scene_root(tmp_path: Path) -> Path:
    """Four videos in the layout of the preset, a quarter of the frames labelled."""
    root = tmp_path / "mpi"
    write_frames(root, "one", 16, every=4, n_classes=5)
    write_frames(root, "two", 13, every=4, n_classes=5)
    write_file(root, "three", 16, every=4, n_classes=5)
    write_file(root, "four", 15, every=4, n_classes=5)
    return root


@pytest.fixture
def camvid_copy(tmp_path: Path, data_root: Path) -> Path:
    """Six frames of CamVid in two splits, to be broken."""
    names = {
        "train": [f"0016E5_00{n}.png" for n in (390, 420, 450)],
        "val": [f"0016E5_079{n}.png" for n in (59, 61, 63)],
    }
    root = tmp_path / "camvid"
    for split, files in names.items():
        for folder in (split, f"{split}annot"):
            (root / folder).mkdir(parents=True)
            for file in files:
                shutil.copy(data_root / "camvid" / folder / file, root / folder / file)
    return root
