"""Pictures in a page are what they were."""

from base64 import b64decode

import cv2
import numpy as np

from budgetseg.video.data_url import labels_url, photo_url
from budgetseg.video.png import decode_image


def test_a_picture_keeps_its_colours() -> None:
    address = photo_url(np.full((8, 8, 3), (200, 40, 10), np.uint8))
    assert address.startswith("data:image/webp;base64,")
    shown = decode_image(b64decode(address.split(",")[1]), cv2.IMREAD_COLOR)
    assert shown is not None
    assert np.abs(shown[4, 4, ::-1].astype(int) - (200, 40, 10)).max() < 12


def test_labels_keep_every_colour() -> None:
    generator = np.random.default_rng(0)
    labels = generator.integers(0, 12, (9, 14), np.uint8)
    colours = generator.integers(0, 256, (11, 3), np.uint8)
    address = labels_url(labels, colours)
    shown = decode_image(b64decode(address.split(",")[1]), cv2.IMREAD_COLOR)
    assert shown is not None
    assert np.array_equal(shown[..., ::-1], np.vstack([colours, np.zeros((1, 3))])[labels])
