"""What carrying labels is worth where frames lie far apart, and what it does to know that.

Usage: python -m benchmarks.sparse losses ROOT NETWORKS
       python -m benchmarks.sparse clock ROOT NETWORKS MODEL REPEATS

ROOT holds camvid/ and suny/, NETWORKS the networks of both with their folds, as benchmarks/reproduce.sh collects them;
frames are labelled by networks that have not seen them. `losses`: CamVid's training sequences, of one frame a second,
and SUNY's training halves, of which some frames were left out: how far apart frames are found to lie, mean IoU where a
network is asked about all of them, and points lost where it is asked about every second, fourth and eighth, by how
labels are carried; and means, beside what plans believe. `clock`: CamVid's training sequences within ms a frame, by
whole frames, by the same as if all video were film, by supervoxels, whose classifiers have seen them, and by key
frames, class average / global accuracy / mean IoU; MODEL is one of 'budgetseg train'.
"""

import math
import os
import sys
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

import numpy as np

from benchmarks.choose_refining import answers_of, figures_of, print_head
from budgetseg.baselines.keyframes import label_keyframes_within, measure_costs
from budgetseg.datasets import open_dataset
from budgetseg.descriptors.network.card import read_card
from budgetseg.descriptors.network.run import OnnxNetwork
from budgetseg.descriptors.network.seen import stand_ins
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.evaluation.wall import Timed, timed
from budgetseg.frames import evidence, refine, window
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.plan import CARRIES, COARSE, loss
from budgetseg.inference.ledger import Books, Ledger
from budgetseg.inference.refining import Refined, Seen
from budgetseg.inference.request import Request
from budgetseg.labelling import Labeller
from budgetseg.labelling.engines import FRAMES
from budgetseg.models.bundle import load_model
from budgetseg.types import Budget, Float32, Int64, UInt8

LEFT_OUT = {"suny": (1, 2, 4, 8), "camvid": (1,)}
KEYS = (2, 4, 8)
WAYS = list(product(CARRIES, KEYS))
MS_A_FRAME = (3, 5, 8, 12, 20)


class Lost(NamedTuple):
    """Points of mean IoU, by how labels are carried and every how many frames a network is asked.

    Frames lie `apart` as so many of usual video.
    """

    apart: float
    points: Mapping[tuple[str, int], float]


Way = Callable[[Timed, float, int], UInt8]
"""(video, seconds, seed) -> labels (T, H, W)."""


def losses(root: Path, networks: Path) -> None:
    """Print a line for each video, and for each that some of its frames make; then means."""
    print_head("video", ["one frame in", "apart", "all", *(f"{carry}, every {KEYS}" for carry in CARRIES)])
    found: dict[str, list[Lost]] = {"SUNY, all frames": [], "CamVid": []}
    for name, strides in LEFT_OUT.items():
        dataset, network = open_dataset(name, root / name), OnnxNetwork(read_card(networks / name / "dcnn.onnx"))
        refiner = refine.FrameRefiner(
            FrameEngine({"dcnn": network}, np.ones(len(dataset.classes), np.float32)), network.size[::-1]
        )
        for video in dataset.videos("train"):
            frames, truth = video.video().frames, video.labels()
            said = answers_of(networks / name, frames)
            for stride in strides:
                some = {k: said[t] for k, t in enumerate(range(0, len(frames), stride))}
                whole, lost = _lost(refiner, frames[::stride], truth[::stride], some)
                print(
                    f"| {name} {video.name} | {stride} | {lost.apart:.1f} | {whole:.1f} | {_cells(lost)} |", flush=True
                )
                if stride == 1:
                    found["CamVid" if name == "camvid" else "SUNY, all frames"].append(lost)
    for name, own in found.items():
        apart = float(np.mean([one.apart for one in own]))
        mean = {way: float(np.mean([one.points[way] for one in own if way in one.points])) for way in WAYS}
        print(f"| {name}, mean | | {apart:.1f} | | {_cells(Lost(apart, mean))} |")
        believed = {(carry, k): loss(k - 1, 0, carry, apart) for carry, k in WAYS}
        print(f"| {name}, believed | | {apart:.1f} | | {_cells(Lost(apart, believed))} |")


