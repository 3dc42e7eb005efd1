"""Room for the labels of a video: memory, or a nameless file on disk where a long video has more than that."""

import gc
import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from tempfile import TemporaryFile

import numpy as np

from budgetseg.errors import OutputError
from budgetseg.types import UInt8

__all__ = ["LARGE", "made_ready", "n_bytes", "no_collection", "room_for"]

IN_MEMORY = 2 << 30
"""Bytes of labels that are kept in memory: 12,000 frames of 480×360."""

LARGE = 1 << 26
"""Bytes of labels from which on memory is made ready beside the budget: a gigabyte takes from 0.1 to 2.5 s."""


def n_bytes(labels: Sequence[UInt8]) -> int:
    """Of memory that labels take, those in a file left out."""
    return sum(own.size for own in labels if not isinstance(own, np.memmap))


def made_ready(n: int) -> str:
    """What the user is told of so many bytes."""
    return f"memory for labels, {n / 1e9:.2g} GB, was allocated outside the budget"


def room_for(n_frames: int, size: tuple[int, int], value: int | None = None, most_bytes: int = IN_MEMORY) -> UInt8:
    """Labels of so many frames, (T, H, W), all of one class, or of any; in a file where that is over `most_bytes`."""
    shape = (n_frames, *size)
    if math.prod(shape) <= most_bytes:
        return np.empty(shape, np.uint8) if value is None else np.full(shape, value, np.uint8)
    try:
        with TemporaryFile() as file:
            os.posix_fallocate(file.fileno(), 0, math.prod(shape))  # a disk that fills up later would kill us
            labels: UInt8 = np.memmap(file, np.uint8, "r+", shape=shape)
    except OSError as error:
        needed = f"{math.prod(shape) / 1e9:.0f} GB"
        raise OutputError(f"no space for labels, {needed} ({error.strerror}); free some, or set TMPDIR") from None
    if value:
        labels[:] = value
    return labels


@contextmanager
def no_collection() -> Iterator[None]:
    """Python looks for cycles of garbage when it likes, for a tenth of a second; not while a clock runs."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
