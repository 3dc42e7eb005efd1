"""Between a video and the frames of it that are worked on."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.types import UInt8

__all__ = ["carry", "reduced"]


def reduced(frames: UInt8, size: tuple[int, int]) -> UInt8:
    """Frames (t, h, w, 3) that were read, at the size, rows and columns, that is worked on."""
    if frames.shape[1:3] == size:
        return np.ascontiguousarray(frames)
    small = np.empty((len(frames), *size, 3), np.uint8)
    for frame, out in zip(frames, small, strict=True):
        # By halves, since OpenCV averages two by two pixels much faster than any other number.
        while all(side >= 4 * own for side, own in zip(frame.shape, size, strict=False)):
            frame = cv2.resize(frame, (frame.shape[1] // 2, frame.shape[0] // 2), interpolation=cv2.INTER_AREA)
        cv2.resize(frame, size[::-1], dst=out, interpolation=cv2.INTER_AREA)
    return small


def carry(maps: NDArray[Any], stride: int, out: NDArray[Any]) -> None:
    """Write maps (t, h, w) of the frames that were worked on to all frames, `out` (T, H, W).

    Every `stride`-th frame was worked on; frames after the last of them are like it.
    """
    height, width = out.shape[1:]
    for k, one in enumerate(maps):
        if one.shape != (height, width):
            one = cv2.resize(one, (width, height), interpolation=cv2.INTER_NEAREST)
        end = len(out) if k + 1 == len(maps) else (k + 1) * stride
        out[k * stride : end] = one
