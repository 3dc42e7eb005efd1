"""What budgetseg has learned: the bundled networks."""

from importlib.resources import files
from pathlib import Path

__all__ = ["bundled"]


def bundled(model: str, file: str) -> Path:
    """Path of a file of a bundled model, for example `bundled("camvid", "dcnn.onnx")`."""
    return Path(str(files(__package__) / model / file))
