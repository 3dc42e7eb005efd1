"""Pictures as data URLs, to be embedded in pages."""

from base64 import b64encode

import cv2

from budgetseg.errors import OutputError
from budgetseg.types import UInt8
from budgetseg.video.png import index_png

__all__ = ["index_url", "photo_url"]

QUALITY = 60  # of WebP; label colours are drawn over pictures, so that a better quality is not visible


def photo_url(pixels: UInt8) -> str:
    """A picture (H, W, 3), uint8, RGB, as a data URL."""
    done, data = cv2.imencode(".webp", pixels[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    if not done:
        raise OutputError("a frame cannot be encoded; choose another --width")
    return f"data:image/webp;base64,{b64encode(data.tobytes()).decode()}"


def index_url(indices: UInt8, palette: UInt8) -> str:
    """Labels (H, W) uint8 in the colours of a palette, (up to 256, 3) uint8, RGB, as a data URL."""
    return f"data:image/png;base64,{b64encode(index_png(indices, palette)).decode()}"
