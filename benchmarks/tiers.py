"""Supervoxels of full size or fast ones, under a budget: accuracy at the same end-to-end wall-clock, in turns.

Usage: python -m benchmarks.tiers DATASET ROOT MODEL [REPEATS], where MODEL was trained on the split `fit` with
supervoxels of the tier `quality`; judged on `selection`. Budgets are multiples of what those take to be cut.

Class average / global accuracy of all videos together, a mean over repeats.
"""

import os
import sys
from pathlib import Path

import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.evaluation.wall import Timed, timed
from budgetseg.inference import label
from budgetseg.inference.label import Request
from budgetseg.labelling import Labeller
from budgetseg.models.bundle import load_model
from budgetseg.types import Budget

TIMES_CUTTING = (1.4, 2.0, 3.0, 5.0, 8.0)


def main(dataset: str, root: Path, model_folder: Path, n_repeats: int) -> None:
    """Print a line for each budget."""
    model = load_model(model_folder)
    labeller = Labeller(model, os.cpu_count() or 1, engine="supervoxels")
    videos = [timed(video) for video in open_dataset(dataset, root).videos("selection")]
    cutting_s = [_cutting_s(labeller, video) for video in videos]
    print("| budget, times the cutting | quality | fast |\n|---|---|---|")
    for times in TIMES_CUTTING:
        found = np.zeros((2, n_repeats, 2))
        for repeat in range(n_repeats):
            for k, most in enumerate((np.inf, 0.0)):  # of the budget that supervoxels of full size may take
                label.CUTTING = most
                found[k, repeat] = _accuracy(labeller, videos, [times * seconds for seconds in cutting_s])
        cells = [" / ".join(f"{100 * figure:.1f}" for figure in own.mean(axis=0)) for own in found]
        print(f"| {times:g} | {cells[0]} | {cells[1]} |", flush=True)


def _cutting_s(labeller: Labeller, video: Timed) -> float:
    width, height = video.source.size
    return labeller.engine.stages.predict(*labeller.engine.cutting(video.source.count(), (height, width)))


def _accuracy(labeller: Labeller, videos: list[Timed], budgets_s: list[float]) -> tuple[float, float]:
    n_labels = len(labeller.model.classes)
    confusion = np.zeros((n_labels, n_labels), np.int64)
    for video, budget_s in zip(videos, budgets_s, strict=True):
        labelled = labeller.label(video.source, Request((Budget(budget_s),)))
        confusion += video.confusion(labelled.labels[-1], n_labels)
    accuracy = accuracy_of(confusion)
    return accuracy.class_average, accuracy.overall


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), int(sys.argv[4]) if len(sys.argv) > 4 else 3)
