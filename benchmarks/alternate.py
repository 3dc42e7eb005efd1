"""Two checkouts of budgetseg against each other, in alternation on one machine: accuracy and seconds at budgets.

Usage: python benchmarks/alternate.py OLD NEW MODEL DATASET ROOT SPLIT MS [REPEATS] [SPACE]

OLD and NEW are folders of checkouts, MODEL a model that both can read, MS budgets in milliseconds a frame
(3,5,10,20). Every repeat starts a process for each checkout, which loads the model and labels all videos at every
budget. Printed: means over repeats, and the mean difference with its 95 % interval over repeats.
"""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Row = NDArray[np.float64]
FIGURES = ("class_average", "overall", "miou", "used")


def main(old: str, new: str, *words: str) -> None:
    """Run both in turns, and print a table."""
    model, dataset, root, split, budgets_ms = words[:5]
    case = [model, dataset, str(Path(root).resolve()), split, budgets_ms]  # runs begin in the folder of a checkout
    n_repeats = int(words[5]) if len(words) > 5 else 5
    space = words[6] if len(words) > 6 else "frames"
    old, new = (str(Path(checkout).resolve()) for checkout in (old, new))
    found: dict[str, list[list[list[float]]]] = {old: [], new: []}
    for repeat in range(n_repeats):
        for checkout in (old, new) if repeat % 2 == 0 else (new, old):
            environment = {**os.environ, "PYTHONPATH": checkout, "BUDGETSEG_CACHE": f"{checkout}/.alternate"}
            command = [sys.executable, __file__, "--run", *case, space]
            done = subprocess.run(command, env=environment, cwd=checkout, check=True, capture_output=True, text=True)
            found[checkout].append(json.loads(done.stdout.splitlines()[-1]))
            print(f"repeat {repeat}, {checkout}: {found[checkout][-1]}", flush=True)
    budgets = budgets_ms.split(",")
    before, after = (np.array(found[checkout]) for checkout in (old, new))  # (R, B, 4)
    print("\n| ms a frame |", " | ".join(f"{figure}: old, new, difference" for figure in FIGURES), "|")
    print("|---|" + "---|" * len(FIGURES))
    for k, budget in enumerate(budgets):
        cells = [_compared(before[:, k, j], after[:, k, j]) for j in range(len(FIGURES))]
        print(f"| {budget} |", " | ".join(cells), "|")


def _compared(before: Row, after: Row) -> str:
    gains = after - before
    half = 1.96 * gains.std(ddof=1) / np.sqrt(len(gains)) if len(gains) > 1 else np.nan
    return f"{100 * before.mean():.1f}, {100 * after.mean():.1f}, {100 * gains.mean():+.1f} ± {100 * half:.1f}"


def run(model: str, dataset: str, root: str, split: str, budgets_ms: str, space: str) -> list[list[float]]:
    """Label all videos at every budget: class average, global accuracy, mean IoU and the largest share used."""
    import budgetseg
    from budgetseg.datasets import open_dataset
    from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
    from budgetseg.evaluation.wall import timed

    loaded = budgetseg.load(model)
    opened = open_dataset(dataset, Path(root))
    videos = [timed(video) for video in opened.videos(split)]
    rows = []
    for budget_ms in map(float, budgets_ms.split(",")):
        confusion = np.zeros((len(opened.classes),) * 2, np.int64)
        used = []
        for video in videos:
            n_frames = video.source.n_frames or video.source.count()
            began_s = time.perf_counter()  # noqa: TID251 - old checkouts have no clock of their own
            result = loaded.label(video.source, budget_ms * n_frames / 1000, engine=space)
            spent_s = time.perf_counter() - began_s  # noqa: TID251
            used.append(spent_s / (budget_ms * n_frames / 1000))
            labels = result.labels[list(video.labelled)]
            confusion += confusion_of_pixels(video.truth, labels, len(opened.classes))
        found = accuracy_of(confusion)
        rows.append([found.class_average, found.overall, found.miou, max(used)])
    return rows


if __name__ == "__main__":
    if sys.argv[1] == "--run":
        print(json.dumps(run(*sys.argv[2:])))
    else:
        main(*sys.argv[1:])
