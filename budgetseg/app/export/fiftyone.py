"""FiftyOne's JSON format: images, masks on disk, and a sample for each frame that names both."""

import json
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from budgetseg.app.export.labelled import Advance, Labelled, jpeg
from budgetseg.types import Classes, UInt8

__all__ = ["write_fiftyone"]

IMAGES = "data"
MASKS = "fields/prediction"


def write_fiftyone(own: Labelled, folder: Path, advance: Advance) -> list[str]:
    """Write `metadata.json`, `samples.json`, images and masks; mask values are class index + 1, 0 is no class."""
    (folder / IMAGES).mkdir()
    (folder / MASKS).mkdir(parents=True)
    samples = []
    frames = zip(own.stems, own.labels(), own.frames(), own.confidence().tolist(), strict=True)
    for number, (stem, labels, frame, confidence) in enumerate(frames):
        (folder / IMAGES / f"{stem}.jpg").write_bytes(jpeg(frame))
        # Grey, since the program takes the colours of a palette for the mask.
        cv2.imwrite(str(folder / MASKS / f"{stem}.png"), _masks(labels, len(own.classes)))
        samples.append(_sample(stem, number, confidence))
        advance(1)
    metadata = {
        "media_type": "image",
        "info": {"description": own.about, "default_mask_targets": _targets(own.classes)},
    }
    (folder / "metadata.json").write_text(json.dumps(metadata, indent=1) + "\n")
    (folder / "samples.json").write_text(json.dumps({"samples": samples}, indent=1) + "\n")
    return []


def _masks(labels: UInt8, n_classes: int) -> UInt8:
    return np.where(labels < n_classes, labels + np.uint8(1), np.uint8(0))


def _sample(stem: str, number: int, confidence: float) -> dict[str, Any]:
    return {
        "filepath": f"{IMAGES}/{stem}.jpg",
        "tags": [],
        "metadata": None,
        "frame_number": number,
        "confidence": round(confidence, 4),
        "prediction": {"_cls": "Segmentation", "tags": [], "mask_path": f"{MASKS}/{stem}.png"},
    }


def _targets(classes: Classes) -> dict[str, str]:
    return {str(k): name for k, name in enumerate(classes.names, 1)}
