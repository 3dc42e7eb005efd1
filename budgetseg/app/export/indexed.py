"""Labels as pictures of class indices: with the palette of VOC, or with the label ids of Cityscapes."""

from pathlib import Path

import numpy as np

from budgetseg.app.export.labelled import Advance, Labelled
from budgetseg.colours import CITYSCAPES
from budgetseg.errors import UsageError
from budgetseg.types import UInt8
from budgetseg.video import read_index_png, write_index_png

__all__ = ["CITYSCAPES_IDS", "SYNONYMS", "voc_palette", "write_cityscapes", "write_png"]

CITYSCAPES_IDS = {
    "unlabeled": 0,
    "road": 7,
    "sidewalk": 8,
    "building": 11,
    "wall": 12,
    "fence": 13,
    "bridge": 15,
    "tunnel": 16,
    "pole": 17,
    "traffic light": 19,
    "traffic sign": 20,
    "vegetation": 21,
    "terrain": 22,
    "sky": 23,
    "person": 24,
    "rider": 25,
    "car": 26,
    "truck": 27,
    "bus": 28,
    "train": 31,
    "motorcycle": 32,
    "bicycle": 33,
}
"""Label ids of the Cityscapes classes that can be seen in a label picture, by name."""

SYNONYMS = {
    "bicyclist": "rider",
    "body": "person",
    "face": "person",
    "grass": "terrain",
    "lane": "road",
    "motorbike": "motorcycle",
    "pavement": "sidewalk",
    "pedestrian": "person",
    "sign": "traffic sign",
    "tree": "vegetation",
}
"""Names of other datasets, and the Cityscapes class that each of them means."""


def voc_palette() -> UInt8:
    """The 256 colours of PASCAL VOC and DAVIS, (256, 3) uint8, RGB: the bits of an index spread over the channels.

    Examples
    --------
    >>> voc_palette()[:4].tolist()
    [[0, 0, 0], [128, 0, 0], [0, 128, 0], [128, 128, 0]]
    """
    index = np.arange(256)[:, None]
    channel = np.arange(3)
    colours = sum((index >> (3 * k + channel) & 1) << (7 - k) for k in range(3))
    return np.asarray(colours, np.uint8)


def write_png(own: Labelled, folder: Path, advance: Advance) -> list[str]:
    """Write class indices unchanged, with the palette of VOC."""
    palette = voc_palette()
    for file in own.files:
        write_index_png(folder / file.name, read_index_png(file), palette)
        advance(1)
    return []


def write_cityscapes(own: Labelled, folder: Path, advance: Advance) -> list[str]:
    """Write label ids of Cityscapes; classes that Cityscapes does not have become 0."""
    names = own.classes.names
    known = [CITYSCAPES_IDS.get(SYNONYMS.get(name.lower(), name.lower())) for name in names]
    if all(found is None for found in known):
        raise UsageError(f"none of the classes {', '.join(names)} is one of Cityscapes; choose another format")
    table = np.zeros(256, np.uint8)
    palette = np.zeros((256, 3), np.uint8)
    table[: len(names)] = [found or 0 for found in known]
    for name, number in CITYSCAPES_IDS.items():
        palette[number] = CITYSCAPES[name]
    for file in own.files:
        write_index_png(folder / f"{file.stem}_labelIds.png", table[read_index_png(file)], palette)
        advance(1)
    unknown = [name for name, found in zip(names, known, strict=True) if found is None]
    return [f"Cityscapes has no {', '.join(unknown)}: unlabeled, id 0"] if unknown else []
