"""Measure the speed of descriptors: the rows of `budgetseg bench descriptors`.

Every descriptor is computed alone for all supervoxels of a clip, from an empty cache, on one thread; the time is CPU
time, the median of several runs. HOG, HOF and MBH are also computed together: two of them share flow and tracks. Errors
of predicted costs are measured with all descriptors in a random order, as a policy would choose them.
"""

import statistics
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

from budgetseg.descriptors.calibrate import calibrate_new, warm_up
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.motion.tracks import TrackPoints, Tracks
from budgetseg.descriptors.registry import available, open_descriptors
from budgetseg.evaluation.clips import CamvidDense, Street
from budgetseg.models import bundled
from budgetseg.processes import advance_parent, in_processes
from budgetseg.supervoxels import segment
from budgetseg.timing.clock import process_s, thread_s
from budgetseg.timing.prices import Prices

__all__ = ["N_STEPS", "bench_descriptors"]

Row = dict[str, str | int | float | None]
TOGETHER = ("hog", "hof", "mbh")  # the descriptors that programs for dense trajectories compute together

N_STEPS = 8
"""Steps of progress: errors of costs, six descriptors, and three of them together."""


def bench_descriptors(
    data: Path | None, repeats: int = 3, advance: Callable[[int], None] = lambda _: None
) -> list[Row]:
    """A row for each descriptor, on CamVid's dense run below `data`, or on a rendered street if that is None.

    `advance` is called with 1 for each of `N_STEPS` steps.
    """
    # A process of its own, without threads and caches of this one.
    (rows,) = in_processes(_measure, [(data, repeats)], 1, advance)
    return rows


def _measure(data: Path | None, repeats: int) -> list[Row]:
    import cv2

    cv2.setNumThreads(1)
    frames, _ = Street()() if data is None else CamvidDense(data / "camvid")()
    n = 25 * len(frames) if data is None else 3500
    scene = Scene.of(frames, segment(frames, n))
    networks = bundled("camvid", "")
    descriptors = open_descriptors(available(networks), networks)
    warm_up(descriptors, scene)
    errors = _cost_errors(scene, descriptors)
    advance_parent(1)
    rows = [_row(scene, [descriptor], repeats, errors) for descriptor in descriptors]
    together = [descriptor for descriptor in descriptors if descriptor.name in TOGETHER]
    return [*rows, _row(scene, together, repeats, errors)]


def _row(scene: Scene, descriptors: Sequence[Descriptor], repeats: int, errors: dict[str, float]) -> Row:
    runs = [_run(scene, descriptors) for _ in range(repeats)]
    advance_parent(1)
    cpu_s, private_s, n_tracks = (statistics.median(column) for column in zip(*runs, strict=True))
    return {
        "descriptor": "+".join(descriptor.name for descriptor in descriptors),
        "ms_per_frame": 1e3 * cpu_s / scene.n_frames,
        "us_per_supervoxel": 1e6 * private_s / len(scene.supervoxels),
        "cpu_s": cpu_s,
        "cost_error_median": max(errors[descriptor.name] for descriptor in descriptors),
        "us_per_track": 1e6 * cpu_s / n_tracks if n_tracks else None,
    }


def _run(scene: Scene, descriptors: Sequence[Descriptor]) -> tuple[float, float, int]:
    """CPU seconds in all, private seconds of all descriptors, and the number of tracks that were followed."""
    live = LiveDescriptors(scene, descriptors, Prices(), timer=thread_s)
    started = process_s()
    private_s = sum(
        live.compute(region, descriptor.name).private_s
        for region in range(len(scene.supervoxels))
        for descriptor in descriptors
    )
    cpu_s = process_s() - started
    tracked = any(kind.kind == Tracks.kind for descriptor in descriptors for kind in descriptor.resources)
    keys = [(Tracks.kind, region) for region in range(len(scene.supervoxels))] if tracked else []
    tracks = [value for value in live.cache.peek(keys) if isinstance(value, TrackPoints)]
    return cpu_s, private_s, sum(len(points.slots) for points in tracks)


def _cost_errors(scene: Scene, descriptors: Sequence[Descriptor], seed: int = 0) -> dict[str, float]:
    """Median over all supervoxels of |predicted / true - 1| of the cost, by descriptor."""
    prices = Prices.load()
    if calibrate_new(descriptors, prices):
        prices.save()
    live = LiveDescriptors(scene, descriptors, prices)
    errors: dict[str, list[float]] = {descriptor.name: [] for descriptor in descriptors}
    n = len(descriptors)
    for call in np.random.default_rng(seed).permutation(len(scene.supervoxels) * n):
        region = int(call // n)
        name = descriptors[int(call % n)].name
        predicted_s = live.cost(region, name)
        errors[name].append(abs(predicted_s / live.compute(region, name).total_s - 1))
    return {name: statistics.median(values) for name, values in errors.items()}
