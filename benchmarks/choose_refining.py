"""How far supervoxels count beside networks when labels are refined, and how much time that may take.

Usage: python -m benchmarks.choose_refining counts ROOT WORK NETWORKS
       python -m benchmarks.choose_refining shares ROOT MODEL REPEATS

ROOT holds SUNY, of which the training halves are labelled. `counts` carries what fold networks, which have not seen
a frame, say of some frames spread over a video, beside what classifiers that have not seen it say of its supervoxels;
WORK is the work folder of 'budgetseg train', NETWORKS as 'train-network --folds 4' writes them. `shares` labels under
the clock, by a MODEL that has seen these frames, so that figures compare with each other alone. All are class average
/ global accuracy / mean IoU.
"""

import sys
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from budgetseg.classifiers.samples import samples_of
from budgetseg.datasets import open_dataset
from budgetseg.descriptors.network.card import read_card
from budgetseg.descriptors.network.run import OnnxNetwork
from budgetseg.descriptors.network.seen import stand_ins
from budgetseg.descriptors.table import read_table
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.evaluation.wall import timed
from budgetseg.frames import refine
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.order import key_frames
from budgetseg.frames.plan import COARSE
from budgetseg.inference import floor
from budgetseg.inference.engine import Engine
from budgetseg.inference.label import label_video
from budgetseg.inference.refining import Refined, Seen
from budgetseg.inference.request import Request
from budgetseg.labelling.labeller import Labeller
from budgetseg.learning.train import read_fitted
from budgetseg.models.bundle import load_model
from budgetseg.supervoxels import segment
from budgetseg.supervoxels.tiers import FAST
from budgetseg.types import IGNORE, Budget, Float32, Int64, UInt8

ASKED = ("colour", "dcnn")
KEYS = (2, 4, 8, 14)
COUNTS = (0.0, 0.01, 0.03, 0.1, 0.3)
BUDGETS_MS = (12, 20, 30, 44, 65, 87, 130, 190)


@dataclass(frozen=True, eq=False)
class _Known:
    """A video of which networks and classifiers have said everything, not having seen it."""

    seen: Seen
    truth: UInt8


def by_counts(root: Path, work: Path, networks: Path) -> None:
    """Print a line for each weight."""
    dataset, fitted = open_dataset("suny", root), read_fitted(work / "classifiers")
    h, n_labels = fitted.classifiers, len(dataset.classes)
    tables = [read_table(path) for path in sorted((work / "table" / "train").iterdir())]
    samples, subset, known = samples_of(tables), h.subset_of(ASKED), []
    for k, (video, table) in enumerate(zip(dataset.videos("train"), tables, strict=True)):
        frames = video.video().frames
        said = answers_of(networks, frames)
        opinions = np.array(fitted.out_of_fold[samples.video == k][:, subset])
        ids = segment(frames, len(table.truth)).ids
        known.append(_Known(Seen(1, frames, {"dcnn": said}, ids, opinions), video.labels()))
    network = OnnxNetwork(read_card(networks / "dcnn.onnx"), 1)
    refiner = refine.FrameRefiner(FrameEngine({"dcnn": network}, h.prior.astype(np.float32)), network.size[::-1])
    print_head("counts", [f"{n} frames asked" for n in KEYS])
    for counts in COUNTS:
        with patch.object(refine, "COUNTS", counts):
            cells = [figures_of(sum(_confusion(refiner, one, n, n_labels) for one in known)) for n in KEYS]
        print(f"| {counts:g} | {' | '.join(cells)} |", flush=True)


def answers_of(networks: Path, frames: UInt8) -> dict[int, Float32]:
    """What networks that have not seen a frame say of it, by its number."""
    paths = stand_ins(networks, "dcnn", frames)
    opened = {path: OnnxNetwork(read_card(path), 1) for path in dict.fromkeys(paths) if path is not None}
    return {t: opened[path](frames[t]) for t, path in enumerate(paths) if path is not None}


