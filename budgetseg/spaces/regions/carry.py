"""Change sizes between a video and its frames that are labelled: reduce frames, and enlarge labels."""

from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.types import UInt8

__all__ = ["carry", "reduced"]


def reduced(frames: UInt8, size: tuple[int, int]) -> UInt8:
    """Frames (t, h, w, 3), uint8, reduced to a size (rows, columns)."""
    if frames.shape[1:3] == size:
        return np.ascontiguousarray(frames)
    small = np.empty((len(frames), *size, 3), np.uint8)
    for frame, out in zip(frames, small, strict=True):
        # By halves, since OpenCV averages two by two pixels much faster than any other number.
        while all(side >= 4 * wanted for side, wanted in zip(frame.shape, size, strict=False)):
            frame = cv2.resize(frame, (frame.shape[1] // 2, frame.shape[0] // 2), interpolation=cv2.INTER_AREA)
        cv2.resize(frame, size[::-1], dst=out, interpolation=cv2.INTER_AREA)
    return small


def carry(maps: NDArray[Any], stride: int, out: NDArray[Any]) -> None:
    """Write maps (t, h, w) of every `stride`-th frame to all frames, `out` (T, H, W), enlarged to their size.

    The other frames get the map of the frame before them.
    """
    height, width = out.shape[1:]
    for k, frame_map in enumerate(maps):
        if frame_map.shape != (height, width):
            frame_map = cv2.resize(frame_map, (width, height), interpolation=cv2.INTER_NEAREST)
        end = len(out) if k + 1 == len(maps) else (k + 1) * stride
        out[k * stride : end] = frame_map
