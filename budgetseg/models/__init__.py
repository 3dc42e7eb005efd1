"""Trained models: the bundle format, and the models that come with the package."""

from importlib.resources import files
from pathlib import Path

__all__ = ["bundled"]


def bundled(model: str, file: str) -> Path:
    """Path of a network of a bundled model, such as `bundled("camvid", "dcnn.onnx")`; of their folder for ""."""
    return Path(str(files(__package__) / model / "networks" / file))
