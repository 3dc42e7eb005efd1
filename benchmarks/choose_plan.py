"""What a short budget should do without: accuracy of regions against the wall clock, other plans in turns.

Usage: python -m benchmarks.choose_plan DATASET ROOT MODEL TRAINED [REPEATS], where MODEL was trained on the split `fit`
with supervoxels of the tier `quality`, and TRAINED on `train`: plans and policies are taken from it. Judged on
`selection`. Budgets are multiples of the floor, with fast supervoxels.

Class average / global accuracy of all videos together, a mean over repeats.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from budgetseg.app.model import LoadedModel
from budgetseg.app.spaces import REGIONS
from budgetseg.datasets import open_dataset
from budgetseg.engine.request import Request
from budgetseg.engine.run import run
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.evaluation.wall import Timed, timed
from budgetseg.models.bundle import load_model
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.spaces.regions.space import Regions
from budgetseg.supervoxels.tiers import FAST
from budgetseg.types import Budget, Classes

TIMES_FLOOR = (0.5, 0.8, 1.1, 1.6, 2.2, 3.0, 4.0, 6.0)
N_FLOORS = 3  # runs that the floor is the median of

VARIANTS = {
    "as it is": RegionSettings(),
    "full size": RegionSettings(cutting_share=np.inf),
    "floor 0.9, density 4": RegionSettings(floor_share=0.9, least_density=4),
    "floor 0.35": RegionSettings(floor_share=0.35),
    "density 4": RegionSettings(least_density=4),
}


def main(dataset: str, root: Path, model_folder: Path, trained: Path, n_repeats: int) -> None:
    """Print a line for each budget."""
    whole = load_model(trained)
    model = replace(load_model(model_folder), plans=whole.plans, policies=whole.policies)
    space = LoadedModel(model, os.cpu_count() or 1, space=REGIONS).regions
    videos = [timed(video) for video in open_dataset(dataset, root).videos("selection")]
    floors_s = [_floor_s(space, video, model.classes) for video in videos]
    print("| budget, times the floor |", " | ".join(VARIANTS), "|\n" + "|---" * (1 + len(VARIANTS)) + "|")
    for times in TIMES_FLOOR:
        budgets_s = [times * seconds for seconds in floors_s]
        found = np.zeros((len(VARIANTS), n_repeats, 2))
        for repeat in range(n_repeats):
            for k, settings in enumerate(VARIANTS.values()):
                own = replace(space, settings=settings)
                found[k, repeat] = _accuracy(own, videos, budgets_s, repeat, model.classes)
        cells = [" / ".join(f"{100 * figure:.1f}" for figure in own.mean(axis=0)) for own in found]
        print(f"| {times:g} |", " | ".join(cells), "|", flush=True)


def _floor_s(space: Regions, video: Timed, classes: Classes) -> float:
    """Seconds that a video takes with no descriptor at all."""
    nothing = Request((Budget(1e-9),), "descriptors")
    runs = [run(space.of_tier(FAST), video.source, nothing, classes)[0].ledger.stages for _ in range(N_FLOORS)]
    return float(np.median([sum(entry.spent_s for entry in stages.values()) for stages in runs]))


def _accuracy(
    space: Regions, videos: list[Timed], budgets_s: list[float], seed: int, classes: Classes
) -> tuple[float, float]:
    n_labels = len(classes)
    confusion = np.zeros((n_labels, n_labels), np.int64)
    for video, budget_s in zip(videos, budgets_s, strict=True):
        (result,) = run(space, video.source, Request((Budget(budget_s),), seed=seed), classes)
        confusion += video.confusions(result.labels, n_labels).sum(axis=0)
    accuracy = accuracy_of(confusion)
    return accuracy.class_average, accuracy.overall


if __name__ == "__main__":
    root, model, trained = map(Path, sys.argv[2:5])
    main(sys.argv[1], root, model, trained, int(sys.argv[5]) if len(sys.argv) > 5 else 3)
