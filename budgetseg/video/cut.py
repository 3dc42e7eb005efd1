"""Find out whether a file is cut short: shorter than its container states.

A decoder takes the end of the file for the end of the video. But containers state their length: MP4 and QuickTime as a
chain of boxes, AVI as RIFF chunks, Matroska and WebM as the size of the segment, Y4M as frames of one size.
"""

import re
from collections.abc import Callable
from pathlib import Path
from typing import BinaryIO

__all__ = ["missing_bytes"]

_BOXES = frozenset(
    b"ftyp styp moov moof mdat mfra sidx ssix emsg prft free skip wide uuid udta meta pnot PICT pdin".split()
)
_SLACK = 8  # bytes by which an AVI may be shorter: some writers count the header twice


def missing_bytes(path: Path) -> int:
    """Number of bytes that the container states beyond the end of the file; 0 if it is whole, or states no length."""
    with path.open("rb") as file:
        magic = file.read(12)
        stated = next((stated for is_it, stated in _FORMATS if is_it(magic)), None)
        lacking = stated(file) - path.stat().st_size if stated else 0
    return max(0, lacking)


def _box_end(file: BinaryIO) -> int:
    """End of the chain of MP4 boxes; it stops at anything unknown, since cameras append data of their own."""
    end = 0
    while len(head := _at(file, end, 16)) >= 8 and head[4:8] in _BOXES:
        length = int.from_bytes(head[:4])
        length = int.from_bytes(head[8:16]) if length == 1 else length
        if length < 8:  # 0: up to the end of the file
            break
        end += length
    return end


def _riff_end(file: BinaryIO) -> int:
    """End of the last RIFF chunk (an AVI of more than 1 GB has several)."""
    end = 0
    while len(head := _at(file, end, 8)) == 8 and head[:4] == b"RIFF":
        length = int.from_bytes(head[4:], "little")
        if length == 0:  # never finished by its writer, which readers accept
            return 0
        end += 8 + length + length % 2
    return end - _SLACK


def _segment_end(file: BinaryIO) -> int:
    """End of the segment of a Matroska or WebM file."""
    _, header_end = _element(file, 0)
    start, end = _element(file, header_end)
    return end if _at(file, header_end, 4) == b"\x18\x53\x80\x67" and end > start else 0


def _element(file: BinaryIO, position: int) -> tuple[int, int]:
    """Start and end of the body of the EBML element at `position`, whose id has 4 bytes; empty if it states no end."""
    head = _at(file, position + 4, 8)
    if not head or head[0] == 0:
        return 0, 0
    width = 9 - head[0].bit_length()
    length = int.from_bytes(head[:width]) - (1 << 7 * width)
    unknown = length == (1 << 7 * width) - 1
    body = position + 4 + width
    return body, body if unknown else body + length


def _y4m_end(file: BinaryIO) -> int:
    """End of the last Y4M frame that has begun."""
    header = _at(file, 0, 4096).partition(b"\n")[0] + b"\n"
    if _at(file, len(header), 6) != b"FRAME\n":
        return 0
    frame = 6 + _y4m_frame_bytes(header.decode("ascii", "replace").split())
    n_begun = -(-(file.seek(0, 2) - len(header)) // frame)
    return len(header) + n_begun * frame if frame > 6 else 0


def _y4m_frame_bytes(fields: list[str]) -> int:
    """Bytes of one frame, 0 if the layout is unknown."""
    values = {field[0]: field[1:] for field in reversed(fields)}
    layout = re.fullmatch(r"(420|422|444|mono)(?:jpeg|mpeg2|paldv)?(p?\d+)?", values.get("C", "420"))
    width, height = values.get("W", ""), values.get("H", "")
    if not (layout and width.isdecimal() and height.isdecimal()):
        return 0
    w, h = int(width), int(height)
    half_w = (w + 1) // 2
    half_h = (h + 1) // 2
    chroma = {"420": half_w * half_h, "422": half_w * h, "444": w * h, "mono": 0}[layout[1]]
    return (w * h + 2 * chroma) * (2 if layout[2] else 1)


def _at(file: BinaryIO, position: int, length: int) -> bytes:
    file.seek(position)
    return file.read(length)


_FORMATS: tuple[tuple[Callable[[bytes], bool], Callable[[BinaryIO], int]], ...] = (
    (lambda magic: magic[4:8] in _BOXES, _box_end),
    (lambda magic: magic[:4] == b"RIFF" and magic[8:12] == b"AVI ", _riff_end),
    (lambda magic: magic[:4] == b"\x1a\x45\xdf\xa3", _segment_end),
    (lambda magic: magic.startswith(b"YUV4MPEG2 "), _y4m_end),
)
