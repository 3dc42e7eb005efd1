"""CVAT's "Segmentation mask 1.1": a ZIP of masks by colour, with a label map, the images, and an order for review."""

import csv
import io
import json
from pathlib import Path
from zipfile import ZIP_DEFLATED, ZIP_STORED, ZipFile

import numpy as np

from budgetseg.app.export.indexed import voc_palette
from budgetseg.app.export.labelled import Advance, Labelled, jpeg
from budgetseg.types import Classes, UInt8
from budgetseg.video.png import index_png

__all__ = ["ARCHIVE", "write_cvat"]

ARCHIVE = "annotations.zip"


def write_cvat(own: Labelled, folder: Path, advance: Advance) -> list[str]:
    """Write `annotations.zip`, `labels.json` for a new project, and `review.csv`, the least confident frame first."""
    palette = _palette(own.classes)
    objects = voc_palette()
    confidence = own.confidence()
    order = np.argsort(confidence, kind="stable").tolist()
    stems = own.stems
    shift = np.zeros(256, np.uint8)
    shift[: len(own.classes)] = np.arange(1, len(own.classes) + 1)  # 0 is background, as is what has no class
    with ZipFile(folder / ARCHIVE, "w", ZIP_DEFLATED) as archive:
        archive.writestr("labelmap.txt", _label_map(own.classes, palette))
        archive.writestr("ImageSets/Segmentation/default.txt", "".join(f"{stems[k]}\n" for k in order))
        for stem, labels, frame in zip(stems, own.labels(), own.frames(), strict=True):
            masks = shift[labels]
            archive.writestr(f"SegmentationClass/{stem}.png", index_png(masks, palette), ZIP_STORED)
            archive.writestr(f"SegmentationObject/{stem}.png", index_png(masks, objects), ZIP_STORED)
            archive.writestr(f"JPEGImages/{stem}.jpg", jpeg(frame), ZIP_STORED)
            advance(1)
    (folder / "labels.json").write_text(json.dumps(_labels(own.classes, palette), indent=1) + "\n")
    (folder / "review.csv").write_text(_review([(stems[k], k, float(confidence[k])) for k in order]))
    return []


def _palette(classes: Classes) -> UInt8:
    """Colours of the masks, (256, 3): black, then those of the classes; those of VOC if two of these are the same."""
    own = np.vstack([np.zeros((1, 3), np.uint8), classes.colours])
    palette = voc_palette()
    if len(np.unique(own, axis=0)) == len(own):
        palette[: len(own)] = own
    return palette


def _label_map(classes: Classes, palette: UInt8) -> str:
    lines = ["# label:color_rgb:parts:actions", "background:0,0,0::"]
    for name, colour in zip(classes.names, palette[1:].tolist(), strict=False):
        lines.append(f"{name.replace(':', ' ')}:{','.join(map(str, colour))}::")
    return "\n".join(lines) + "\n"


def _labels(classes: Classes, palette: UInt8) -> list[dict[str, object]]:
    """Labels of a project or task, as its raw editor takes them."""
    colours = ["#" + bytes(colour.tolist()).hex() for colour in palette[1 : len(classes) + 1]]
    named = zip(classes.names, colours, strict=True)
    return [
        {"name": name.replace(":", " "), "color": colour, "type": "mask", "attributes": []} for name, colour in named
    ]


def _review(rows: list[tuple[str, int, float]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["name", "frame", "confidence"])
    writer.writerows((stem, frame, f"{confidence:.4f}") for stem, frame, confidence in rows)
    return text.getvalue()
