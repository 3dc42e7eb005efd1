"""What a second core is worth: accuracy with one thread and with two at the same end-to-end wall-clock, in turns.

Usage: python benchmarks/threads.py DATA MODEL [SEEDS [SPACE]], where DATA holds camvid/; MODEL is a folder or a
bundled name; SPACE is frames or regions, what the model would take if none is given.

CamVid's dense run, decoding included. Intervals are 95 % ones of the mean difference over seeds.
"""

import statistics
import sys
from pathlib import Path

import numpy as np

from budgetseg.app.model import LoadedModel
from budgetseg.app.spaces import AUTO
from budgetseg.datasets import open_dataset
from budgetseg.engine.request import Request
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.evaluation.summary import Mean
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from budgetseg.timing.clock import WallClock
from budgetseg.types import IGNORE, Budget, Float64, UInt8
from budgetseg.video import open_video

MS_A_FRAME = (8, 10, 12, 15, 20)
N_LABELS = 11


def main(data: Path, model: str, n_seeds: int, space: str = AUTO) -> None:
    """Print a line for each budget."""
    truth = open_dataset("camvid", data / "camvid").videos("val")[0].labels()
    source = open_video(data / "camvid" / "val")
    trained = load_model(find_model(model))
    models = [LoadedModel(trained, threads, space=space) for threads in (1, 2)]
    space = models[0].choose(space)
    print("| ms a frame | one thread | two | difference, class average | global | mean IoU | spent, ms a frame |")
    for ms in MS_A_FRAME:
        budget_s, figures, spent_s = ms * len(truth) / 1e3, np.empty((n_seeds, 2, 3)), []
        for seed in range(n_seeds):
            for k in (0, 1) if seed % 2 == 0 else (1, 0):
                clock = WallClock()
                (result,) = models[k].run(source, Request((Budget(budget_s),), seed=seed), space)
                spent_s.append(clock.now_s())
                figures[seed, k] = _figures(truth, result.labels)
        means = [" / ".join(f"{100 * figure:.1f}" for figure in figures[:, k].mean(axis=0)) for k in (0, 1)]
        gains = [_interval(figures[:, 1, j] - figures[:, 0, j]) for j in range(3)]
        print("|", " | ".join([str(ms), *means, *gains, f"{1e3 * statistics.fmean(spent_s) / len(truth):.1f}"]), "|")


def _figures(truth: UInt8, labels: UInt8) -> tuple[float, float, float]:
    """Class average, global accuracy, mean IoU."""
    kept = truth != IGNORE
    pairs = truth[kept].astype(np.int64) * N_LABELS + labels[kept]
    accuracy = accuracy_of(np.bincount(pairs, minlength=N_LABELS**2).reshape(N_LABELS, N_LABELS))
    return accuracy.class_average, accuracy.overall, accuracy.miou


def _interval(gains: Float64) -> str:
    """Mean, and what it lies within."""
    mean = Mean.of((100 * gains).tolist())
    return f"{mean.value or 0:+.1f} ± {mean.within or 0:.1f}"


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 8, *sys.argv[4:5])
