"""CamVid, eleven classes: the layout of SegNet, and that of the original release.

The number in a file name is the frame number of the 30 Hz recording. Files of one sequence whose numbers follow each
other at one rate are a video; a gap, or another rate, starts a new one.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from pathlib import Path
from statistics import median_low

import numpy as np

from budgetseg.datasets.camvid_classes import CLASSES, COLOURS, INDICES
from budgetseg.datasets.core import Dataset, Problem
from budgetseg.datasets.files import FrameFiles, images_in
from budgetseg.datasets.labels import ColourLabels, IndexLabels, ReadLabels
from budgetseg.datasets.listed import ListedDataset, train_parts
from budgetseg.errors import DatasetError

__all__ = ["Still", "open_camvid", "open_camvid_original", "published_split", "runs"]

RATE_HZ = 30.0
"""Frame rate of the recording."""
GAP = 1.5
"""A step of more than this many usual steps is a gap."""

ORIGINAL_FRAMES = "701_StillsRaw_full"
ORIGINAL_LABELS = "LabeledApproved_full"

_NAME = re.compile(r"(?P<sequence>.+)_f?(?P<number>\d+)")
_LAST = 10**6  # larger than any frame number
_PUBLISHED = (
    ("train", "0001TP", 0, 8549),
    ("test", "0001TP", 8550, _LAST),
    ("train", "0006R0", 0, _LAST),
    ("train", "0016E5", 0, 7958),
    ("val", "0016E5", 7959, 8159),
    ("train", "0016E5", 8160, _LAST),
    ("test", "Seq05VD", 0, _LAST),
)
"""The split of SegNet: frames of a sequence from one number to another, both included."""

_SELECTION = ("0016E5", 390, 2400)
"""The training sequence that choices are made on: its name, and its first and last frame number."""


@dataclass(frozen=True)
class Still:
    """One frame of the recording: its sequence, its number as written, and its two files (a label may be missing)."""

    sequence: str
    digits: str
    frame: Path
    label: Path

    @property
    def number(self) -> int:
        """Frame number in the 30 Hz recording."""
        return int(self.digits)


def open_camvid(root: Path) -> Dataset:
    """CamVid as SegNet published it: train/, trainannot/, val/, valannot/, and test/, testannot/ where present."""
    folders = {split: (root / split, root / f"{split}annot") for split in ("train", "val", "test")}
    stills = {split: _list_stills(*pair) for split, pair in folders.items() if pair[0].is_dir()}
    if not any(stills.values()):
        raise DatasetError(f"{root}: no CamVid frames; expected train/*.png and trainannot/*.png below it")
    problems = [problem for pair in folders.values() for problem in _unpaired(*pair)]
    return _dataset("camvid", stills, IndexLabels(INDICES), problems)


def open_camvid_original(root: Path) -> Dataset:
    """CamVid as first released, 32 colours merged to eleven classes, in the split of SegNet."""
    folders = root / ORIGINAL_FRAMES, root / ORIGINAL_LABELS
    stills = _list_stills(*folders, suffix="_L")
    if not stills:
        raise DatasetError(f"{root}: no CamVid frames; expected {ORIGINAL_FRAMES}/*.png, {ORIGINAL_LABELS}/*_L.png")
    by_split: dict[str, list[Still]] = {"train": [], "val": [], "test": []}
    problems = _unpaired(*folders, suffix="_L")
    for still in stills:
        split = published_split(still.sequence, still.number)
        if split is None:
            problems.append(Problem(str(still.frame), f"{still.frame}: not one of the published frames; not used"))
        else:
            by_split[split].append(still)
    return _dataset("camvid-original", by_split, ColourLabels(COLOURS), problems)


def published_split(sequence: str, number: int) -> str | None:
    """The split of SegNet that a frame belongs to; None for a sequence that is not part of the release."""
    return next((split for split, of, first, last in _PUBLISHED if of == sequence and first <= number <= last), None)


def runs(numbers: Sequence[int]) -> list[range]:
    """Cut ascending frame numbers into index ranges without gaps, each at one rate.

    A gap is a step of more than 1.5 times the usual step, which is the median of the five around it. Where the rate
    changes, the smaller usual step of the two sides counts: a dense run is separated from the one-second frames before
    and after it, and keeps its first and last frame.

    Examples
    --------
    >>> runs([870, 901, 930, 960, 4350, 4380])
    [range(0, 4), range(4, 6)]
    >>> runs([0, 30, 60, 62, 64, 66])
    [range(0, 2), range(2, 6)]
    """
    steps = [after - before for before, after in pairwise(numbers)]
    usual = [median_low(steps[max(i - 2, 0) : i + 3]) for i in range(len(steps))]
    cuts = [i + 1 for i, step in enumerate(steps) if step > GAP * min(usual[max(i - 1, 0) : i + 2])]
    return [range(start, end) for start, end in pairwise([0, *cuts, len(numbers)]) if start < end]


def _dataset(
    name: str, stills: dict[str, list[Still]], read_labels: ReadLabels, problems: Sequence[Problem]
) -> ListedDataset:
    videos = {split: _to_videos(of_split, read_labels) for split, of_split in stills.items() if of_split}
    train = videos.pop("train", [])
    selection = [video for video in train if _is_selection(video)]
    splits = train_parts(train, selection, [video for video in train if video not in selection]) | videos
    return ListedDataset(name, CLASSES, splits, tuple(problems))


def _is_selection(video: FrameFiles) -> bool:
    sequence, first, last = _SELECTION
    numbers = [round(time_s * RATE_HZ) for time_s in video.times_s]
    return video.name.startswith(f"{sequence}_") and first <= numbers[0] and numbers[-1] <= last


def _list_stills(frames: Path, labels: Path, suffix: str = "") -> list[Still]:
    """The frames of a folder; a name that is not SEQUENCE_NUMBER is left out here and reported by `_unpaired`."""
    named = ((path, _NAME.fullmatch(path.stem)) for path in images_in(frames))
    return [
        Still(match["sequence"], match["number"], path, labels / f"{path.stem}{suffix}.png")
        for path, match in named
        if match
    ]


def _to_videos(stills: Iterable[Still], read_labels: ReadLabels) -> list[FrameFiles]:
    ordered = sorted(stills, key=lambda still: (still.sequence, still.number))
    videos = []
    for _, group in groupby(ordered, key=lambda still: still.sequence):
        sequence = list(group)
        found = runs([still.number for still in sequence])
        videos += [_to_video([sequence[i] for i in run], read_labels) for run in found]
    return videos


def _to_video(run: Sequence[Still], read_labels: ReadLabels) -> FrameFiles:
    return FrameFiles(
        name=f"{run[0].sequence}_{run[0].digits}",
        frames=tuple(still.frame for still in run),
        times_s=np.array([still.number / RATE_HZ for still in run]),
        label_files={index: still.label for index, still in enumerate(run) if still.label.is_file()},
        read_labels=read_labels,
    )


def _unpaired(frames: Path, labels: Path, suffix: str = "") -> list[Problem]:
    """Problems: frames without labels, labels without frames, and names without a frame number."""
    framed = {path.stem + suffix: path for path in images_in(frames)}
    labelled = {path.stem: path for path in images_in(labels)}
    if bool(framed) != bool(labelled):
        return [_nothing(*((labels, frames) if framed else (frames, labels)))]
    return [
        *(_misnamed(path) for path in framed.values() if not _NAME.fullmatch(path.stem)),
        *(_no_label(labels / f"{stem}.png", path) for stem, path in framed.items() if stem not in labelled),
        *(_no_frame(path, frames) for stem, path in labelled.items() if stem not in framed),
    ]


def _nothing(folder: Path, other: Path) -> Problem:
    return Problem(str(folder), f"{folder}: missing or without images, though {other.name}/ has some; restore it")


def _misnamed(path: Path) -> Problem:
    return Problem(str(path), f"{path}: not named SEQUENCE_NUMBER.png, so not used; rename it")


def _no_label(path: Path, frame: Path) -> Problem:
    return Problem(str(path), f"{path}: missing, the labels of {frame.name}; restore the file")


def _no_frame(path: Path, frames: Path) -> Problem:
    return Problem(str(path), f"{path}: labels without a frame in {frames.name}/; restore the frame")
