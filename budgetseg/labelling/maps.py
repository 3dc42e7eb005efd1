"""From supervoxels, or from the frames that were worked on, to all pixels of a video."""

from collections.abc import Sequence
from typing import Any

import cv2
import numpy as np
from numpy.typing import NDArray

from budgetseg.inference.label import Why
from budgetseg.inference.plan import Plan
from budgetseg.types import Float32

__all__ = ["carry", "confidence_of"]


def carry(maps: NDArray[Any], plan: Plan, size: tuple[int, int]) -> NDArray[Any]:
    """Maps (t, h, w) of the frames that were worked on, at `size`, rows and columns, and for the frames between."""
    height, width = size
    if maps.shape[1:] != size:
        maps = np.stack([cv2.resize(one, (width, height), interpolation=cv2.INTER_NEAREST) for one in maps])
    return np.repeat(maps, plan.stride, axis=0) if plan.stride > 1 else maps


def confidence_of(whys: Sequence[Why], plan: Plan, shape: tuple[int, int, int], least: float) -> Float32:
    """H's largest probability at every pixel of a video, (T, H, W); `least` where nothing was worked on."""
    found = np.full(shape, least, np.float32)
    for why in whys:
        start = why.start * plan.stride
        part = carry(why.confidence[why.known.supervoxels.ids], plan, shape[1:])[: shape[0] - start]
        found[start : start + len(part)] = part
    return found
