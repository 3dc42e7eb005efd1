"""How many videos a machine labels with several workers, and what is lost on the way: `budgetseg bench batch`."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import budgetseg
from budgetseg.app.job import Job, Terms
from budgetseg.app.labeller import Order
from budgetseg.app.manifest import DONE
from budgetseg.app.model import load
from budgetseg.app.output import Wanted
from budgetseg.app.videos import find_videos
from budgetseg.app.worker import Setup, kept
from budgetseg.datasets import open_dataset
from budgetseg.datasets.synthetic import render
from budgetseg.engine.request import Request
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.executors.registry import ExecutorOptions, open_executor
from budgetseg.timing.clock import WallClock
from budgetseg.types import Budget, Int64, UInt8
from budgetseg.video import read_label_pngs, write_overlay

__all__ = ["Batch", "bench_batch"]

MODELS = Path(budgetseg.__file__).parent / "models"
Row = dict[str, str | int | float | None]


@dataclass(frozen=True)
class Batch:
    """What is labelled.

    Attributes
    ----------
    n_videos : number of videos
    n_frames : of each
    budget_s : of each on average, for one worker; infinity for no bound
    size : width and height of rendered streets
    """

    n_videos: int = 16
    n_frames: int = 16
    budget_s: float = math.inf
    size: tuple[int, int] = (240, 160)


def bench_batch(
    data: Path | None,
    batch: Batch,
    settings: Sequence[ExecutorOptions],
    advance: Callable[[int], None] = lambda _: None,
) -> list[Row]:
    """A row for each executor that labels the same videos: SUNY's test halves, or rendered streets without data.

    Column seconds is the time of the whole job, from its start to the last file. Column overhead_share is the share of
    the workers' time in which they label no video and write no files: they start, get ready, look at videos, or wait.
    """
    rows: list[Row] = []
    with TemporaryDirectory() as place:
        folder = Path(place)
        truth = dict(_suny(data, folder / "videos", batch) if data else _streets(folder / "videos", batch))
        networks = sorted((MODELS / "suny" / "networks").glob("*.onnx")) if data else []
        for k, options in enumerate(settings):
            setup = Setup(None if data else "synthetic", tuple(networks), options.cpus)
            rows.append(_row(folder, truth, setup, batch, options, folder / str(k)))
            advance(1)
    return rows


def _row(
    folder: Path, truth: dict[str, UInt8], setup: Setup, batch: Batch, options: ExecutorOptions, output: Path
) -> Row:
    model = load(setup.model, options.cpus, networks=setup.networks)
    setup = replace(setup, digest=model.digest)
    workers = options.jobs or 1
    budget = Budget(batch.budget_s * batch.n_videos / workers)
    order = Order([folder / "videos"], Request((budget,)), output=output, wanted=Wanted(overlay=False))
    clock = WallClock()
    job = Job(order, find_videos(order.videos), setup, Terms(), clock=clock)
    with kept(setup, model, lambda: False), open_executor(options, options.cpus) as executor:
        done = [row for row in job.run(executor) if row.state == DONE]
    elapsed_s = clock.now_s()
    confusion: Int64 = sum(
        (
            confusion_of_pixels(truth[row.name], read_label_pngs(output / row.name / "labels"), len(model.classes))
            for row in done
        ),
        start=np.zeros((len(model.classes),) * 2, np.int64),
    )
    n_frames = sum(len(truth[row.name]) for row in done)
    return {
        "executor": options.name,
        "jobs": workers,
        "videos": len(done),
        "frames": n_frames,
        "seconds": elapsed_s,
        "frames_per_s": n_frames / elapsed_s,
        "overhead_share": 1 - sum(row.seconds for row in done) / (workers * elapsed_s),
        "accuracy": accuracy_of(confusion).overall,
    }


def _suny(data: Path, folder: Path, batch: Batch) -> Iterator[tuple[str, UInt8]]:
    """Pieces of SUNY's test halves as folders of images, and their labels."""
    videos = open_dataset("suny", data / "suny").videos("test")
    folder.mkdir()
    for k in range(batch.n_videos):
        video = videos[k % len(videos)]
        first = (k // len(videos) * batch.n_frames) % max(video.n_frames - batch.n_frames, 1)
        part = slice(first, first + batch.n_frames)
        own = folder / f"{k:04d}"
        own.mkdir()
        for source in list(video.sources())[part]:
            (own / Path(source).name).symlink_to(Path(source).resolve())
        yield own.name, video.labels()[part]


def _streets(folder: Path, batch: Batch) -> Iterator[tuple[str, UInt8]]:
    """Rendered streets as video files, and their labels."""
    folder.mkdir()
    for k in range(batch.n_videos):
        video, labelling = render(k, batch.n_frames, batch.size)
        write_overlay(folder / f"{k:04d}.mp4", video, rate=25.0)
        yield f"{k:04d}", labelling.labels
