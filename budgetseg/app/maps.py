"""From supervoxels to all pixels of a video."""

from collections.abc import Sequence

import numpy as np

from budgetseg.engine.labelled import Why
from budgetseg.engine.plan import Plan
from budgetseg.spaces.regions.carry import carry
from budgetseg.types import Float32

__all__ = ["confidence_of"]


def confidence_of(whys: Sequence[Why], plan: Plan, shape: tuple[int, int, int], least: float) -> Float32:
    """H's largest probability at every pixel of a video, (T, H, W); `least` where nothing was worked on."""
    found = np.full(shape, least, np.float32)
    for why in whys:
        start = why.start * plan.stride
        part = carry(why.confidence[why.known.supervoxels.ids], plan, shape[1:])[: shape[0] - start]
        found[start : start + len(part)] = part
    return found
