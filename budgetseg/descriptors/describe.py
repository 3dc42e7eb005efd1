"""Describe a dataset, and write tables to disk: the work behind `budgetseg describe`."""

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from budgetseg.datasets import open_dataset
from budgetseg.descriptors.calibrate import warm_up
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.registry import available, open_descriptors
from budgetseg.descriptors.table import VideoTable, read_settings, write_table
from budgetseg.errors import OutputError
from budgetseg.files import atomic_folder, forget_leftovers
from budgetseg.processes import advance_parent, in_processes
from budgetseg.supervoxels import segment, usual_density
from budgetseg.supervoxels.truth import count_labels

__all__ = ["Description", "count_frames", "describe_dataset", "table_folder"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Description:
    """What to describe, and how.

    Attributes
    ----------
    dataset, root : as for `open_dataset`
    splits : names of splits
    descriptors : names; None for all available ones
    networks : folder of networks
    per_frame : supervoxels per frame; None for what suits each video
    tier : of the supervoxels
    """

    dataset: str
    root: Path | None
    splits: tuple[str, ...] = ("train",)
    descriptors: tuple[str, ...] | None = None
    networks: Path | None = None
    per_frame: int | None = None
    tier: str = "quality"

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the descriptors to compute."""
        return tuple(dict.fromkeys(available(self.networks) if self.descriptors is None else self.descriptors))


@dataclass(frozen=True)
class _Job:
    plan: Description
    split: str
    video: str
    folder: Path
    settings: Mapping[str, object]
    threads: int


def table_folder(folder: Path, split: str, video: str) -> Path:
    """The folder of the table of a video, below the folder that `describe_dataset` wrote."""
    return folder / split / video


def describe_dataset(
    plan: Description, folder: Path, cores: int = 1, advance: Callable[[int], None] = lambda _: None
) -> list[Path]:
    """Write tables of all videos of the splits; existing ones are kept. Returns their folders, in order.

    Parameters
    ----------
    plan : what to describe
    folder : for the tables
    cores : to use
    advance : called with the number of frames done
    """
    # What cannot be opened or written should fail before the work, not during it.
    settings = _settings(plan, open_descriptors(plan.names, plan.networks))
    dataset = open_dataset(plan.dataset, plan.root)
    videos = [(split, video) for split in dict.fromkeys(plan.splits) for video in dataset.videos(split)]
    todo = []
    for split, video in videos:
        place = table_folder(folder, split, video.name)
        if _is_done(place, settings):
            advance(video.n_frames)
        else:
            todo.append((video.n_frames, split, video.name, place))
    _log.info("%d of %d videos are described in %s already", len(videos) - len(todo), len(videos), folder)
    _make_room(place for *_, place in todo)
    todo.sort(reverse=True)  # the longest first, so that it is not the only one running at the end
    threads = max(cores // max(len(todo), 1), 1)
    jobs = [(_Job(plan, split, name, place, settings, threads),) for _, split, name, place in todo]
    in_processes(_describe_video, jobs, cores, advance)
    return [table_folder(folder, split, video.name) for split, video in videos]


def count_frames(plan: Description) -> int:
    """Number of frames that `describe_dataset` reports in all."""
    dataset = open_dataset(plan.dataset, plan.root)
    return sum(video.n_frames for split in dict.fromkeys(plan.splits) for video in dataset.videos(split))


def _describe_video(job: _Job) -> None:
    import cv2

    cv2.setNumThreads(1)
    plan = job.plan
    dataset = open_dataset(plan.dataset, plan.root)
    (labelled,) = [video for video in dataset.videos(job.split) if video.name == job.video]
    video = labelled.video()
    descriptors = open_descriptors(plan.names, plan.networks, frames=video.frames)
    warm_up(descriptors)
    n = (plan.per_frame or usual_density(video)) * labelled.n_frames
    supervoxels = segment(video.frames, n, plan.tier)
    truth = count_labels(supervoxels.ids, labelled.labels(), len(dataset.classes), labelled.labelled)
    advance = _in_frames(labelled.n_frames, len(supervoxels))
    values, costs = measure(Scene.of(video.frames, supervoxels), descriptors, job.threads, advance)
    table = VideoTable(labelled.name, labelled.n_frames, supervoxels.graph, truth, values, costs, job.settings)
    write_table(table, job.folder)


def _in_frames(n_frames: int, n_supervoxels: int) -> Callable[[int], None]:
    """A function that takes progress in supervoxels, and reports it to the parent process in frames."""
    done = reported = 0

    def advance(n: int) -> None:
        nonlocal done, reported
        done += n
        frames = done * n_frames // n_supervoxels
        advance_parent(frames - reported)
        reported = frames

    return advance


def _settings(plan: Description, descriptors: Sequence[Descriptor]) -> dict[str, object]:
    """Settings that tables must share to be used together; names of resources identify networks."""
    names = [descriptor.name for descriptor in descriptors]
    resources = sorted({resource.kind for descriptor in descriptors for resource in descriptor.resources})
    return {
        "dataset": plan.dataset,
        "root": None if plan.root is None else str(plan.root.resolve()),
        "classes": list(open_dataset(plan.dataset, plan.root).classes.names),
        "tier": plan.tier,
        "per_frame": plan.per_frame,
        "descriptors": names,
        "resources": resources,
    }


def _make_room(folders: Iterable[Path]) -> None:
    """Create the parents of these folders, and remove what killed runs have left in them."""
    for folder in folders:
        with atomic_folder(folder.parent):
            pass
        forget_leftovers(folder)


def _is_done(folder: Path, settings: dict[str, object]) -> bool:
    """Whether a folder has a table; OutputError if that has other settings."""
    found = read_settings(folder)
    if found is not None and found != settings:
        raise OutputError(f"'{folder}' was described with other settings; choose another folder or delete it")
    return found is not None
