"""A cache of resources with a limit in bytes, from which the least recently used ones are removed."""

from collections import OrderedDict
from collections.abc import Callable, Sequence
from threading import Event, Lock

from budgetseg.descriptors.core import Key, Value

__all__ = ["ResourceCache"]


class ResourceCache:
    """Values by key, shared by threads: no value is made twice at the same time.

    Parameters
    ----------
    limit_bytes : size of all values together, at most

    Attributes
    ----------
    hits, misses : number of times that a value was found, and was not
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
        """The values that are in the cache, None for the others; under one lock, since most calls find all."""
        with self._lock:
            values = [self._values.get(key) for key in keys]
            for key, value in zip(keys, values, strict=True):
                if value is not None:
                    self._values.move_to_end(key)
                    self.hits += 1
        return values

    def find(self, keys: Sequence[Key]) -> list[Value] | None:
        """The values if all are in the cache, else None. Most calls come here, so it is as fast as possible."""
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
        """Whether a thread is making a value now."""
        return key in self._making

    def get(self, key: Key, make: Callable[[], Value]) -> Value:
        """The value of a key; it is made if it is not in the cache. Waits if another thread is making it."""
        while (value := self.try_get(key, make)) is None:
            if others := self._making.get(key):
                others.wait()
        return value

    def try_get(self, key: Key, make: Callable[[], Value]) -> Value | None:
        """The value of a key as from `get`, but None if another thread is making it."""
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
        """Store a value, and remove the least recently used ones; a value over the limit is not stored."""
        if value.nbytes > self.limit_bytes:
            return
        with self._lock:
            self._values[key] = value
            self.n_bytes += value.nbytes
            while self.n_bytes > self.limit_bytes:
                _, oldest = self._values.popitem(last=False)
                self.n_bytes -= oldest.nbytes
