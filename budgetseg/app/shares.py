"""The share of each class in labels: for the ledger, the terminal, the legend and `classes.json`."""

import json
from collections.abc import Mapping
from pathlib import Path

import cv2
import numpy as np

from budgetseg.types import Classes, Float64, UInt8

__all__ = ["FOUND", "class_shares", "found_classes", "write_classes"]

FOUND = 0.001
"""Share of all pixels that a class must have to be named on the terminal and in the legend."""


def class_shares(labels: UInt8, n_classes: int) -> Float64:
    """Share of each class in all pixels of labels (T, H, W), as (n_classes,)."""
    total = np.zeros(256)
    counts = total
    before: UInt8 | None = None
    for frame in labels:
        # Many frames are copies of the one before.
        if before is None or not np.array_equal(frame, before):
            counts = cv2.calcHist([frame], [0], None, [256], [0, 256]).ravel().astype(np.float64)
        total = total + counts
        before = frame
    return total[:n_classes] / max(labels.size, 1)


def found_classes(shares: Mapping[str, float]) -> list[str]:
    """Names of the classes that are found at all, the most frequent first.

    Examples
    --------
    >>> found_classes({"sky": 0.2, "car": 0.0004, "road": 0.7996})
    ['road', 'sky']
    """
    return [name for name in sorted(shares, key=lambda name: -shares[name]) if shares[name] > FOUND]


def write_classes(path: Path, classes: Classes, shares: Mapping[str, float]) -> None:
    """Write `classes.json`: name, index, colour and share of every class, in the order of the indices."""
    colours = classes.colours.tolist()
    rows = [
        {"name": name, "index": k, "colour": colours[k], "share": shares[name]} for k, name in enumerate(classes.names)
    ]
    path.write_text(json.dumps(rows, indent=1) + "\n")
