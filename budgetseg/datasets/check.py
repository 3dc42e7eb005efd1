"""Check a dataset: every file is read once, and all problems are listed; a problem does not stop the check."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from budgetseg.datasets.core import Dataset, LabelledVideo, Problem
from budgetseg.types import IGNORE, Int64, UInt8

__all__ = ["CheckReport", "SplitReport", "check", "n_frames"]

_Counts = dict[str, Int64 | None]
"""Maps the source of a frame to its number of pixels of each class and, last, of ignored ones, (L + 1,); None without
readable labels."""


@dataclass(frozen=True)
class SplitReport:
    """The contents of a split.

    Attributes
    ----------
    split : its name
    n_videos, n_frames, n_labelled : numbers of videos, of their frames, and of frames with readable labels
    pixels : number of labelled pixels of each class
    n_ignored : number of pixels of labelled frames that have no class
    """

    split: str
    n_videos: int
    n_frames: int
    n_labelled: int
    pixels: dict[str, int]
    n_ignored: int


@dataclass(frozen=True)
class CheckReport:
    """The contents of a dataset, and its problems.

    Attributes
    ----------
    dataset : its name
    splits : a report for each existing split
    problems : every file that is missing, unreadable, of another size, or with an unknown index
    """

    dataset: str
    splits: tuple[SplitReport, ...]
    problems: tuple[Problem, ...]

    @property
    def sound(self) -> bool:
        """Whether there are no problems."""
        return not self.problems


def n_frames(dataset: Dataset) -> int:
    """Number of frames that `check` reads: those of all splits, each once."""
    return len({source for split in dataset.splits for video in dataset.videos(split) for source in video.sources()})


def check(dataset: Dataset, advance: Callable[[int], None] = lambda _: None) -> CheckReport:
    """Read every frame and label of a dataset once; `advance` is called with 1 for each frame."""
    counts: _Counts = {}
    problems = list(dataset.problems())
    splits = []
    for split in dataset.splits:
        for video in dataset.videos(split):
            problems += _read(video, counts, len(dataset.classes), advance)
        splits.append(_report(dataset, split, counts))
    return CheckReport(dataset.name, tuple(splits), tuple(dict.fromkeys(problems)))


def _read(video: LabelledVideo, counts: _Counts, n_classes: int, advance: Callable[[int], None]) -> Sequence[Problem]:
    """Add the pixel counts of a video to `counts`, unless another split has all its frames. Returns its problems."""
    sources = video.sources()
    if sources and counts.keys() >= set(sources):
        return []
    problems: list[Problem] = []
    for seen in video.inspect():
        counts[seen.source] = None if seen.labels is None else _count(seen.labels, n_classes)
        problems += seen.problems
        advance(1)
    return problems


def _count(labels: UInt8, n_classes: int) -> Int64:
    """Number of pixels of each class and, last, of ignored ones, (L + 1,)."""
    found = np.bincount(labels.ravel(), minlength=256)
    return np.append(found[:n_classes], found[IGNORE])


def _report(dataset: Dataset, split: str, counts: _Counts) -> SplitReport:
    videos = dataset.videos(split)
    sources = [source for video in videos for source in video.sources()]
    labelled = [count for source in sources if (count := counts.get(source)) is not None]
    *pixels, n_ignored = np.sum([np.zeros(len(dataset.classes) + 1, np.int64), *labelled], axis=0).tolist()
    by_name = dict(zip(dataset.classes.names, pixels, strict=True))
    return SplitReport(split, len(videos), len(sources), len(labelled), by_name, n_ignored)
