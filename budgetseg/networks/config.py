"""What JSON files beside an ONNX file say of a network, as models of the Hugging Face hub have them."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from budgetseg.networks.card import Card

__all__ = ["CONFIG", "PREPROCESSOR", "Config", "config_of", "has_usual_values"]

CONFIG = "config.json"
"""The file that has names of classes, as `id2label`."""
PREPROCESSOR = "preprocessor_config.json"
"""The file that says how frames are normalised."""
INNER = "onnx"
"""Folder of ONNX files whose JSON files lie in the folder above it."""


@dataclass(frozen=True)
class Config:
    """What these files say.

    Attributes
    ----------
    metadata : names of classes, in the form of the metadata of an ONNX file; empty if there are none
    scale, mean, std : of frames, as on a card; None if nothing is said
    """

    metadata: Mapping[str, str] = field(default_factory=dict)
    scale: float | None = None
    mean: tuple[float, ...] | None = None
    std: tuple[float, ...] | None = None

    def onto(self, card: Card) -> Card:
        """A card with the normalisation of these files, unless it has one of its own."""
        if self.scale is None or not has_usual_values(card):
            return card
        return replace(card, scale=self.scale, mean=self.mean, std=self.std)


def has_usual_values(card: Card) -> bool:
    """Whether a card says nothing of how frames are normalised."""
    return card.mean is None and card.std is None and card.scale == 1.0


def config_of(file: Path) -> Config:
    """What JSON files beside an ONNX file say; those of the folder above, if the file is in a folder named `onnx`."""
    names = _table(file, CONFIG).get("id2label")
    scale, mean, std = _values(_table(file, PREPROCESSOR))
    return Config({CONFIG: json.dumps(names)} if names else {}, scale, mean, std)


def _values(table: Mapping[str, Any]) -> tuple[float | None, tuple[float, ...] | None, tuple[float, ...] | None]:
    """Scale, mean and std of frames; None where they are not said, or not for three channels."""
    scale = 1.0 if table.get("do_rescale", True) else 255.0
    if table.get("do_normalize") is False:
        return scale, (0.0,) * 3, (1.0,) * 3
    mean = _three(table.get("image_mean"))
    std = _three(table.get("image_std"))
    if mean is None or std is None or min(std) <= 0:
        return None, None, None
    return scale, mean, std


def _three(values: object) -> tuple[float, ...] | None:
    if not isinstance(values, list) or len(values) != 3 or not all(isinstance(own, (int, float)) for own in values):
        return None
    return tuple(map(float, values))


def _table(file: Path, name: str) -> Mapping[str, Any]:
    """The contents of a JSON file beside an ONNX file; empty if there is none, or one of another program."""
    folder = file.absolute().parent
    if folder.name == INNER and not (folder / name).is_file():
        folder = folder.parent
    try:
        table = json.loads((folder / name).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return {}
    return table if isinstance(table, dict) else {}
