"""Labels in the formats of other programs: indexed PNG, Cityscapes ids, COCO."""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.export.rle import run_lengths, to_text
from budgetseg.app.export.run import FinishedRun, find_runs, read_run
from budgetseg.colours import CITYSCAPES
from budgetseg.errors import UsageError
from budgetseg.files import atomic_folder
from budgetseg.types import IGNORE, UInt8
from budgetseg.video import read_index_png, write_index_png

__all__ = ["FORMATS", "Advance", "export", "voc_palette"]

Advance = Callable[[int], None]
Row = dict[str, Any]

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


def export(
    folder: Path, form: str, output: Path, budget: str | None = None, advance: Advance = lambda _: None
) -> list[str]:
    """Write the labels of all runs in a folder to `output`. Returns notes for the user.

    Parameters
    ----------
    folder : a run, or folders of runs
    form : a name in `FORMATS`
    output : a single run is written to this folder, several to folders of their names in it
    budget : name of the budget whose labels are written; None for the largest
    advance : called with 1 for each frame written
    """
    if form not in FORMATS:
        raise UsageError(f"no format '{form}'; choose from {', '.join(FORMATS)}")
    places = find_runs(folder)
    if not places:
        raise UsageError(f"'{folder}' holds no labelled video; give a folder that 'budgetseg label' wrote")
    runs = [read_run(place) for place in places]
    notes: list[str] = []
    with atomic_folder(output) as part:
        for run in runs:
            target = part if len(runs) == 1 else part / run.folder.relative_to(folder)
            target.mkdir(parents=True, exist_ok=True)
            notes += FORMATS[form](run, run.label_files(budget or run.budgets[-1]), target, advance)
    return list(dict.fromkeys(notes))


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


def _write_png(_: FinishedRun, files: Sequence[Path], folder: Path, advance: Advance) -> list[str]:
    """Write class indices unchanged, with the palette of VOC."""
    palette = voc_palette()
    for file in files:
        write_index_png(folder / file.name, read_index_png(file), palette)
        advance(1)
    return []


def _write_cityscapes(run: FinishedRun, files: Sequence[Path], folder: Path, advance: Advance) -> list[str]:
    """Write label ids of Cityscapes; classes that Cityscapes does not have become 0."""
    names = run.classes.names
    known = [CITYSCAPES_IDS.get(SYNONYMS.get(name.lower(), name.lower())) for name in names]
    if all(found is None for found in known):
        raise UsageError(f"none of the classes {', '.join(names)} is one of Cityscapes; choose another format")
    table = np.zeros(256, np.uint8)
    palette = np.zeros((256, 3), np.uint8)
    table[: len(names)] = [found or 0 for found in known]
    for name, number in CITYSCAPES_IDS.items():
        palette[number] = CITYSCAPES[name]
    for file in files:
        write_index_png(folder / f"{file.stem}_labelIds.png", table[read_index_png(file)], palette)
        advance(1)
    unknown = [name for name, found in zip(names, known, strict=True) if found is None]
    return [f"Cityscapes has no {', '.join(unknown)}: unlabeled, id 0"] if unknown else []


def _write_coco(run: FinishedRun, files: Sequence[Path], folder: Path, advance: Advance) -> list[str]:
    """Write `annotations.json` with an annotation for each class in each frame, as there are no instances."""
    images: list[Row] = []
    annotations: list[Row] = []
    for k, file in enumerate(files, 1):
        labels = read_index_png(file)
        height, width = labels.shape
        images.append({"id": k, "file_name": file.name, "width": width, "height": height})
        for label in np.unique(labels[labels != IGNORE]).tolist():
            annotation = {"id": len(annotations) + 1, "image_id": k, "category_id": label + 1, "iscrowd": 0}
            annotations.append(annotation | _segment(labels == label))
        advance(1)
    categories = [{"id": k, "name": name, "supercategory": "stuff"} for k, name in enumerate(run.classes.names, 1)]
    info = {"description": f"{run.trace.video.name}, labelled by budgetseg with model {run.trace.model.name}"}
    document = {"info": info, "images": images, "annotations": annotations, "categories": categories}
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


Write = Callable[[FinishedRun, Sequence[Path], Path, Advance], list[str]]

FORMATS: dict[str, Write] = {"png": _write_png, "cityscapes": _write_cityscapes, "coco": _write_coco}
"""Writers by name."""
