"""Arrays for the labels of a video: in memory, or in an unnamed file on disk for long videos."""

import gc
import math
import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from tempfile import TemporaryFile

import numpy as np

from budgetseg.errors import OutputError
from budgetseg.types import UInt8

__all__ = ["LabelMemory", "made_ready", "n_bytes", "no_collection", "room_for"]


@dataclass(frozen=True)
class LabelMemory:
    """Where the labels of a video are kept, and who pays for the memory.

    Attributes
    ----------
    in_memory_bytes : labels of one budget that take more than this are kept in a file; 2 GiB are 12,000 frames of
        480×360
    unpaid_bytes : if the labels of all budgets together take more than this, their memory is made ready beside the
        budget: the first touch of a gigabyte takes from 0.1 to 2.5 s, whatever the system likes
    """

    in_memory_bytes: int = 2 << 30
    unpaid_bytes: int = 1 << 26


def n_bytes(labels: Sequence[UInt8]) -> int:
    """Bytes of memory that label arrays take; those kept in a file are not counted."""
    return sum(array.size for array in labels if not isinstance(array, np.memmap))


def made_ready(n: int) -> str:
    """The note for the user that n bytes of memory were allocated outside the budget."""
    return f"memory for labels, {n / 1e9:.2g} GB, was allocated outside the budget"


def room_for(
    n_frames: int,
    size: tuple[int, int],
    value: int | None = None,
    most_bytes: int = LabelMemory.in_memory_bytes,
) -> UInt8:
    """A label array (T, H, W), uint8; in a file if it takes more than `most_bytes`.

    Parameters
    ----------
    n_frames, size : T, and (H, W)
    value : label that all pixels get; None leaves them undefined
    most_bytes : of an array in memory
    """
    shape = (n_frames, *size)
    if math.prod(shape) <= most_bytes:
        labels: UInt8 = np.empty(shape, np.uint8)
        if value is not None:
            _fill(labels, value)
        return labels
    try:
        with TemporaryFile() as file:
            os.posix_fallocate(file.fileno(), 0, math.prod(shape))  # a disk that fills up later would end the program
            labels = np.memmap(file, np.uint8, "r+", shape=shape)
    except OSError as error:
        needed = f"{math.prod(shape) / 1e9:.0f} GB"
        raise OutputError(f"no space for labels, {needed} ({error.strerror}); free some, or set TMPDIR") from None
    if value:
        labels[:] = value
    return labels


def _fill(labels: UInt8, value: int) -> None:
    """Set all labels; the first touch of memory takes long, and every core has a part of it."""
    threads = os.cpu_count() or 1
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda part: part.fill(value), np.array_split(labels, 8 * threads)))


@contextmanager
def no_collection() -> Iterator[None]:
    """Keep Python from collecting garbage in the block: a collection can take a tenth of a second of a budget."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
