"""What is wrong with a video that can still be read: frames that are missing, or damaged and patched by a decoder."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import av
from av.error import FFmpegError

from budgetseg.checked import Limits, read_regular
from budgetseg.errors import VideoError
from budgetseg.video.container import Container
from budgetseg.video.images import ImageFolder
from budgetseg.video.libav import DamagedError, decoded, opened
from budgetseg.video.png import is_whole_png
from budgetseg.video.read import VideoSource

__all__ = ["Health", "check_sound", "health_of", "is_whole_jpeg"]

_EXPLODE = {"err_detect": "explode+bitstream+buffer"}
"""A decoder with these options fails where it would otherwise patch a picture."""
_PICTURE_STARTS = b"\xff\xda"
_OTHER_MARKER = re.compile(rb"\xff+([^\x00\xd0-\xd7\xff])")
_BETWEEN_SCANS = frozenset(b"\xc4\xda\xdb\xdc\xdd\xfe" + bytes(range(0xE0, 0xF0)))
"""Markers that may come between the scans of a progressive JPEG: tables, comments, and the next scan."""


@dataclass(frozen=True)
class Health:
    """What is wrong with a video.

    Attributes
    ----------
    n_missing : frames that the file says to have, beyond those that were found
    n_damaged : frames that are not whole
    """

    n_missing: int
    n_damaged: int

    @property
    def words(self) -> str:
        """For a user; empty where nothing is wrong."""
        missing = f"{self.n_missing} of its frames are missing" if self.n_missing else ""
        damaged = f"{self.n_damaged} of its frames are damaged" if self.n_damaged else ""
        return " and ".join(part for part in (missing, damaged) if part)


def health_of(source: VideoSource, n_found: int) -> Health:
    """What can be known of a video in little time, of which so many frames were found."""
    if isinstance(source.clip, ImageFolder):
        files = [source.clip.files[index] for index in source.span.within(len(source.clip.files))]
        return Health(0, sum(not _is_whole(file) for file in files))
    if isinstance(source.clip, Container):
        stated = len(source.span.within(_stated(source.clip.path)))
        return Health(max(0, stated - n_found), 0)
    return Health(0, 0)


def check_sound(source: VideoSource) -> None:
    """Raise VideoError where any frame is missing, damaged, or would be patched: decodes all of the video."""
    clip = source.clip
    if isinstance(clip, ImageFolder):
        n_found = source.count()
        n_damaged = sum(not _decodes(clip.files[index]) for index in source.span.within(n_found))
        found = Health(0, n_damaged)
    elif isinstance(clip, Container):
        found = _examined(clip)
    else:
        return
    if found.words:
        raise VideoError(f"'{clip.path}': {found.words}; copy or convert it again, or label it without --strict")


def is_whole_jpeg(data: bytes) -> bool:
    """Whether a JPEG goes on to its end marker, without markers in between that no picture has."""
    at = data.find(_PICTURE_STARTS)
    if at < 0:
        return False
    while True:
        at += 2 + int.from_bytes(data[at + 2 : at + 4])  # a marker with a table, or the head of a scan
        found = _OTHER_MARKER.search(data, at)
        if found is None:
            return False
        marker = found[1][0]
        if marker == 0xD9:
            return True
        if marker not in _BETWEEN_SCANS:
            return False
        at = found.end() - 2


def _stated(path: Path) -> int:
    """Number of frames that a container says to have, without those that it hides; 0 if it says none."""
    with opened(path) as (_, stream):
        hidden = sum(entry.is_discard for entry in stream.index_entries)
        return max(0, stream.frames - hidden)


def _examined(clip: Container) -> Health:
    """Decode all of a file with a decoder that patches nothing."""
    n_found = 0
    with opened(clip.path) as (container, stream):
        stream.codec_context.options = _EXPLODE
        try:
            for _ in decoded(container, stream):
                n_found += 1
        except (DamagedError, FFmpegError):
            n_stated = max(_stated(clip.path), clip.n_frames or 0)
            return Health(0, max(1, n_stated - n_found))
    return Health(max(0, _stated(clip.path) - n_found), 0)


def _is_whole(file: Path) -> bool:
    data = read_regular(file, Limits.image_bytes)
    return is_whole_png(data) if data.startswith(b"\x89PNG") else is_whole_jpeg(data)


def _decodes(file: Path) -> bool:
    """Whether an image is whole, and a decoder that patches nothing decodes it."""
    if not _is_whole(file):
        return False
    if file.suffix.lower() == ".png":
        return True
    try:
        with av.open(f"file:{file}", format="jpeg_pipe") as container:
            container.streams.video[0].codec_context.options = _EXPLODE
            return any(True for _ in _frames(container))
    except FFmpegError:
        return False


def _frames(container: "av.container.InputContainer") -> Iterator[object]:
    yield from container.decode(video=0)