def _lost(refiner: refine.FrameRefiner, frames: UInt8, truth: UInt8, said: Mapping[int, Float32]) -> tuple[float, Lost]:
    """Mean IoU where a network says something of all frames, and what is lost where it is asked about some."""
    n_labels = len(refiner.engine.scale)
    apart = refiner.apart(Books(Ledger(None), refiner.engine.stages), frames, 1, math.inf) or 1.0
    seen = Seen(1, frames, {}, np.zeros(frames.shape[:3], np.int32), np.ones((1, n_labels), np.float32), apart=apart)

    def miou(k: int, carry: str) -> float:
        asked, labels = range(k // 2, len(frames), k), np.empty(frames.shape[:3], np.uint8)
        known = replace(seen, answers={"dcnn": {key: said[key] for key in asked}})
        with patch.object(refine, "COUNTS", 0.0):
            refiner.again(known, Refined({"dcnn": tuple(asked)}, carry, (), (), apart), labels)
        return 100 * accuracy_of(confusion_of_pixels(truth, labels, n_labels)).miou

    whole = miou(1, COARSE)
    return whole, Lost(apart, {(carry, k): whole - miou(k, carry) for carry, k in WAYS if 2 * k <= len(frames)})


def _cells(lost: Lost) -> str:
    own = ([lost.points.get((carry, k)) for k in KEYS] for carry in CARRIES)
    return " | ".join(", ".join("-" if one is None else f"{one:.1f}" for one in row) for row in own)


def clock(root: Path, networks: Path, model: Path, repeats: int) -> None:
    """Print a line for each budget."""
    dataset = open_dataset("camvid", root / "camvid")
    videos = [timed(video) for video in dataset.videos("train")]
    ways = [_ways(video, networks / "camvid", model) for video in videos]
    print_head("ms a frame", list(ways[0]))
    for ms in MS_A_FRAME:
        found: dict[str, Int64 | int] = dict.fromkeys(ways[0], 0)
        for seed in range(repeats):
            for video, own in zip(videos, ways, strict=True):
                for name, way in own.items():
                    labels = way(video, ms * len(video.truth) / 1e3, seed)
                    found[name] = found[name] + video.confusions(labels, len(dataset.classes)).sum(axis=0)
        print(f"| {ms} | {' | '.join(figures_of(own) for own in found.values())} |", flush=True)


def _ways(video: Timed, networks: Path, model: Path) -> Mapping[str, Way]:
    """How to label a video, by the network that has not seen it."""
    frames, cores = np.stack([frame.pixels for frame in video.source]), os.cpu_count() or 1
    (path,) = {path for path in stand_ins(networks, "dcnn", frames) if path is not None}
    labeller, network = Labeller(replace(load_model(model), networks=path.parent), cores), OnnxNetwork(read_card(path))
    labeller.choose(FRAMES)
    costs = measure_costs(network, video.source.size, threads=cores)

    def by_frames(video: Timed, budget_s: float, seed: int) -> UInt8:
        return labeller.label_frames(video.source, Request((Budget(budget_s),), seed=seed)).labels[-1]

    def as_film(video: Timed, budget_s: float, seed: int) -> UInt8:
        with ExitStack() as stack:
            for place, name in ((window, "foretell_apart"), (evidence, "apart_by")):
                stack.enter_context(patch.object(place, name, lambda *_: 1.0))
            return by_frames(video, budget_s, seed)

    def by_supervoxels(video: Timed, budget_s: float, seed: int) -> UInt8:
        return labeller.label(video.source, Request((Budget(budget_s),), seed=seed)).labels[-1]

    def by_key_frames(video: Timed, budget_s: float, _: int) -> UInt8:
        return label_keyframes_within(video.source, network, budget_s, costs, threads=cores).labels

    ways: dict[str, Way] = {
        "frames": by_frames,
        "as if it were film": as_film,
        "supervoxels": by_supervoxels,
        "key frames": by_key_frames,
    }
    for way in (*ways.values(), *ways.values()):  # costs are learned
        way(video, 0.01 * len(frames), 0)
    return ways


if __name__ == "__main__":
    what, *words = sys.argv[1:] or [""]
    if (what, len(words)) not in {("losses", 2), ("clock", 4)}:
        sys.exit(__doc__)
    if what == "losses":
        losses(Path(words[0]), Path(words[1]))
    else:
        clock(Path(words[0]), Path(words[1]), Path(words[2]), int(words[3]))
