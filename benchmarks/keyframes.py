"""Key frames: the network on every k-th frame, its labels carried to the others, one thread.

Usage: python benchmarks/keyframes.py DATA [choose], where DATA holds camvid/ and suny/.

Prints class average / global / mIoU and CPU ms a frame on CamVid's dense run, decoding left out; with `choose`, on
SUNY's training halves, from which `KeyframeSettings.flow_worth` in `budgetseg/baselines/keyframe_plan.py` was read.
"""

import sys
from collections.abc import Sequence
from pathlib import Path

import cv2
import numpy as np

from budgetseg.baselines.keyframe_plan import COPY, FLOW
from budgetseg.baselines.keyframes import KeyframeLabeller, key_frames
from budgetseg.datasets import LabelledVideo, open_dataset
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.models import bundled
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.timing.clock import process_s
from budgetseg.types import IGNORE, Int64, UInt8

REPORTED = ("camvid", "val", ("dcnn", "dcnn_large"), (1, 2, 5, 10, 20, 50))
CHOSEN = ("suny", "train", ("dcnn",), (1, 2, 3, 5, 7, 10, 15, 20, 30, 43))


def main(data: Path, setup: tuple[str, str, Sequence[str], Sequence[int]]) -> None:
    """Print a line for each network, k and way of carrying."""
    cv2.setNumThreads(1)
    name, split, networks, ks = setup
    dataset = open_dataset(name, data / name)
    for network in networks:
        ask = OnnxNetwork(read_card(bundled(name, f"{network}.onnx")))
        _line(ask, dataset.videos(split)[:1], len(dataset.classes), 10, FLOW)  # compiles
        for k in ks:
            for carry in (FLOW, COPY)[: 1 if k == 1 else 2]:
                print(network, f"k={k}", carry, _line(ask, dataset.videos(split), len(dataset.classes), k, carry))


def _line(ask: OnnxNetwork, videos: Sequence[LabelledVideo], n_labels: int, k: int, carry: str) -> str:
    confusion, ms, n_frames = np.zeros((n_labels, n_labels), np.int64), {"network": 0.0, carry: 0.0}, 0
    for video in videos:
        frames = video.video().frames
        with KeyframeLabeller(frames, ask, clock=process_s) as labeller:
            labeller.advance(key_frames(len(frames), -(-len(frames) // k)), carry)
            labeller.finish(carry)
        confusion += _confusion(video.labels(), labeller.labels[list(video.labelled)], n_labels)
        ms = {way: spent + 1e3 * labeller.spent_s[way] for way, spent in ms.items()}
        n_frames += len(frames)
    accuracy = accuracy_of(confusion)
    figures = (accuracy.class_average, accuracy.overall, accuracy.miou)
    spent = " + ".join(f"{total / n_frames:.2f}" for total in ms.values())
    return f"{' / '.join(f'{100 * figure:.1f}' for figure in figures)}, {spent} ms a frame"


def _confusion(truth: UInt8, labels: UInt8, n_labels: int) -> Int64:
    kept = truth != IGNORE
    pairs = truth[kept].astype(np.int64) * n_labels + labels[kept]
    return np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels)


if __name__ == "__main__":
    main(Path(sys.argv[1]), CHOSEN if sys.argv[2:] == ["choose"] else REPORTED)
