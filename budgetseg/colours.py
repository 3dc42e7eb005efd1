"""Colours of classes: those of Cityscapes for its names, else clearly different ones for any number of classes."""

from collections.abc import Sequence
from itertools import product

import numpy as np
from numpy.typing import NDArray

__all__ = ["CITYSCAPES", "palette"]

CITYSCAPES: dict[str, tuple[int, int, int]] = {
    "unlabeled": (0, 0, 0),
    "road": (128, 64, 128),
    "sidewalk": (244, 35, 232),
    "building": (70, 70, 70),
    "wall": (102, 102, 156),
    "fence": (190, 153, 153),
    "bridge": (150, 100, 100),
    "tunnel": (150, 120, 90),
    "pole": (153, 153, 153),
    "traffic light": (250, 170, 30),
    "traffic sign": (220, 220, 0),
    "vegetation": (107, 142, 35),
    "terrain": (152, 251, 152),
    "sky": (70, 130, 180),
    "person": (220, 20, 60),
    "rider": (255, 0, 0),
    "car": (0, 0, 142),
    "truck": (0, 0, 70),
    "bus": (0, 60, 100),
    "train": (0, 80, 100),
    "motorcycle": (0, 0, 230),
    "bicycle": (119, 11, 32),
}
"""RGB of the Cityscapes classes that can be seen in a label picture, by name."""


def palette(names: Sequence[str]) -> NDArray[np.uint8]:
    """A colour for each class, (L, 3) uint8, RGB.

    Names of Cityscapes have its colours. Each other class takes the colour that differs most from black, white and
    the colours before it, so that the colours of classes without such names depend on their number alone.

    Examples
    --------
    >>> palette(["road", "lamp"])[0].tolist()
    [128, 64, 128]
    """
    known = {k: CITYSCAPES[name.lower()] for k, name in enumerate(names) if name.lower() in CITYSCAPES}
    choice = np.array(list(product(range(0, 256, 17), repeat=3)), np.float64)
    distance = np.full(len(choice), np.inf)
    for colour in [(0, 0, 0), (255, 255, 255), *known.values()]:
        distance = np.minimum(distance, _difference(choice, np.array(colour, np.float64)))
    colours = np.zeros((len(names), 3), np.uint8)
    for k in range(len(names)):
        if k in known:
            colours[k] = known[k]
            continue
        farthest = choice[distance.argmax()]
        colours[k] = farthest
        distance = np.minimum(distance, _difference(choice, farthest))
    return colours


def _difference(colours: NDArray[np.float64], other: NDArray[np.float64]) -> NDArray[np.float64]:
    """How different colours (K, 3) look from another one, (K,): squared distance weighted by the amount of red."""
    red = (colours[:, 0] + other[0]) / 2
    square = (colours - other) ** 2
    found: NDArray[np.float64] = (2 + red / 256) * square[:, 0] + 4 * square[:, 1] + (3 - red / 256) * square[:, 2]
    return found
