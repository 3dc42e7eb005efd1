"""Compute all descriptors of a video, and measure what each of them costs."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from budgetseg.descriptors.core import Descriptor, Key, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.prices import needs_of
from budgetseg.descriptors.table import Costs
from budgetseg.timing.clock import thread_s
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Float64

__all__ = ["measure"]


def measure(
    scene: Scene,
    descriptors: Sequence[Descriptor],
    threads: int = 1,
    advance: Callable[[int], None] = lambda _: None,
    batch: int = 64,
) -> tuple[dict[str, Float32], Costs]:
    """Compute all descriptors. Returns values (N, length) by name, and costs in CPU seconds.

    Parameters
    ----------
    scene : the video and its supervoxels
    descriptors : to compute
    threads : to use
    advance : called with the number of supervoxels done
    batch : supervoxels between two calls of `advance`
    """
    live = LiveDescriptors(scene, descriptors, Prices(), timer=thread_s)
    n = len(scene.supervoxels)
    values = {descriptor.name: np.empty((n, descriptor.length), np.float32) for descriptor in descriptors}
    private_s = np.empty((n, len(descriptors)))
    shared_s: dict[Key, float] = {}

    def describe(start: int) -> int:
        end = min(start + batch, n)
        for region in range(start, end):
            for column, (name, rows) in enumerate(values.items()):
                spent = live.compute(region, name)
                rows[region] = spent.vector
                private_s[region, column] = spent.private_s
                for key, seconds in spent.shared_s.items():
                    shared_s.setdefault(key, seconds)  # a resource that was made a second time counts once
        return end - start

    with ThreadPoolExecutor(threads) as pool:
        for done in pool.map(describe, range(0, n, batch)):
            advance(done)  # here, since only one thread may call it
    return values, _costs(scene, descriptors, private_s, shared_s)


def _costs(scene: Scene, descriptors: Sequence[Descriptor], private_s: Float64, shared_s: Mapping[Key, float]) -> Costs:
    numbering, needs = needs_of(scene, descriptors)
    resource_s = np.zeros(len(numbering))
    for key, seconds in shared_s.items():
        resource_s[numbering.number(key)] = seconds
    return Costs(private_s, resource_s, needs.first, needs.items, numbering.counts)
