"""Optical flow between two frames: OpenCV's DIS on reduced frames, median-filtered."""

import threading
from typing import Any

import cv2
import numpy as np

from budgetseg.types import Float32, UInt8

__all__ = ["flow_reduction", "optical_flow"]

LARGE = 100_000  # pixels; larger frames are reduced
MOST = 4  # largest reduction of a side
LEAST = 32  # smallest side, in pixels, that DIS accepts; smaller frames are padded

_thread = threading.local()  # DIS keeps buffers between calls, so every thread has an estimator of its own


def flow_reduction(height: int, width: int) -> int:
    """Side of the square of pixels that shares one flow vector: 1, 2 or 4, more for larger frames."""
    reduce = 1
    while reduce < MOST and height * width >= LARGE * reduce * reduce:
        reduce *= 2
    return reduce


def optical_flow(first: UInt8, second: UInt8, fine: bool = False) -> Float32:
    """Flow (dx, dy), in pixels, from a frame (H, W, 3) to the next, (ceil(H/r), ceil(W/r), 2) float32.

    There is one vector for every r x r pixels, with r the `flow_reduction`: DIS gives no finer detail. With `fine`, DIS
    estimates each of these vectors, which takes twice as long, else one in four.
    """
    reduce = flow_reduction(first.shape[0], first.shape[1])
    height, width = -(-first.shape[0] // reduce), -(-first.shape[1] // reduce)
    flow = _estimator(fine).calc(_prepared(first, height, width), _prepared(second, height, width), None)
    dx, dy = (cv2.medianBlur(np.ascontiguousarray(flow[:height, :width, k]), 3) for k in (0, 1))
    return np.stack([dx, dy], axis=2) * np.float32(reduce)


def _prepared(frame: UInt8, height: int, width: int) -> UInt8:
    """A frame in grey, reduced, and padded to the smallest size that DIS accepts."""
    grey = cv2.resize(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), (width, height), interpolation=cv2.INTER_AREA)
    below = max(LEAST - height, 0)
    right = max(LEAST - width, 0)
    if below or right:
        grey = cv2.copyMakeBorder(grey, 0, below, 0, right, cv2.BORDER_REPLICATE)
    return np.asarray(grey, np.uint8)


def _estimator(fine: bool) -> Any:
    if not hasattr(_thread, "dis"):
        _thread.dis = cv2.DISOpticalFlow.create(cv2.DISOPTICAL_FLOW_PRESET_ULTRAFAST)
    # It is set for every frame, since DIS changes to finer scales at a tiny frame and stays there.
    _thread.dis.setFinestScale(0 if fine else 1)
    return _thread.dis
