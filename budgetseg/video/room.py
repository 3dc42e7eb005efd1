"""Refuse frames at the door for which there is not enough memory, before anything is decoded."""

import os
import struct
from dataclasses import dataclass
from pathlib import Path

from budgetseg.errors import VideoError

__all__ = ["FrameRoom", "available_bytes", "check_room", "image_size"]

_FRAME_HEADERS = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xC8, 0xCC}
"""Markers of JPEG that begin with the size of the picture."""


@dataclass(frozen=True)
class FrameRoom:
    """Memory that a frame needs.

    Attributes
    ----------
    frame_bytes : for each pixel of a frame, while it is read, labelled and written. Labelling one picture of 4000×3000
        took 10 more than labelling a small one (peak memory of `budgetseg label`); the rest is for frames that are read
        ahead, and is a guess
    """

    frame_bytes: int = 40


def check_room(path: Path, size: tuple[int, int], most_bytes: int | None = None, room: FrameRoom | None = None) -> None:
    """Raise VideoError where a frame of this size needs more memory than `most_bytes`; None for what is free."""
    needed = size[0] * size[1] * (room or FrameRoom()).frame_bytes
    free = available_bytes() if most_bytes is None else most_bytes
    if needed > free:
        limit = "there is" if most_bytes is None else "--max-memory allows"
        raise VideoError(
            f"'{path}': a frame of {size[0]}×{size[1]} needs {needed / 1e9:.1f} GB, and {limit} {free / 1e9:.1f} GB; "
            "scale it down, or give more by --max-memory"
        )


def available_bytes(info: Path = Path("/proc/meminfo"), limit: Path = Path("/sys/fs/cgroup/memory.max")) -> int:
    """Memory that this program may still take: of the machine, of its container, of its address space."""
    found = []
    if info.exists():
        lines = dict(line.split(":", 1) for line in info.read_text().splitlines() if ":" in line)
        if "MemAvailable" in lines:
            found.append(1024 * int(lines["MemAvailable"].split()[0]))
    if limit.exists() and (text := limit.read_text().strip()).isdecimal():
        found.append(int(text))
    return min(found, default=os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))


def image_size(data: bytes) -> tuple[int, int] | None:
    """Width and height that the header of a PNG or JPEG states; None where it states none."""
    if data.startswith(b"\x89PNG\r\n\x1a\n") and len(data) >= 24:
        width, height = struct.unpack(">II", data[16:24])
        return width, height
    at = 2
    while data.startswith(b"\xff\xd8") and at + 9 <= len(data) and data[at] == 0xFF:
        marker = data[at + 1]
        if marker in _FRAME_HEADERS:
            height, width = struct.unpack(">HH", data[at + 5 : at + 9])
            return width, height
        if marker == 0xFF:  # filling
            at += 1
        elif marker == 0x01 or 0xD0 <= marker <= 0xD8:  # markers without a body
            at += 2
        else:
            at += 2 + max(2, int.from_bytes(data[at + 2 : at + 4]))
    return None
