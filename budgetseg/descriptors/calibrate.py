"""Prices of descriptors on this machine: measured once, in seconds, on rendered streets, and kept."""

import logging
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.costs import CostModel
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.prices import price
from budgetseg.errors import OutputError
from budgetseg.machine import cache_folder
from budgetseg.supervoxels import segment

__all__ = ["calibrate", "known_costs", "save_costs", "warm_up"]

_log = logging.getLogger(__name__)

FILE = "costs.json"
SIZES = ((160, 120), (480, 360))
N_FRAMES = 9
N_SUPERVOXELS = 200
SAMPLE, TOGETHER = 240, 8  # supervoxels that each descriptor is timed on, and how many at a time


def known_costs(descriptors: Sequence[Descriptor], timer: Callable[[], float] = time.perf_counter) -> CostModel:
    """What descriptors cost on this machine, as measured before; those that were never seen are measured now."""
    costs = CostModel.load(_place())
    new = [descriptor for descriptor in descriptors if not _is_known(descriptor, costs)]
    _log.info("costs of descriptors from %s", _place())
    if new:
        _log.info("not known there, and measured now: %s", ", ".join(descriptor.name for descriptor in new))
        calibrate(new, costs, timer)
        save_costs(costs)
    return costs


def save_costs(costs: CostModel) -> None:
    """Keep what was measured for the next run, where there is a place to keep it."""
    with suppress(OutputError):
        costs.save(_place())


def calibrate(
    descriptors: Sequence[Descriptor], costs: CostModel, timer: Callable[[], float] = time.perf_counter
) -> None:
    """Time descriptors and their resources on small videos of two sizes."""
    scenes = [_street(size) for size in SIZES]
    for scene in scenes:
        warm_up(descriptors, scene)  # the first call at a size pays for memory too
        live = LiveDescriptors(scene, descriptors, costs, timer=timer)
        spread = np.linspace(0, len(scene.supervoxels) - 1, SAMPLE).astype(int)
        by_size = np.argsort(scene.supervoxels.graph.sizes)[spread]
        for regions in np.split(by_size, SAMPLE // TOGETHER):
            for descriptor in descriptors:
                live.compute_all(regions, descriptor.name)


def warm_up(descriptors: Sequence[Descriptor], scene: Scene | None = None) -> None:
    """Compile, or load from the cache, all that descriptors need, so that no clock pays for it."""
    scene = scene or _street((64, 48), n_frames=4)
    live = LiveDescriptors(scene, descriptors, CostModel())
    for descriptor in descriptors:
        live.compute(0, descriptor.name)
    price(scene, descriptors, live.costs)


def _street(size: tuple[int, int], n_frames: int = N_FRAMES) -> Scene:
    video, _ = render(0, n_frames, size)
    return Scene.of(video.frames, segment(video.frames, N_SUPERVOXELS, "fast"))


def _is_known(descriptor: Descriptor, costs: CostModel) -> bool:
    return descriptor.name in costs and all(resource.kind in costs for resource in descriptor.resources)


def _place() -> Path:
    return cache_folder() / FILE
