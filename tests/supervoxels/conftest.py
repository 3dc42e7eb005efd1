"""Real clips with their labels."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.types import IGNORE, UInt8

N_FRAMES = 20


@pytest.fixture(scope="session")
def camvid(data_root: Path) -> tuple[UInt8, UInt8]:
    """The first frames of CamVid's dense run, (T, 360, 480, 3), and their labels."""
    frames = np.stack([_read(path) for path in _first(data_root / "camvid" / "val")])
    labels = np.stack([_read(path) for path in _first(data_root / "camvid" / "valannot")])
    return frames[..., ::-1], np.where(labels == 11, IGNORE, labels).astype(np.uint8)


@pytest.fixture(scope="session")
def container(data_root: Path) -> tuple[UInt8, UInt8]:
    """The first frames of SUNY's container, (T, 160, 240, 3), and their labels."""
    suny = data_root / "suny"
    frames = np.stack([_read(path) for path in _first(suny / "dataset" / "Chen_png" / "container")])
    size = frames.shape[2], frames.shape[1]
    files = _first(suny / "groundtruth" / "Chen_gt" / "container", "*_GT_index.png")
    labels = np.stack([cv2.resize(_read(path), size, interpolation=cv2.INTER_NEAREST) for path in files])
    return frames[..., ::-1], np.where(labels == 0, IGNORE, labels).astype(np.uint8)


def _first(folder: Path, pattern: str = "*.png") -> list[Path]:
    return sorted(folder.glob(pattern))[:N_FRAMES]


def _read(path: Path) -> UInt8:
    return np.asarray(cv2.imread(str(path), cv2.IMREAD_UNCHANGED), np.uint8)
