"""The twelve classes of the synthetic street."""

import numpy as np

from budgetseg.types import Classes

__all__ = ["CLASSES"]

SKY, BUILDING, FENCE, ROAD, SIDEWALK, TREE, HEDGE, SIGN, MOVING_CAR, PARKED_CAR, WALKER, STANDER = range(12)

_PALETTE = {
    "sky": (70, 130, 220),
    "building": (128, 64, 64),
    "fence": (230, 160, 100),
    "road": (110, 70, 140),
    "sidewalk": (240, 60, 220),
    "tree": (60, 120, 20),
    "hedge": (160, 230, 60),
    "sign": (240, 230, 40),
    "moving car": (20, 20, 160),
    "parked car": (60, 210, 220),
    "walking person": (230, 30, 40),
    "standing person": (250, 190, 200),
}

CLASSES = Classes(tuple(_PALETTE), np.array(list(_PALETTE.values()), np.uint8))
"""Sky, building, fence, road, sidewalk, tree, hedge, sign, moving and parked car, walking and standing person."""
