"""What is packed can be unpacked."""

import zlib
from base64 import b64decode

import numpy as np
import pytest

from budgetseg.report.arrays import packed


@pytest.mark.parametrize(("dtype", "name"), [("u1", "Uint8Array"), (">u2", "Uint16Array"), ("f4", "Float32Array")])
def test_an_array_is_little_endian_bytes_of_a_type_that_javascript_knows(dtype: str, name: str) -> None:
    array = np.arange(6).reshape(2, 3).astype(dtype)
    stored = packed(array)
    assert (stored["type"], stored["shape"]) == (name, (2, 3))
    bytes_ = zlib.decompress(b64decode(stored["data"]))
    assert np.array_equal(np.frombuffer(bytes_, np.dtype(dtype).newbyteorder("<")).reshape(2, 3), array)
