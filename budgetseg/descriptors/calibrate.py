"""Measure prices of descriptors on this machine, once, within seconds, on rendered streets."""

import logging
from collections.abc import Callable, Sequence

import numpy as np

from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.prices import price
from budgetseg.supervoxels import segment
from budgetseg.timing.prices import Prices

__all__ = ["calibrate", "calibrate_new", "known_prices", "warm_up"]

_log = logging.getLogger(__name__)

SIZES = ((160, 120), (480, 360))  # widths and heights of the streets; with two, prices by work can be fitted
N_FRAMES = 9  # of each street
N_SUPERVOXELS = 200  # of each street
SAMPLE = 240  # supervoxels that each descriptor is timed on
TOGETHER = 8  # of them at a time


def known_prices(descriptors: Sequence[Descriptor]) -> Prices:
    """The stored prices of this machine; descriptors without a price are timed now."""
    prices = Prices.load()
    if calibrate_new(descriptors, prices):
        prices.save()
    return prices


def calibrate_new(
    descriptors: Sequence[Descriptor],
    prices: Prices,
    timer: Callable[[], float] | None = None,
    scenes: Sequence[Scene] | None = None,
) -> bool:
    """Time the descriptors that have no price yet, as `calibrate` does. Returns whether there was one."""
    new = [descriptor for descriptor in descriptors if not _is_known(descriptor, prices)]
    if new:
        _log.info("descriptors without a price are timed: %s", ", ".join(descriptor.name for descriptor in new))
        calibrate(new, prices, timer, scenes)
    return bool(new)


def calibrate(
    descriptors: Sequence[Descriptor],
    prices: Prices,
    timer: Callable[[], float] | None = None,
    scenes: Sequence[Scene] | None = None,
) -> None:
    """Time descriptors and their resources.

    Parameters
    ----------
    descriptors : to time
    prices : that are updated
    timer : returns seconds, as in `LiveDescriptors`
    scenes : small videos; None for rendered streets of two sizes
    """
    for scene in [_street(size) for size in SIZES] if scenes is None else scenes:
        warm_up(descriptors, scene)  # the first call at a size also allocates memory
        live = LiveDescriptors(scene, descriptors, prices, timer=timer)
        spread = np.linspace(0, len(scene.supervoxels) - 1, SAMPLE).astype(int)
        by_size = np.argsort(scene.supervoxels.graph.sizes)[spread]
        for regions in np.split(by_size, SAMPLE // TOGETHER):
            for descriptor in descriptors:
                live.compute_all(regions, descriptor.name)


def warm_up(descriptors: Sequence[Descriptor], scene: Scene | None = None) -> None:
    """Compile all code that descriptors run, or load it from the cache, before a clock starts."""
    scene = scene or _street((64, 48), n_frames=4)
    live = LiveDescriptors(scene, descriptors, Prices())
    for descriptor in descriptors:
        live.compute(0, descriptor.name)
    price(scene, descriptors, live.prices)


def _street(size: tuple[int, int], n_frames: int = N_FRAMES) -> Scene:
    video, _ = render(0, n_frames, size)
    return Scene.of(video.frames, segment(video.frames, N_SUPERVOXELS, "fast"))


def _is_known(descriptor: Descriptor, prices: Prices) -> bool:
    return descriptor.name in prices and all(resource.kind in prices for resource in descriptor.resources)
