"""Between a video and the frames of it that are worked on."""

from dataclasses import replace
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.engine.plan import Plan
from budgetseg.types import UInt8
from budgetseg.video import VideoSource

__all__ = ["carry", "reduced", "worked_on"]


def worked_on(source: VideoSource, plan: Plan) -> VideoSource:
    """The frames that a plan works on, at the size at which they are read."""
    height, width = plan.read_size or plan.size
    span = replace(source.span, stride=source.span.stride * plan.stride)
    return replace(source, size=(width, height), span=span)


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


def carry(maps: NDArray[Any], plan: Plan, size: tuple[int, int], out: NDArray[Any] | None = None) -> NDArray[Any]:
    """Maps (t, h, w) of the frames that were worked on, at `size`, rows and columns, and for the frames between.

    Into `out`, if there is one; those that it has no place for are left out.
    """
    (height, width), stride = size, plan.stride
    if out is None and stride == 1 and maps.shape[1:] == size:
        return maps
    out = np.empty((len(maps) * stride, height, width), maps.dtype) if out is None else out
    for k, one in enumerate(maps):
        if one.shape != size:
            one = cv2.resize(one, (width, height), interpolation=cv2.INTER_NEAREST)
        out[k * stride : (k + 1) * stride] = one
    return out
