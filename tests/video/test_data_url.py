"""Pictures in a page are what they were."""

from base64 import b64decode
from pathlib import Path

import cv2
import numpy as np

from budgetseg.video import read_index_png
from budgetseg.video.data_url import index_url, photo_url
from budgetseg.video.png import decode_image


def test_a_picture_keeps_its_colours() -> None:
    address = photo_url(np.full((8, 8, 3), (200, 40, 10), np.uint8))
    assert address.startswith("data:image/webp;base64,")
    shown = decode_image(b64decode(address.split(",")[1]), cv2.IMREAD_COLOR)
    assert shown is not None
    assert np.abs(shown[4, 4, ::-1].astype(int) - (200, 40, 10)).max() < 12


def test_labels_keep_every_index(tmp_path: Path) -> None:
    labels = np.random.default_rng(0).integers(0, 256, (9, 14), np.uint8)
    address = index_url(labels, np.zeros((256, 3), np.uint8))
    assert address.startswith("data:image/png;base64,")
    (tmp_path / "labels.png").write_bytes(b64decode(address.split(",")[1]))
    assert np.array_equal(read_index_png(tmp_path / "labels.png"), labels)
