"""Arrays and pictures as text, to be embedded in a page."""

import zlib
from base64 import b64encode
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.errors import OutputError
from budgetseg.types import UInt8

__all__ = ["packed", "picture"]

QUALITY = 60  # of WebP; the page draws label colours over pictures, so that a better quality is not visible


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """An array for the page: the name of its type in JavaScript, its shape, and its deflated bytes as base64."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    kinds = {"u": "Uint", "i": "Int", "f": "Float"}
    kind = f"{kinds[plain.dtype.kind]}{8 * plain.dtype.itemsize}Array"
    return {"type": kind, "shape": array.shape, "data": b64encode(zlib.compress(plain.tobytes(), 9)).decode()}


def picture(pixels: UInt8) -> str:
    """A picture (H, W, 3), uint8, RGB, as a data URL."""
    done, data = cv2.imencode(".webp", pixels[..., ::-1], [cv2.IMWRITE_WEBP_QUALITY, QUALITY])
    if not done:
        raise OutputError("a frame cannot be encoded; choose another --width")
    return f"data:image/webp;base64,{b64encode(data.tobytes()).decode()}"
