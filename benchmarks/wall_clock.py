"""Accuracy against end-to-end wall-clock on CamVid's dense run: both spaces, beside key frames with the same networks.

Usage: python benchmarks/wall_clock.py DATA MODEL ms|shares [PLOT], where DATA holds camvid/; MODEL is a folder or a
bundled name.

Budgets are 3 to 100 ms a frame (`ms`), or the floor of regions plus 5 to 100 % of what all descriptors add to it
(`shares`). All systems read the frames from disk inside their budget, on all cores, with the same reader and networks.
Three runs, methods taking turns; figures are means, with half of the 95 % interval of the mean IoU; of what was spent
also the most.
"""

import os
import statistics
import sys
from collections.abc import Callable
from itertools import product
from pathlib import Path

import numpy as np

from budgetseg.app.model import LoadedModel
from budgetseg.app.spaces import FRAMES, REGIONS
from budgetseg.baselines.keyframes import label_keyframes_within, measure_costs
from budgetseg.datasets import open_dataset
from budgetseg.engine.request import Request
from budgetseg.evaluation.accuracy import accuracy_of
from budgetseg.models.bundle import load_model
from budgetseg.models.find import find_model
from budgetseg.networks.card import read_card
from budgetseg.networks.run import OnnxNetwork
from budgetseg.timing.clock import WallClock
from budgetseg.types import IGNORE, Budget, UInt8
from budgetseg.video import VideoSource, open_video

MS_A_FRAME = (3, 5, 10, 20, 50, 100)
SHARES = (0.05, 0.1, 0.2, 0.5, 1.0)
N_RUNS, N_WARM = 3, 5
STUDENT = 4.303  # of 2 degrees of freedom, 95 %

Method = Callable[[float, int], UInt8]
"""From seconds and a seed to labels (T, H, W)."""


def main(data: Path, model: str, part: str, plot: Path | None = None) -> None:
    """Print a line for each method and budget."""
    truth = open_dataset("camvid", data / "camvid").videos("val")[0].labels()
    source, cores = open_video(data / "camvid" / "val"), os.cpu_count() or 1
    loaded = LoadedModel(load_model(find_model(model)), cores)
    methods = {space: _labelled(loaded, source, space) for space in (FRAMES, REGIONS)}
    networks, n_frames = find_model(model) / "networks", len(truth)
    for name in ("dcnn", "dcnn_large"):
        methods[f"key frames, {name}"] = _keyframes(networks / f"{name}.onnx", data / "camvid" / "val", cores)
    for _, method in product(
        range(N_WARM), methods.values()
    ):  # costs that were learned on a busy machine are forgotten
        method(10e-3 * n_frames, 0)
    budgets_s = [ms * n_frames / 1e3 for ms in MS_A_FRAME]
    if part == "shares":
        floor_s, full_s = _floor_s(loaded, source), _full_s(loaded, source)
        print(f"floor {1e3 * floor_s / n_frames:.1f} ms a frame, full {1e3 * full_s / n_frames:.1f}")
        budgets_s = [floor_s + share * (full_s - floor_s) for share in SHARES]
    points: dict[str, list[tuple[float, float]]] = {}
    for budget_s in budgets_s:
        for name, (spent_s, figures, half) in _measure(methods, budget_s, truth).items():
            mean_ms, most_ms = (1e3 * seconds / n_frames for seconds in (statistics.fmean(spent_s), max(spent_s)))
            points.setdefault(name, []).append((mean_ms, figures[2]))
            text = " / ".join(f"{100 * figure:.1f}" for figure in figures)
            ms = f"{1e3 * budget_s / n_frames:.1f} | {name} | {mean_ms:.1f}, {most_ms:.1f}"
            print(f"| {ms} | {text} | {100 * half:.1f} |", flush=True)
    if plot is not None:
        _plot(points, plot)


def _labelled(loaded: LoadedModel, source: VideoSource, space: str) -> Method:
    loaded.choose(space)  # makes it ready

    def label(budget_s: float, seed: int) -> UInt8:
        return loaded.run(source, Request((Budget(budget_s),), seed=seed), space)[-1].labels

    return label


Figures = tuple[list[float], tuple[float, ...], float]
"""Seconds of each run, class average / global / mean IoU, and half of the interval of the last."""


def _measure(methods: dict[str, Method], budget_s: float, truth: UInt8) -> dict[str, Figures]:
    spent_s: dict[str, list[float]] = {name: [] for name in methods}
    figures: dict[str, list[tuple[float, float, float]]] = {name: [] for name in methods}
    for seed, (name, method) in product(range(N_RUNS), methods.items()):
        clock = WallClock()
        labels = method(budget_s, seed)
        spent_s[name].append(clock.now_s())
        kept = truth != IGNORE
        pairs = truth[kept].astype(np.int64) * 11 + labels[kept]
        accuracy = accuracy_of(np.bincount(pairs, minlength=121).reshape(11, 11))
        figures[name].append((accuracy.class_average, accuracy.overall, accuracy.miou))
    return {
        name: (
            spent_s[name],
            tuple(np.mean(own, axis=0).tolist()),
            STUDENT * statistics.stdev(one[2] for one in own) / N_RUNS**0.5,
        )
        for name, own in figures.items()
    }


def _keyframes(path: Path, video: Path, cores: int) -> Method:
    network = OnnxNetwork(read_card(path))
    costs = measure_costs(network, open_video(video).size, threads=cores)
    return lambda budget_s, _: label_keyframes_within(video, network, budget_s, costs, threads=cores).labels


def _floor_s(loaded: LoadedModel, source: VideoSource) -> float:
    return statistics.median(_timed(loaded, source, lambda: True) for _ in range(5))


def _full_s(loaded: LoadedModel, source: VideoSource) -> float:
    return _timed(loaded, source, lambda: False)


def _timed(loaded: LoadedModel, source: VideoSource, stopped: Callable[[], bool]) -> float:
    clock = WallClock()
    loaded.run(source, Request((Budget(np.inf),)), REGIONS, stopped)
    return clock.now_s()


def _plot(points: dict[str, list[tuple[float, float]]], path: Path) -> None:
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, ScalarFormatter

    figure, axes = plt.subplots(figsize=(7, 4))
    for marker, (name, line) in zip("osd^", points.items(), strict=False):
        axes.plot(*zip(*sorted(line), strict=True), marker=marker, label=name)
    axes.set(xscale="log", xlabel="wall-clock, ms a frame, decoding included", ylabel="mean IoU")
    axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axes.xaxis.set_major_formatter(ScalarFormatter())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.grid(alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4]) if len(sys.argv) > 4 else None)
