"""Indices in PNGs: every kind is read, and nothing else is taken for one."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import cv2
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from budgetseg.errors import VideoError
from budgetseg.timing.clock import thread_s
from budgetseg.types import UInt8
from budgetseg.video import read_index_png, write_index_png
from tests.video.clips import some_labels

PALETTE = np.zeros((256, 3), np.uint8)


def png_of(indices: UInt8, depth: int, colour_type: int) -> bytes:
    """A PNG of `depth` bits a pixel, built here, so that the reader is not tested with its own writer."""
    height, width = indices.shape
    bits = np.unpackbits(indices[..., None], axis=2)[..., 8 - depth :].reshape(height, -1)
    rows = b"".join(b"\0" + np.packbits(row).tobytes() for row in bits)
    header = struct.pack(">IIBBBBB", width, height, depth, colour_type, 0, 0, 0)
    parts = [(b"IHDR", header), (b"PLTE", bytes(range(3 * 2**depth)) if depth < 8 else bytes(768)), (b"tRNS", b"\0")]
    parts = parts if colour_type == 3 else parts[:1]
    parts += [(b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    chunks = [struct.pack(">I", len(b)) + k + b + struct.pack(">I", zlib.crc32(k + b)) for k, b in parts]
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunks)


@given(indices=arrays(np.uint8, st.tuples(st.integers(1, 40), st.integers(1, 40))))
def test_any_index_survives_the_png(tmp_path_factory: pytest.TempPathFactory, indices: UInt8) -> None:
    path = tmp_path_factory.mktemp("png") / "x.png"
    write_index_png(path, indices, PALETTE)
    assert np.array_equal(read_index_png(path), indices)


@pytest.mark.parametrize("depth", [1, 2, 4, 8])
@pytest.mark.parametrize("colour_type", [0, 3])
def test_grey_and_palette_pngs_of_any_depth_give_their_indices(tmp_path: Path, depth: int, colour_type: int) -> None:
    indices = np.random.default_rng(0).integers(0, 2**depth, (11, 17)).astype(np.uint8)
    (tmp_path / "x.png").write_bytes(png_of(indices, depth, colour_type))
    assert np.array_equal(read_index_png(tmp_path / "x.png"), indices)


def test_label_pngs_of_real_datasets_give_their_indices(data_root: Path) -> None:
    file = next(iter(sorted((data_root / "camvid" / "valannot").glob("*.png"))))
    expected = cv2.imread(str(file), cv2.IMREAD_UNCHANGED)
    assert expected is not None
    assert np.array_equal(read_index_png(file), expected)


def test_reading_indices_is_fast(tmp_path: Path) -> None:
    labels = np.repeat(np.repeat(some_labels((45, 60)), 8, axis=0), 8, axis=1)
    write_index_png(tmp_path / "x.png", labels, PALETTE)
    began_s = thread_s()
    for _ in range(20):
        read_index_png(tmp_path / "x.png")
    assert thread_s() - began_s < 20 / 100


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (np.zeros((4, 4, 3), np.uint8), "is RGB, not one index per pixel"),
        (np.zeros((4, 4, 4), np.uint8), "is RGB with alpha, not one index per pixel"),
        (np.zeros((4, 4), np.uint16), "has 16 bits per pixel"),
    ],
)
def test_other_kinds_of_png_hold_no_indices(tmp_path: Path, content: UInt8, complaint: str) -> None:
    cv2.imwrite(str(tmp_path / "x.png"), content)
    with pytest.raises(VideoError, match=rf"x\.png' {complaint}; give an 8-bit grey or palette PNG"):
        read_index_png(tmp_path / "x.png")


@pytest.mark.parametrize(
    ("damage", "complaint"),
    [
        (lambda data: data[:60], "cut short"),
        (lambda data: data[:-5], "cut short"),
        (lambda data: data[:-20] + bytes(4) + data[-16:], "damaged PNG"),
        (lambda _: b"hello", "is not a PNG"),
        (lambda _: b"", "is not a PNG"),
    ],
)
def test_a_damaged_png_is_refused(tmp_path: Path, damage: Callable[[bytes], bytes], complaint: str) -> None:
    (tmp_path / "x.png").write_bytes(damage(png_of(some_labels((30, 30)), 8, 3)))
    with pytest.raises(VideoError, match=complaint):
        read_index_png(tmp_path / "x.png")
    with pytest.raises(VideoError, match="cannot read"):
        read_index_png(tmp_path / "y.png")
