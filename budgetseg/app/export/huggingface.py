"""A folder that `datasets.load_dataset` reads: images, masks, a line of metadata for each frame, and a data card."""

import json
from pathlib import Path

import numpy as np

from budgetseg.app.export.labelled import Advance, Labelled, jpeg
from budgetseg.video import write_index_png

__all__ = ["write_huggingface"]

SPLIT = "train"  # the name that the library gives to data without splits


def write_huggingface(own: Labelled, folder: Path, advance: Advance) -> list[str]:
    """Write `train/` with images, masks of class indices and `metadata.jsonl`, `classes.json` and `README.md`."""
    place = folder / SPLIT
    for name in ("images", "masks"):
        (place / name).mkdir(parents=True)
    palette = np.zeros((256, 3), np.uint8)
    palette[: len(own.classes)] = own.classes.colours
    lines = []
    frames = zip(own.stems, own.labels(), own.frames(), own.confidence().tolist(), strict=True)
    for number, (stem, labels, frame, confidence) in enumerate(frames):
        (place / "images" / f"{stem}.jpg").write_bytes(jpeg(frame))
        write_index_png(place / "masks" / f"{stem}.png", labels, palette)
        named = {"file_name": f"images/{stem}.jpg", "mask_file_name": f"masks/{stem}.png"}
        lines.append(json.dumps(named | {"frame": number, "confidence": round(confidence, 4)}))
        advance(1)
    (place / "metadata.jsonl").write_text("\n".join(lines) + "\n")
    named_classes = {str(k): name for k, name in enumerate(own.classes.names)}
    (folder / "classes.json").write_text(json.dumps(named_classes, indent=1) + "\n")
    (folder / "README.md").write_text(_card(own))
    return []


def _card(own: Labelled) -> str:
    """The data card: what this is, and what it is not."""
    rows = "\n".join(f"| {k} | {name} |" for k, name in enumerate(own.classes.names))
    return f"""---
task_categories:
- image-segmentation
pretty_name: {json.dumps(own.about)}
configs:
- config_name: default
  data_files:
  - split: {SPLIT}
    path: {SPLIT}/**
---

# {own.run.trace.video.name}

{own.about}. These labels are predictions: nobody has checked them.

`image` is a frame, `mask` has a class index for every pixel (255: no class), and `confidence` is the mean over the
frame.

| index | class |
|---|---|
{rows}
"""
