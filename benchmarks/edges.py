"""What labels that follow edges gain: training frames, by fold networks that have not seen them.

Usage: python benchmarks/edges.py DATA NETWORKS [EVERY], where DATA holds camvid/ and suny/, and NETWORKS camvid/ and
suny/ as 'budgetseg train-network --folds 4' writes them; every EVERYth frame is taken, 5 if not said.
"""

import statistics
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.seen import stand_ins
from budgetseg.propagate.cells import top_classes
from budgetseg.propagate.edges import paint_edges
from budgetseg.propagate.paint import paint
from budgetseg.propagate.settings import Propagation
from budgetseg.timing.clock import thread_s
from budgetseg.types import IGNORE, Float32, UInt8

CASES = (("suny", "dcnn"), ("camvid", "dcnn"), ("camvid", "dcnn_large"))


def main(data: Path, networks: Path, every: int) -> None:
    """Print a line for each dataset and network, plain and along edges."""
    print("| | painted | class average / global / mean IoU | ms a frame, one thread |")
    for dataset, network in CASES:
        n_labels = len(open_dataset(dataset, data / dataset).classes)
        confusion, spent_s = np.zeros((2, n_labels, n_labels), np.int64), ([], [])  # type: ignore[var-annotated]
        for frame, truth, probabilities in _answers(data / dataset, networks / dataset, dataset, network, every):
            top, labels, kept = top_classes(probabilities), np.empty(truth.shape, np.uint8), truth != IGNORE
            for k in range(2):
                began_s = thread_s()
                if k == 0:
                    paint(probabilities, top, labels)
                else:
                    paint_edges(probabilities, top, frame, labels, Propagation())
                spent_s[k].append(thread_s() - began_s)
                pairs = truth[kept].astype(np.int64) * n_labels + labels[kept]
                confusion[k] += np.bincount(pairs, minlength=n_labels**2).reshape(n_labels, n_labels)
        for k, name in enumerate(("plainly", "along edges")):
            found = accuracy_of(confusion[k])
            figures = " / ".join(f"{100 * one:.1f}" for one in (found.class_average, found.overall, found.miou))
            print(f"| {dataset}, {network} | {name} | {figures} | {1e3 * statistics.median(spent_s[k]):.2f} |")


def _answers(
    root: Path, networks: Path, dataset: str, network: str, every: int
) -> Iterator[tuple[UInt8, UInt8, Float32]]:
    """Frames, their labels, and what a network that has not seen them says."""
    opened: dict[Path, OnnxNetwork] = {}
    for video in open_dataset(dataset, root).videos("train"):
        frames, truth = video.video().frames, video.labels()
        paths = stand_ins(networks, network, frames)
        for t in range(0, len(frames), every):
            path = paths[t]
            if path is None:
                raise SystemExit(f"no network in '{networks}' has not seen {video.name}; give those of its folds")
            if path not in opened:
                opened[path] = OnnxNetwork(read_card(path), 1)
            yield frames[t], truth[t], np.ascontiguousarray(opened[path](frames[t]), np.float32)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3]) if len(sys.argv) > 3 else 5)
