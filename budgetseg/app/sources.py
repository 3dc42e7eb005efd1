"""What `model.label` takes as a video: a file, a folder, an opened video, or frames in memory."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TypeAlias

import numpy as np

from budgetseg.app.videos import open_counted
from budgetseg.errors import OutputError, VideoError
from budgetseg.types import UInt8
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span

__all__ = ["Footage", "source_of"]

Footage: TypeAlias = "str | Path | VideoSource | UInt8 | Iterable[UInt8]"
"""A file or folder, an opened video, frames (T, H, W, 3) uint8, RGB, or one frame (H, W, 3) after the other."""

_LAYOUT = "give frames as (T, H, W, 3) uint8, red first, or one (H, W, 3) after the other"


def source_of(footage: Footage, rate: float | None = None) -> VideoSource:
    """The video behind what a user gives; VideoError if it cannot be one.

    Frames that come one after the other, as from a generator, are read to the end first: a plan needs their number.
    They are kept in an unnamed file, so that they need no more memory than the system has to spare.

    Parameters
    ----------
    footage : a file, a folder of images, what `open_video` gives, an array, or frames one after the other
    rate : frames per second of frames in memory; None for 25. Files state their own.
    """
    if isinstance(footage, str | Path | VideoSource):
        if rate is not None:
            raise VideoError("rate is for frames in memory, since a file states its own; leave it out")
        return footage if isinstance(footage, VideoSource) else open_counted(footage)
    if rate is not None and not rate > 0:
        raise VideoError(f"rate must be more than 0. Got {rate}; for example 25")
    if isinstance(footage, np.ndarray):
        pixels = _checked(footage)
    elif isinstance(footage, Iterable):
        pixels = _stored(footage)
    else:
        raise VideoError(f"a video cannot be an object of type {type(footage).__name__}; give a path, or {_LAYOUT[5:]}")
    return VideoSource(ArrayClip(pixels, rate or 25.0), Span(), (pixels.shape[2], pixels.shape[1]))


def _checked(pixels: Any) -> UInt8:
    if pixels.ndim != 4 or pixels.shape[3] != 3 or pixels.dtype != np.uint8:
        raise VideoError(f"an array of shape {pixels.shape} and type {pixels.dtype} is no video; {_LAYOUT}")
    if 0 in pixels.shape:
        raise VideoError(f"an array of shape {pixels.shape} has no pixel; {_LAYOUT}")
    return np.asarray(pixels)


def _stored(frames: Iterable[Any]) -> UInt8:
    """Frames (T, H, W, 3) from one after the other, backed by an unnamed file."""
    shape: Sequence[int] | None = None
    n_frames = 0
    try:
        with TemporaryFile() as file:
            for frame in frames:
                pixels = np.asarray(frame)
                shape = pixels.shape if shape is None else shape
                if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or pixels.shape != shape:
                    raise VideoError(
                        f"frame {n_frames} has shape {pixels.shape} and type {pixels.dtype}; give frames of one size, "
                        "(H, W, 3) uint8, red first"
                    )
                file.write(np.ascontiguousarray(pixels).data)
                n_frames += 1
            if shape is None or 0 in shape:
                raise VideoError(f"there is no frame; {_LAYOUT}")
            file.flush()
            return np.asarray(np.memmap(file, np.uint8, "r", shape=(n_frames, *shape)))
    except OSError as error:
        raise OutputError(f"no space for frames ({error.strerror}); free some, or set TMPDIR") from None
