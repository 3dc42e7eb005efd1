"""Descriptors of one video, computed on demand, with the time that they take."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from budgetseg.descriptors.cache import ResourceCache
from budgetseg.descriptors.core import Descriptor, Key, Resource, Scene, Value
from budgetseg.timing.clock import WallClock
from budgetseg.timing.deadline import LateError
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Float64, Int64

__all__ = ["LiveDescriptors", "Spent", "SpentTogether"]


@dataclass(frozen=True, eq=False)
class Spent:
    """A descriptor of one supervoxel, and the time it took.

    Attributes
    ----------
    vector : (length,) float32
    private_s : seconds without resources
    shared_s : seconds of each resource that had to be made for it
    waited_s : seconds of waiting for other threads that made one
    """

    vector: Float32
    private_s: float
    shared_s: dict[Key, float]
    waited_s: float = 0.0

    @property
    def total_s(self) -> float:
        """Seconds of the call, without waiting."""
        return self.private_s + sum(self.shared_s.values())


@dataclass(frozen=True, eq=False)
class SpentTogether:
    """A descriptor of several supervoxels, and the time it took.

    Attributes
    ----------
    vectors : (K, length) float32
    took_s : seconds in all
    bills : time for resources of the supervoxels for which one had to be made or waited for, by their place
    """

    vectors: Float32
    took_s: float
    bills: "dict[int, _Bill]"

    @property
    def private_s(self) -> float:
        """Mean seconds of a supervoxel, without resources."""
        elsewhere_s = sum(bill.total_s for bill in self.bills.values())
        return max(self.took_s - elsewhere_s, 0.0) / len(self.vectors)

    def one(self, k: int) -> Spent:
        """The result of the k-th supervoxel."""
        bill = self.bills.get(k, _Bill({}))
        return Spent(self.vectors[k], self.private_s, bill.made_s, bill.waited_s)


class LiveDescriptors:
    """Computes descriptors of a scene on demand.

    Parameters
    ----------
    scene : the video and its supervoxels
    descriptors : that may be computed
    prices : predicts the cost of calls, and is updated by their measured times
    limit_bytes : size of the resources that are kept, at most
    timer : returns seconds of a clock, or of `thread_s` if other programs must not count

    Attributes
    ----------
    resources : that the descriptors need, by kind
    late : called before a resource is made; if it returns True, the call ends with LateError, as if making the resource
        was cut off; resources that were made are kept
    left_behind : numbers of abandoned threads, whose times do not change prices
    """

    def __init__(
        self,
        scene: Scene,
        descriptors: Sequence[Descriptor],
        prices: Prices,
        limit_bytes: int = 1 << 30,
        timer: Callable[[], float] | None = None,
    ) -> None:
        self.scene = scene
        self.descriptors = {descriptor.name: descriptor for descriptor in descriptors}
        self.prices = prices
        self.cache = ResourceCache(limit_bytes)
        self.resources = {kind.kind: kind for descriptor in descriptors for kind in descriptor.resources}
        self._works: dict[str, Float64] = {}
        self._timer = timer or WallClock().now_s
        self.late: Callable[[], bool] = lambda: False
        self.left_behind: set[int] = set()

    def cost(self, region: int, name: str) -> float:
        """Predicted seconds of a descriptor of a supervoxel now, with the resources that are not in the cache."""
        private_s = self.prices.predict(name, float(self._works_of(name)[region]))
        return private_s + sum(self._price(key) for key in self.missing(region, name))

    def missing(self, region: int, name: str) -> list[Key]:
        """The resources that a call would have to make, each before the ones that need it."""
        found: dict[Key, None] = {}
        self._collect(self.descriptors[name].needs(self.scene, region), found)
        return list(found)

    def compute(self, region: int, name: str) -> Spent:
        """Compute a descriptor of one supervoxel."""
        return self.compute_all(np.array([region]), name).one(0)

    def compute_all(self, regions: Int64, name: str) -> SpentTogether:
        """Compute a descriptor of several supervoxels, (K,); only of the first ones if time runs out."""
        descriptor = self.descriptors[name]
        scene = self.scene
        bills: dict[int, _Bill] = {}
        inputs: list[list[Value]] = []
        started = self._timer()
        for k, region in enumerate(regions.tolist()):
            keys = descriptor.needs(scene, region)
            values = self.cache.find(keys) if keys else []
            if values is None:
                bills[k] = _Bill({})
                try:
                    values = self._fetch(keys, bills[k])
                except LateError:
                    if k == 0:
                        raise
                    regions = regions[:k]
                    break
            inputs.append(values)
        vectors = descriptor.compute_all(scene, regions, inputs)
        spent = SpentTogether(vectors, self._timer() - started, bills)
        self._observe(name, float(self._works_of(name)[regions].sum()) / len(regions), spent.private_s, len(regions))
        return spent

    def _observe(self, name: str, work: float, seconds: float, n: int = 1) -> None:
        if threading.get_ident() not in self.left_behind:
            self.prices.observe_calls(name, work, seconds, n)

    def _works_of(self, name: str) -> Float64:
        works = self._works.get(name)
        if works is None:
            works = self._works[name] = self.descriptors[name].works(self.scene)
        return works

    def _fetch(self, keys: Sequence[Key], bill: "_Bill") -> list[Value]:
        if not keys:
            return []
        values = self.cache.peek(keys)
        missing = [k for k, value in enumerate(values) if value is None]
        while missing:
            # Values that another thread is making come last: threads that need the same ones then share the work.
            free = [k for k in missing if not self.cache.is_in_the_making(keys[k])]
            k = (free or missing)[0]
            values[k] = self._get(keys[k], bill, wait=not free)
            if values[k] is not None:
                missing.remove(k)
        return values  # type: ignore[return-value]

    def _get(self, key: Key, bill: "_Bill", wait: bool) -> Value | None:
        """The value of a resource. The time to make it, or to wait for another thread, is added to the bill.

        Returns None if another thread is making it and `wait` is False.
        """
        if self.late():
            raise LateError
        kind = self.resources[key[0]]
        index = key[1]
        needs_bill: _Bill | None = None

        def make() -> Value:
            nonlocal needs_bill
            needs_bill = _Bill({})
            return kind.make(self.scene, index, self._fetch(kind.needs(self.scene, index), needs_bill))

        started = self._timer()
        try:
            value = self.cache.get(key, make) if wait else self.cache.try_get(key, make)
        except LateError:  # it was cut off, and would have taken at least this long
            if needs_bill is not None and (took_s := needs_bill.rest_of(self._timer() - started)) > self._price(key):
                self._observe(kind.kind, kind.work(self.scene, index), took_s)
            raise
        spent_s = self._timer() - started
        if needs_bill is None:
            bill.waited_s += spent_s
        else:
            made_s = needs_bill.rest_of(spent_s)
            self._observe(kind.kind, kind.work(self.scene, index), made_s)
            bill.add(needs_bill, key, made_s)
        return value

    def _collect(self, keys: Sequence[Key], found: dict[Key, None]) -> None:
        for key in keys:
            if key not in self.cache and key not in found:
                self._collect(self.resources[key[0]].needs(self.scene, key[1]), found)
                found[key] = None

    def _price(self, key: Key) -> float:
        kind: Resource = self.resources[key[0]]
        return self.prices.predict(kind.kind, kind.work(self.scene, key[1]))


@dataclass
class _Bill:
    """The time of a call for resources: those that were made, and waiting for other threads that made one."""

    made_s: dict[Key, float]
    waited_s: float = 0.0

    @property
    def total_s(self) -> float:
        """Seconds on the bill."""
        return sum(self.made_s.values()) + self.waited_s

    def rest_of(self, spent_s: float) -> float:
        """The part of `spent_s` seconds that is not on the bill."""
        return max(spent_s - self.total_s, 0.0)

    def add(self, other: "_Bill", key: Key, made_s: float) -> None:
        """Add another bill, and the resource that it was for."""
        for made, seconds in {**other.made_s, key: made_s}.items():
            # With a small cache, a value may be removed during the call and made a second time.
            self.made_s[made] = self.made_s.get(made, 0.0) + seconds
        self.waited_s += other.waited_s
