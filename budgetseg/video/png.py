"""Indexed PNG: one 8-bit class index per pixel, with a palette that shows it in colour.

OpenCV cannot write palettes, and converts them to colours when it reads. But the picture data of a palette PNG and of a
grey one are the same, so reading drops the palette, marks the picture as grey, and lets OpenCV decode it.
"""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path

import cv2
import numpy as np

from budgetseg.checked import Limits, read_regular
from budgetseg.errors import VideoError
from budgetseg.types import UInt8

__all__ = ["decode_image", "index_png", "is_whole_png", "read_index_png", "write_index_png"]

_SIGNATURE = b"\x89PNG\r\n\x1a\n"
_HEADER = struct.Struct(">IIBBBBB")  # width, height, bit depth, colour type, compression, filter, interlace
_GREY = 0
_PALETTE = 3
_KINDS = {2: "RGB", 4: "grey with alpha", 6: "RGB with alpha"}


def write_index_png(path: str | Path, indices: UInt8, palette: UInt8) -> None:
    """Write `indices` (H, W) uint8 as a palette PNG; `palette` is (up to 256, 3) uint8, RGB."""
    Path(path).write_bytes(index_png(indices, palette))


def index_png(indices: UInt8, palette: UInt8) -> bytes:
    """The content of a palette PNG of `indices` (H, W) uint8; `palette` is (up to 256, 3) uint8, RGB."""
    height, width = indices.shape
    header = _HEADER.pack(width, height, 8, _PALETTE, 0, 0, 0)
    rows = np.zeros((height, width + 1), np.uint8)  # each row starts with its filter: 0, none
    rows[:, 1:] = indices
    # Labels are runs of one value: to look for other repetitions takes longer, and makes files larger.
    packer = zlib.compressobj(1, zlib.DEFLATED, zlib.MAX_WBITS, zlib.DEF_MEM_LEVEL, zlib.Z_RLE)
    data = packer.compress(rows.tobytes()) + packer.flush()
    parts = [(b"IHDR", header), (b"PLTE", palette.tobytes()), (b"IDAT", data), (b"IEND", b"")]
    return _SIGNATURE + b"".join(_chunk(kind, body) for kind, body in parts)


def read_index_png(path: str | Path) -> UInt8:
    """Read the index of every pixel, (H, W) uint8, from a grey or palette PNG with up to 8 bits per pixel."""
    try:
        data = read_regular(Path(path), Limits.image_bytes)
        chunks = list(_chunks(data))
        depth, plain = _as_grey(chunks)
    except OSError as error:
        raise VideoError(f"cannot read '{path}': {error.strerror}; check the path") from error
    except ValueError as error:
        raise VideoError(f"'{path}' {error}; give an 8-bit grey or palette PNG of class indices") from error
    image = decode_image(plain, cv2.IMREAD_UNCHANGED)
    if image is None:
        raise VideoError(f"'{path}' is a damaged PNG; copy it again")
    stretch = 255 // (2**depth - 1)  # decoders spread 1, 2 and 4 bits over 0..255
    indices: UInt8 = image if stretch == 1 else image // np.uint8(stretch)
    return indices


def decode_image(data: bytes, flags: int) -> UInt8 | None:
    """The image that OpenCV decodes from these bytes; None if it cannot."""
    try:
        image = cv2.imdecode(np.frombuffer(data, np.uint8), flags)
    except cv2.error:  # the stated size does not fit in memory
        return None
    return None if image is None else np.asarray(image, np.uint8)


def is_whole_png(data: bytes) -> bool:
    """Whether these bytes are a PNG from the signature to the last chunk, with every checksum right."""
    try:
        return list(_chunks(data))[-1][0] == b"IEND"
    except ValueError:
        return False


def _as_grey(chunks: list[tuple[bytes, bytes]]) -> tuple[int, bytes]:
    """Bit depth, and the bytes of a grey PNG with the same picture data, without palette or transparency."""
    width, height, depth, kind, *rest = _HEADER.unpack(chunks[0][1])
    if kind in _KINDS:
        raise ValueError(f"is {_KINDS[kind]}, not one index per pixel")
    if depth > 8:
        raise ValueError(f"has {depth} bits per pixel")
    header = _chunk(b"IHDR", _HEADER.pack(width, height, depth, _GREY, *rest))
    body = b"".join(_chunk(kind, body) for kind, body in chunks if kind in (b"IDAT", b"IEND"))
    return depth, _SIGNATURE + header + body


def _chunk(kind: bytes, body: bytes) -> bytes:
    return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))


def _chunks(data: bytes) -> Iterator[tuple[bytes, bytes]]:
    """Kind and body of each chunk up to IEND; ValueError with the reason if the file is damaged."""
    if data[:16] != _SIGNATURE + struct.pack(">I4s", _HEADER.size, b"IHDR"):
        raise ValueError("is not a PNG")
    position = 8
    kind = b""
    while kind != b"IEND":
        if position + 12 > len(data):
            raise ValueError("is a PNG that is cut short")
        length, kind = struct.unpack_from(">I4s", data, position)
        body = data[position + 8 : position + 8 + length]
        end = position + 12 + length
        if end > len(data):
            raise ValueError("is a PNG that is cut short")
        if data[end - 4 : end] != struct.pack(">I", zlib.crc32(body, zlib.crc32(kind))):
            raise ValueError("is a damaged PNG")
        position = end
        yield kind, body
