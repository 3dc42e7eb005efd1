"""Keeps resources up to a number of bytes and forgets those that were not used for longest."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Event, Lock

from budgetseg.descriptors.core import Key, Value

__all__ = ["ResourceCache"]


class ResourceCache:
    """Values by key, shared by threads: no value is made twice at the same time.

    Parameters
    ----------
    limit_bytes : the values kept take no more than this together

    Attributes
    ----------
    hits, misses : how often a value was there, and was not
    """

    def __init__(self, limit_bytes: int) -> None:
        self.limit_bytes = limit_bytes
        self.n_bytes = 0
        self.hits = 0
        self.misses = 0
        self._values: OrderedDict[Key, Value] = OrderedDict()
        self._making: dict[Key, Event] = {}
        self._lock = Lock()

    def __contains__(self, key: Key) -> bool:
        return key in self._values

    def __len__(self) -> int:
        return len(self._values)

    def peek(self, keys: Sequence[Key]) -> list[Value | None]:
        """The values that are there, None for the others; one lock for all, since most calls find everything."""
        with self._lock:
            values = [self._values.get(key) for key in keys]
            for key, value in zip(keys, values, strict=True):
                if value is not None:
                    self._values.move_to_end(key)
                    self.hits += 1
        return values

    def find(self, keys: Sequence[Key]) -> list[Value] | None:
        """The values if all are there, else None; what most calls ask, so as fast as it goes."""
        with self._lock:
            try:
                values = list(map(self._values.__getitem__, keys))
            except KeyError:
                return None
            use = self._values.move_to_end
            for key in keys:
                use(key)
            self.hits += len(keys)
        return values

    def is_in_the_making(self, key: Key) -> bool:
        """Whether a thread is making it now."""
        return key in self._making

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key, made if it is not there; waits where another thread is making it."""
        while (value := self.try_get(key, make)) is None:
            if others := self._making.get(key):
                others.wait()
        return value

    def try_get(self, key: Key, make: Callable[[], Value]) -> Value | None:
        """The same, but None where another thread is making it."""
        with self._lock:
            if key in self._values:
                self._values.move_to_end(key)
                self.hits += 1
                return self._values[key]
            if key in self._making:
                return None
            self._making[key] = Event()
            self.misses += 1
        try:
            value = make()
            self._keep(key, value)
            return value
        finally:
            self._making.pop(key).set()

    def _keep(self, key: Key, value: Value) -> None:
        """Store a value and forget the oldest ones; one that is too large alone is not stored at all."""
        if value.nbytes > self.limit_bytes:
            return
        with self._lock:
            self._values[key] = value
            self.n_bytes += value.nbytes
            while self.n_bytes > self.limit_bytes:
                _, oldest = self._values.popitem(last=False)
                self.n_bytes -= oldest.nbytes
