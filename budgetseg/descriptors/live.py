"""Descriptors of one video, computed when asked for, with what they cost."""

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from budgetseg.descriptors.cache import ResourceCache
from budgetseg.descriptors.core import Descriptor, Key, Resource, Scene, Value
from budgetseg.descriptors.costs import CostModel
from budgetseg.types import Float32

__all__ = ["LiveDescriptors", "Spent"]


@dataclass(frozen=True, eq=False)
class Spent:
    """One descriptor of one supervoxel, and where its time went.

    Attributes
    ----------
    vector : (length,) float32
    private_s : seconds of its own
    shared_s : seconds of each resource that had to be made for it
    """

    vector: Float32
    private_s: float
    shared_s: dict[Key, float]

    @property
    def total_s(self) -> float:
        """What the call cost."""
        return self.private_s + sum(self.shared_s.values())


class LiveDescriptors:
    """The descriptors of a scene on demand.

    Parameters
    ----------
    scene : the video and its supervoxels
    descriptors : those that may be asked for
    costs : predicts what a call will cost, and learns from what it did cost
    limit_bytes : of the resources kept
    timer : seconds; `time.thread_time` where other programs must not be counted
    """

    def __init__(
        self,
        scene: Scene,
        descriptors: Sequence[Descriptor],
        costs: CostModel,
        limit_bytes: int = 1 << 30,
        timer: Callable[[], float] = time.perf_counter,
    ) -> None:
        self.scene = scene
        self.descriptors = {descriptor.name: descriptor for descriptor in descriptors}
        self.costs = costs
        self.cache = ResourceCache(limit_bytes)
        self._resources = {kind.kind: kind for descriptor in descriptors for kind in descriptor.resources}
        self._timer = timer

    def cost(self, region: int, name: str) -> float:
        """Seconds that a descriptor of a supervoxel would cost now: its own, and the resources that are not there."""
        descriptor = self.descriptors[name]
        private_s = self.costs.predict(name, descriptor.work(self.scene, region))
        return private_s + sum(self._price(key) for key in self.missing(region, name))

    def missing(self, region: int, name: str) -> list[Key]:
        """The resources that a call would have to make, each before those that need it."""
        found: dict[Key, None] = {}
        self._collect(self.descriptors[name].needs(self.scene, region), found)
        return list(found)

    def compute(self, region: int, name: str) -> Spent:
        """One descriptor of one supervoxel."""
        descriptor = self.descriptors[name]
        shared_s: dict[Key, float] = {}
        started = self._timer()
        inputs = self._fetch(descriptor.needs(self.scene, region), shared_s)
        vector = descriptor.compute(self.scene, region, inputs)
        private_s = max(self._timer() - started - sum(shared_s.values()), 0.0)
        self.costs.observe(name, descriptor.work(self.scene, region), private_s)
        return Spent(vector, private_s, shared_s)

    def _fetch(self, keys: Sequence[Key], shared_s: dict[Key, float]) -> list[Value]:
        if not keys:
            return []
        there = zip(keys, self.cache.peek(keys), strict=True)
        return [self._get(key, shared_s) if value is None else value for key, value in there]

    def _get(self, key: Key, shared_s: dict[Key, float]) -> Value:
        """One resource; if it had to be made here, and not by another thread meanwhile, its time goes on the bill."""
        kind, index = self._resources[key[0]], key[1]
        bill: dict[Key, float] = {}

        def make() -> Value:
            value = kind.make(self.scene, index, self._fetch(kind.needs(self.scene, index), bill))
            bill[key] = 0.0
            return value

        started = self._timer()
        value = self.cache.get(key, make)
        if key in bill:
            bill[key] = max(self._timer() - started - sum(bill.values()), 0.0)
            self.costs.observe(kind.kind, kind.work(self.scene, index), bill[key])
            for made, seconds in bill.items():  # little room: what was forgotten during the call is made and paid again
                shared_s[made] = shared_s.get(made, 0.0) + seconds
        return value

    def _collect(self, keys: Sequence[Key], found: dict[Key, None]) -> None:
        for key in keys:
            if key not in self.cache and key not in found:
                self._collect(self._resources[key[0]].needs(self.scene, key[1]), found)
                found[key] = None

    def _price(self, key: Key) -> float:
        kind: Resource = self._resources[key[0]]
        return self.costs.predict(kind.kind, kind.work(self.scene, key[1]))
