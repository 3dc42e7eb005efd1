"""Arrays as text, to be embedded in a page."""

import zlib
from base64 import b64encode
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["packed"]


def packed(array: NDArray[Any]) -> dict[str, Any]:
    """An array for the page: the name of its type in JavaScript, its shape, and its deflated bytes as base64."""
    plain = np.ascontiguousarray(array, array.dtype.newbyteorder("<"))
    kinds = {"u": "Uint", "i": "Int", "f": "Float"}
    kind = f"{kinds[plain.dtype.kind]}{8 * plain.dtype.itemsize}Array"
    return {"type": kind, "shape": array.shape, "data": b64encode(zlib.compress(plain.tobytes(), 9)).decode()}
