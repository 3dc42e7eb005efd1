"""Zarr, version 2: labels as one array in chunks of a frame, which NumPy, Dask and Xarray read in part."""

import json
import zlib
from pathlib import Path

from budgetseg.app.export.labelled import Advance, Labelled

__all__ = ["STORE", "write_zarr"]

STORE = "labels.zarr"


def write_zarr(own: Labelled, folder: Path, advance: Advance) -> list[str]:
    """Write the group `labels.zarr` with the array `labels` (T, H, W) uint8, and classes and confidence beside it."""
    mark = own.run.trace.video
    place = folder / STORE / "labels"
    place.mkdir(parents=True)
    for number, labels in enumerate(own.labels()):
        (place / f"{number}.0.0").write_bytes(zlib.compress(labels.tobytes()))
        advance(1)
    array = {
        "zarr_format": 2,
        "shape": [mark.n_frames, mark.height, mark.width],
        "chunks": [1, mark.height, mark.width],
        "dtype": "|u1",
        "compressor": {"id": "zlib", "level": 6},
        "fill_value": 255,
        "filters": None,
        "order": "C",
    }
    attributes = {
        "classes": list(own.classes.names),
        "colours": own.classes.colours.tolist(),
        "confidence": own.confidence().round(4).tolist(),
        "description": own.about,
    }
    (place / ".zarray").write_text(json.dumps(array, indent=1))
    (place / ".zattrs").write_text(json.dumps(attributes))
    (folder / STORE / ".zgroup").write_text(json.dumps({"zarr_format": 2}))
    return []
