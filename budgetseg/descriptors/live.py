"""Descriptors of one video, computed when asked for, with what they cost."""

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
    """One descriptor of one supervoxel, and where its time went.

    Attributes
    ----------
    vector : (length,) float32
    private_s : seconds of its own
    shared_s : seconds of each resource that had to be made for it
    waited_s : seconds for other threads that were making one
    """

    vector: Float32
    private_s: float
    shared_s: dict[Key, float]
    waited_s: float = 0.0

    @property
    def total_s(self) -> float:
        """What the call cost, waiting left out."""
        return self.private_s + sum(self.shared_s.values())


@dataclass(frozen=True, eq=False)
class SpentTogether:
    """One descriptor of several supervoxels, and where its time went.

    Attributes
    ----------
    vectors : (K, length) float32
    took_s : seconds in all
    bills : of those for which a resource had to be made or waited for, by their place
    """

    vectors: Float32
    took_s: float
    bills: "dict[int, _Bill]"

    @property
    def private_s(self) -> float:
        """Seconds of its own that each took, in the mean."""
        elsewhere_s = sum(bill.total_s for bill in self.bills.values())
        return max(self.took_s - elsewhere_s, 0.0) / len(self.vectors)

    def one(self, k: int) -> Spent:
        """One of them."""
        bill = self.bills.get(k, _Bill({}))
        return Spent(self.vectors[k], self.private_s, bill.made_s, bill.waited_s)


class LiveDescriptors:
    """The descriptors of a scene on demand.

    Parameters
    ----------
    scene : the video and its supervoxels
    descriptors : those that may be asked for
    prices : predicts what a call will cost, and learns from what it did cost
    limit_bytes : of the resources kept
    timer : seconds, of a clock, or `thread_s` where other programs must not be counted

    Attributes
    ----------
    resources : that the descriptors need, by kind
    late : asked before a resource is made; where it is so, the call ends with LateError, as when making it is cut off,
        and what was made is kept
    left_behind : threads of which nobody waits for the answer: nothing is learned from how long they take
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
        """Seconds that a descriptor of a supervoxel would cost now: its own, and the resources that are not there."""
        private_s = self.prices.predict(name, float(self._works_of(name)[region]))
        return private_s + sum(self._price(key) for key in self.missing(region, name))

    def missing(self, region: int, name: str) -> list[Key]:
        """The resources that a call would have to make, each before those that need it."""
        found: dict[Key, None] = {}
        self._collect(self.descriptors[name].needs(self.scene, region), found)
        return list(found)

    def compute(self, region: int, name: str) -> Spent:
        """One descriptor of one supervoxel."""
        return self.compute_all(np.array([region]), name).one(0)

    def compute_all(self, regions: Int64, name: str) -> SpentTogether:
        """One descriptor of several supervoxels, (K,); only of the first, where there is no time for the others."""
        descriptor, scene = self.descriptors[name], self.scene
        bills: dict[int, _Bill] = {}
        inputs: list[list[Value]] = []
        started = self._timer()
        for k, region in enumerate(regions.tolist()):
            keys = descriptor.needs(scene, region)
            own = self.cache.find(keys) if keys else []
            if own is None:
                bills[k] = _Bill({})
                try:
                    own = self._fetch(keys, bills[k])
                except LateError:
                    if k == 0:
                        raise
                    regions = regions[:k]
                    break
            inputs.append(own)
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
            # What another thread is making comes last: two that need the same share the work instead of waiting.
            free = [k for k in missing if not self.cache.is_in_the_making(keys[k])]
            k = (free or missing)[0]
            values[k] = self._get(keys[k], bill, wait=not free)
            if values[k] is not None:
                missing.remove(k)
        return values  # type: ignore[return-value]

    def _get(self, key: Key, bill: "_Bill", wait: bool) -> Value | None:
        """One resource; if it had to be made here, its time goes on the bill, else the time we waited for it.

        None where another thread is making it, and we do not wait.
        """
        if self.late():
            raise LateError
        kind, index = self.resources[key[0]], key[1]
        own: _Bill | None = None

        def make() -> Value:
            nonlocal own
            own = _Bill({})
            return kind.make(self.scene, index, self._fetch(kind.needs(self.scene, index), own))

        started = self._timer()
        try:
            value = self.cache.get(key, make) if wait else self.cache.try_get(key, make)
        except LateError:  # cut off: it takes at least so long
            if own is not None and (took_s := own.rest_of(self._timer() - started)) > self._price(key):
                self._observe(kind.kind, kind.work(self.scene, index), took_s)
            raise
        spent_s = self._timer() - started
        if own is None:
            bill.waited_s += spent_s
        else:
            made_s = own.rest_of(spent_s)
            self._observe(kind.kind, kind.work(self.scene, index), made_s)
            bill.add(own, key, made_s)
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
    """Where the time of a call went: resources made, and waiting for other threads that were making one."""

    made_s: dict[Key, float]
    waited_s: float = 0.0

    @property
    def total_s(self) -> float:
        """Seconds on the bill."""
        return sum(self.made_s.values()) + self.waited_s

    def rest_of(self, spent_s: float) -> float:
        """Seconds that are not on the bill."""
        return max(spent_s - self.total_s, 0.0)

    def add(self, other: "_Bill", key: Key, made_s: float) -> None:
        """Take over another bill and the resource that it was for."""
        for made, seconds in {**other.made_s, key: made_s}.items():
            # With little room, what was forgotten during the call is made and paid again.
            self.made_s[made] = self.made_s.get(made, 0.0) + seconds
        self.waited_s += other.waited_s
