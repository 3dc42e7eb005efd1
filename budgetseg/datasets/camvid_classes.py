"""The eleven classes of CamVid, and how the 32 colours of the original release are merged into them."""

import numpy as np

from budgetseg.types import IGNORE, Classes

__all__ = ["CLASSES", "COLOURS", "INDICES", "MERGE"]

CLASSES = Classes(
    (
        "sky",
        "building",
        "pole",
        "road",
        "sidewalk",
        "tree",
        "sign",
        "fence",
        "car",
        "pedestrian",
        "bicyclist",
    ),
    np.array(
        [
            (128, 128, 128),
            (128, 0, 0),
            (192, 192, 128),
            (128, 64, 128),
            (0, 0, 192),
            (128, 128, 0),
            (192, 128, 128),
            (64, 64, 128),
            (64, 0, 128),
            (64, 64, 0),
            (0, 128, 192),
        ],
        np.uint8,
    ),
)

INDICES = {**{index: index for index in range(len(CLASSES))}, len(CLASSES): IGNORE}
"""Index in a label file of SegNet → class: 11 is ignored."""

MERGE = {
    "Animal": ((64, 128, 64), None),
    "Archway": ((192, 0, 128), "building"),
    "Bicyclist": ((0, 128, 192), "bicyclist"),
    "Bridge": ((0, 128, 64), "building"),
    "Building": ((128, 0, 0), "building"),
    "Car": ((64, 0, 128), "car"),
    "CartLuggagePram": ((64, 0, 192), None),
    "Child": ((192, 128, 64), None),
    "Column_Pole": ((192, 192, 128), "pole"),
    "Fence": ((64, 64, 128), "fence"),
    "LaneMkgsDriv": ((128, 0, 192), "road"),
    "LaneMkgsNonDriv": ((192, 0, 64), "road"),
    "Misc_Text": ((128, 128, 64), "sign"),
    "MotorcycleScooter": ((192, 0, 192), None),
    "OtherMoving": ((128, 64, 64), None),
    "ParkingBlock": ((64, 192, 128), "sidewalk"),
    "Pedestrian": ((64, 64, 0), "pedestrian"),
    "Road": ((128, 64, 128), "road"),
    "RoadShoulder": ((128, 128, 192), "road"),
    "Sidewalk": ((0, 0, 192), "sidewalk"),
    "SignSymbol": ((192, 128, 128), "sign"),
    "Sky": ((128, 128, 128), "sky"),
    "SUVPickupTruck": ((64, 128, 192), "car"),
    "TrafficCone": ((0, 0, 64), None),
    "TrafficLight": ((0, 64, 64), "sign"),
    "Train": ((192, 64, 128), "car"),
    "Tree": ((128, 128, 0), "tree"),
    "Truck_Bus": ((192, 128, 192), "car"),
    "Tunnel": ((64, 0, 64), "building"),
    "VegetationMisc": ((192, 192, 0), "tree"),
    "Void": ((0, 0, 0), None),
    "Wall": ((64, 192, 0), "building"),
}
"""Name in the original release → its colour, and the class it becomes (None: ignored).

Child, cart, traffic cone and other moving things are ignored because SegNet's files ignore them (measured on the
frames that both layouts hold). Those files ignore archways and bridges too; here they are buildings, the usual merge.
"""

COLOURS = {colour: IGNORE if to is None else CLASSES.names.index(to) for colour, to in MERGE.values()}
"""Colour in a label file of the original release → class."""
