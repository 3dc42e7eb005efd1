"""COCO: one JSON file with run-length masks, and the images that it names."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.export.labelled import Advance, Labelled, jpeg
from budgetseg.app.export.rle import run_lengths, to_text
from budgetseg.types import IGNORE

__all__ = ["IMAGES", "write_coco"]

Row = dict[str, Any]

IMAGES = "images"
"""Folder of the images, which names in `annotations.json` are relative to."""


def write_coco(own: Labelled, folder: Path, advance: Advance) -> list[str]:
    """Write `annotations.json` with an annotation for each class in each frame, as there are no instances."""
    (folder / IMAGES).mkdir()
    images: list[Row] = []
    annotations: list[Row] = []
    for k, (stem, labels, frame) in enumerate(zip(own.stems, own.labels(), own.frames(), strict=True), 1):
        height, width = labels.shape
        (folder / IMAGES / f"{stem}.jpg").write_bytes(jpeg(frame))
        images.append({"id": k, "file_name": f"{stem}.jpg", "width": width, "height": height})
        for label in np.unique(labels[labels != IGNORE]).tolist():
            annotation = {"id": len(annotations) + 1, "image_id": k, "category_id": label + 1, "iscrowd": 0}
            annotations.append(annotation | _segment(labels == label))
        advance(1)
    categories = [{"id": k, "name": name, "supercategory": "stuff"} for k, name in enumerate(own.classes.names, 1)]
    document = {
        "info": {"description": own.about},
        "images": images,
        "annotations": annotations,
        "categories": categories,
    }
    (folder / "annotations.json").write_text(json.dumps(document) + "\n")
    return []


def _segment(mask: Any) -> Row:
    """The COCO fields of a mask (H, W): run lengths, area in pixels, and box (x, y, width, height)."""
    rows = np.flatnonzero(mask.any(axis=1))
    columns = np.flatnonzero(mask.any(axis=0))
    top, left = int(rows[0]), int(columns[0])
    return {
        "segmentation": {"size": list(mask.shape), "counts": to_text(run_lengths(mask))},
        "area": int(mask.sum()),
        "bbox": [left, top, int(columns[-1]) - left + 1, int(rows[-1]) - top + 1],
    }
