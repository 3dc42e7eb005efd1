"""SUNY Buffalo-Xiph.org 24-class (Chen and Corso 2010): short videos with labels for every frame, split in time.

The first half of every video is for training, the second for testing; each half is a video. Of a training half, the
first three quarters are `fit` and the last is `selection`.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import numpy as np

from budgetseg.datasets.core import Dataset, Problem
from budgetseg.datasets.files import FrameFiles, images_in
from budgetseg.datasets.labels import IndexLabels
from budgetseg.datasets.listed import ListedDataset, train_parts
from budgetseg.errors import DatasetError
from budgetseg.types import IGNORE, Classes

__all__ = ["CLASSES", "open_suny"]

RATE_HZ = 30.0
"""Frames per second. The release does not state it; the sequences that it was made from are nominally 30 Hz."""

SPANS = {"train": (0, 1 / 2), "fit": (0, 3 / 8), "selection": (3 / 8, 1 / 2), "test": (1 / 2, 1)}
"""The part of every video that belongs to a split, as fractions of its frames."""

FRAMES = "dataset/Chen_png"
LABELS = "groundtruth/Chen_gt"

_NUMBER = re.compile(r"\d+(?!.*\d)")
"""The last number in a file name."""

_COLOURS = {
    "building": (128, 0, 0),
    "grass": (0, 128, 0),
    "tree": (128, 128, 0),
    "cow": (0, 0, 128),
    "horse": (128, 0, 128),
    "sheep": (0, 128, 128),
    "sky": (128, 128, 128),
    "mountain": (64, 0, 0),
    "plane": (192, 0, 0),
    "water": (64, 128, 0),
    "face": (192, 128, 0),
    "car": (64, 0, 128),
    "bicycle": (192, 0, 128),
    "flower": (64, 128, 128),
    "sign": (192, 128, 128),
    "bird": (0, 64, 0),
    "book": (128, 64, 0),
    "chair": (0, 192, 0),
    "road": (128, 64, 128),
    "cat": (0, 192, 128),
    "dog": (128, 192, 128),
    "body": (64, 64, 0),
    "boat": (192, 64, 0),
}
CLASSES = Classes(tuple(_COLOURS), np.array(list(_COLOURS.values()), np.uint8))
"""The 23 classes in the order and colours of MSRC; the 24th, index 0 in the files, is void."""

_READ_LABELS = IndexLabels({0: IGNORE, **{index + 1: index for index in range(len(CLASSES))}})


@dataclass(frozen=True)
class _Listing:
    """The files of one video."""

    root: Path
    name: str

    @cached_property
    def frames(self) -> tuple[Path, ...]:
        return images_in(self.root / FRAMES / self.name)

    @cached_property
    def labels(self) -> list[Path]:
        found = images_in(self.root / LABELS / self.name)
        return [path for path in found if path.name.endswith("_GT_index.png")]

    @property
    def mismatch(self) -> str | None:
        """Why frames and labels cannot be paired, if they cannot."""
        if len(self.frames) == len(self.labels):
            return None
        return (
            f"{self.root / LABELS / self.name}: {len(self.labels)} label files for {len(self.frames)} frames in "
            f"{self.root / FRAMES / self.name}; the k-th belongs to the k-th, so restore the missing ones"
        )


def open_suny(root: Path) -> Dataset:
    """The videos below a root: those of the eight that exist."""
    names = sorted(_folders(root / FRAMES) | _folders(root / LABELS))
    listings = [_Listing(root, name) for name in names]
    if not any(listing.frames for listing in listings):
        raise DatasetError(f"{root}: no SUNY videos; expected {FRAMES}/VIDEO/*.png and {LABELS}/VIDEO/*_GT_index.png")
    problems = [problem for listing in listings for problem in _unpaired(listing)]
    return ListedDataset("suny", CLASSES, _splits([_video(listing) for listing in listings]), tuple(problems))


def _splits(videos: list[FrameFiles]) -> dict[str, list[FrameFiles]]:
    parts = {
        split: [video.between(f"{video.name}_{split}", *span) for video in videos] for split, span in SPANS.items()
    }
    kept = {split: [video for video in of_split if video.frames] for split, of_split in parts.items()}
    test = {"test": kept["test"]} if kept["test"] else {}
    return train_parts(kept["train"], kept["selection"], kept["fit"]) | test


def _video(listing: _Listing) -> FrameFiles:
    defect = listing.mismatch
    return FrameFiles(
        name=listing.name,
        frames=listing.frames,
        times_s=np.arange(len(listing.frames)) / RATE_HZ,
        # If the numbers of labels and frames differ, they cannot be paired with certainty.
        label_files={} if defect else dict(enumerate(listing.labels)),
        read_labels=_READ_LABELS,
        resize=True,
        defect=defect,
    )


def _unpaired(listing: _Listing) -> list[Problem]:
    """Problems: the mismatch, if there is one, and the files that are missing by the numbering of the others."""
    if listing.mismatch is None:
        return []
    n = max(len(listing.frames), len(listing.labels))
    missing = [*_missing(listing.frames, n, first=1), *_missing(listing.labels, n, first=0)]
    return [
        Problem(str(listing.root / LABELS / listing.name), listing.mismatch),
        *(Problem(str(path), f"{path}: missing; restore the file") for path in missing),
    ]


def _missing(paths: Sequence[Path], n: int, first: int) -> list[Path]:
    """Paths absent from a numbering of n files that starts, as published, at `first`."""
    numbered = {int(match[0]): (path, match) for path in paths if (match := _NUMBER.search(path.stem))}
    if not numbered:
        return []
    path, match = next(iter(numbered.values()))
    before = path.stem[: match.start()]
    after = path.stem[match.end() :] + path.suffix
    start = min(first, *numbered)
    absent = sorted(set(range(start, start + n)) - numbered.keys())
    return [path.with_name(f"{before}{number:0{len(match[0])}d}{after}") for number in absent]


def _folders(parent: Path) -> set[str]:
    return {path.name for path in parent.iterdir() if path.is_dir()} if parent.is_dir() else set()
