"""All descriptors of a video with what each of them costs, measured while they are computed."""

import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from budgetseg.descriptors.core import Descriptor, Key, Scene
from budgetseg.descriptors.costs import CostModel
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.table import Costs
from budgetseg.types import Float32, Float64, Int32, Int64

__all__ = ["measure"]

BATCH = 64  # supervoxels between two reports


def measure(
    scene: Scene,
    descriptors: Sequence[Descriptor],
    threads: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> tuple[dict[str, Float32], Costs]:
    """Values (N, length) by name, and costs in CPU seconds; `advance` is told of every few supervoxels."""
    live = LiveDescriptors(scene, descriptors, CostModel(), timer=time.thread_time)
    n = len(scene.supervoxels)
    values = {descriptor.name: np.empty((n, descriptor.length), np.float32) for descriptor in descriptors}
    private_s = np.empty((n, len(descriptors)))
    shared_s: dict[Key, float] = {}

    def describe(start: int) -> int:
        end = min(start + BATCH, n)
        for region in range(start, end):
            for column, (name, rows) in enumerate(values.items()):
                spent = live.compute(region, name)
                rows[region], private_s[region, column] = spent.vector, spent.private_s
                for key, seconds in spent.shared_s.items():
                    shared_s.setdefault(key, seconds)  # one that was forgotten and made again counts once
        return end - start

    with ThreadPoolExecutor(threads) as pool:
        for done in pool.map(describe, range(0, n, BATCH)):
            advance(done)  # here, since only one thread at a time may tell
    return values, _costs(scene, descriptors, private_s, shared_s)


def _costs(scene: Scene, descriptors: Sequence[Descriptor], private_s: Float64, shared_s: Mapping[Key, float]) -> Costs:
    resources = {kind.kind: kind for descriptor in descriptors for kind in descriptor.resources}
    kinds = {name: kind.count(scene) for name, kind in resources.items()}
    offsets = dict(zip(kinds, np.cumsum([0, *kinds.values()])[:-1].tolist(), strict=True))
    resource_s = np.zeros(sum(kinds.values()))
    for (kind, index), seconds in shared_s.items():
        resource_s[offsets[kind] + index] = seconds
    first, needed = _needs(scene, descriptors, offsets)
    return Costs(private_s, resource_s, first, needed, kinds)


def _needs(scene: Scene, descriptors: Sequence[Descriptor], offsets: Mapping[str, int]) -> tuple[Int64, Int32]:
    """Resources of every supervoxel and descriptor, those behind them included."""
    asking = LiveDescriptors(scene, descriptors, CostModel(), limit_bytes=0)
    lists = [
        [offsets[kind] + index for kind, index in asking.missing(region, descriptor.name)]
        for region in range(len(scene.supervoxels))
        for descriptor in descriptors
    ]
    first = np.cumsum([0, *map(len, lists)], dtype=np.int64)
    needed = np.array([index for needs in lists for index in needs], np.int32)
    return first, needed