def _confusion(refiner: refine.FrameRefiner, known: _Known, n_keys: int, n_labels: int) -> Int64:
    keys, labels = key_frames(len(known.truth), n_keys), np.empty(known.truth.shape, np.uint8)
    answers = {"dcnn": {key: known.seen.answers["dcnn"][key] for key in keys}}
    refiner.again(replace(known.seen, answers=answers), Refined({"dcnn": tuple(keys)}, COARSE, (), ()), labels)
    kept = known.truth != IGNORE
    pairs = known.truth[kept].astype(np.int64) * n_labels + labels[kept]
    confusion: Int64 = np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels)
    return confusion


def by_shares(root: Path, model: Path, repeats: int) -> None:
    """Print a line for each budget."""
    loaded = load_model(model)
    labeller, n_labels = Labeller(loaded, 2), len(loaded.classes)
    videos = [timed(video) for video in open_dataset("suny", root).videos("train")]
    ways: Mapping[str, Callable[[], object]] = {
        "not refined": lambda: patch.object(Engine, "tiers", (FAST,)),
        "as it is": lambda: patch.dict({}),
        "no blocks": lambda: patch.object(Engine, "tiers", (FAST,)),
        "all blocks": lambda: patch.multiple(floor, FEWER=1, MOST_BLOCKS=np.inf),
        "floor 0.2": lambda: patch.object(floor, "REFINED_SHARE", 0.2),
        "floor 0.4": lambda: patch.object(floor, "REFINED_SHARE", 0.4),
        "at most 0.3": lambda: patch.dict(refine.MOST, {COARSE: 0.3}),
        "at most 0.45": lambda: patch.dict(refine.MOST, {COARSE: 0.45}),
    }
    engines = {name: _own(labeller.engine) for name in ways}
    engines["not refined"] = replace(engines["not refined"], refiner=None)

    def at(budget_ms: float, seed: int, engine: Engine) -> Int64:
        request = Request((Budget(budget_ms / 1000),), seed=seed)
        found = [video.confusions(label_video(engine, video.source, request).labels[-1], n_labels) for video in videos]
        whole: Int64 = np.sum([one.sum(axis=0) for one in found], axis=0)
        return whole

    print_head("budget, ms a video", list(ways))
    for budget_ms in BUDGETS_MS:
        found: dict[str, list[Int64]] = {name: [] for name in ways}
        for seed in range(repeats + 1):  # the first time costs are learned
            for name, way in ways.items():
                with way():  # type: ignore[attr-defined]
                    found[name].append(at(budget_ms, seed, engines[name]))
        print(f"| {budget_ms} | {' | '.join(figures_of(sum(own[1:])) for own in found.values())} |", flush=True)


def _own(engine: Engine) -> Engine:
    """The same, that learns from its own runs alone what stages cost."""
    assert isinstance(engine.refiner, refine.FrameRefiner)
    stages = deepcopy(engine.stages)
    refiner = replace(engine.refiner, engine=replace(engine.refiner.engine, stages=stages))
    return replace(engine, stages=stages, refiner=refiner)


def print_head(first: str, names: Sequence[str]) -> None:
    """The head of a table."""
    print(f"| {first} | {' | '.join(names)} |\n|---{'|---' * len(names)}|")


def figures_of(confusion: Int64 | int) -> str:
    """Class average / global accuracy / mean IoU."""
    found = accuracy_of(np.asarray(confusion))
    return " / ".join(f"{100 * one:.1f}" for one in (found.class_average, found.overall, found.miou))


if __name__ == "__main__":
    if len(sys.argv) != 5 or sys.argv[1] not in ("counts", "shares"):
        sys.exit(__doc__)
    if sys.argv[1] == "counts":
        by_counts(*map(Path, sys.argv[2:]))
    else:
        by_shares(Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]))
