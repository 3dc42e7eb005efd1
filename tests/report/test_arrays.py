"""What is packed can be unpacked."""

import zlib
from base64 import b64decode

import cv2
import numpy as np
import pytest

from budgetseg.report.arrays import packed, picture
from budgetseg.video.png import decode_image


@pytest.mark.parametrize(("dtype", "name"), [("u1", "Uint8Array"), (">u2", "Uint16Array"), ("f4", "Float32Array")])
def test_an_array_is_little_endian_bytes_of_a_type_that_javascript_knows(dtype: str, name: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    stored = packed(array)
    assert (stored["type"], stored["shape"]) == (name, (2, 3))
    bytes_ = zlib.decompress(b64decode(stored["data"]))
    assert np.array_equal(np.frombuffer(bytes_, np.dtype(dtype).newbyteorder("<")).reshape(2, 3), array)


def test_a_picture_keeps_its_colours() -> None:
    address = picture(np.full((8, 8, 3), (200, 40, 10), np.uint8))
    assert address.startswith("data:image/webp;base64,")
    shown = decode_image(b64decode(address.split(",")[1]), cv2.IMREAD_COLOR)
    assert shown is not None
    assert np.abs(shown[4, 4, ::-1].astype(int) - (200, 40, 10)).max() < 12
