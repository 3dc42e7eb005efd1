"""Pictures as data URLs, to be embedded in pages."""

from base64 import b64encode

import cv2
import numpy as np

from budgetseg.errors import OutputError
from budgetseg.types import UInt8

__all__ = ["labels_url", "photo_url"]

EXACT = 101  # quality from which on WebP loses nothing; labels take a quarter of a PNG that is written fast
QUALITY = 60  # of WebP; label colours are drawn over pictures, so that a better quality is not visible


def photo_url(pixels: UInt8, quality: int = QUALITY) -> str:
    """A picture (H, W, 3), uint8, RGB, as a data URL; above a quality of 100 it is exact."""
    done, data = cv2.imencode(".webp", pixels[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, quality])
    if not done:
        raise OutputError("a frame cannot be encoded; choose another --width")
    return f"data:image/webp;base64,{b64encode(data.tobytes()).decode()}"


def labels_url(labels: UInt8, colours: UInt8) -> str:
    """Labels (H, W) uint8 as an exact picture in the colours of their classes, (up to 256, 3), black beyond them."""
    palette = np.zeros((256, 3), np.uint8)
    palette[: len(colours)] = colours
    return photo_url(palette[labels], EXACT)
