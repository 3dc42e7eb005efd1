"""The slowdown: how much slower this process runs than it would alone, measured by the kernel's counts."""

import threading
from contextlib import suppress
from pathlib import Path

__all__ = ["Slowdown"]


class Slowdown:
    """Recent seconds per second of computing; 1 on an idle machine, and on systems whose kernel has no counts.

    Parameters
    ----------
    counts : file with the nanoseconds that the calling thread computed, and waited for a core (Linux)
    memory_s : seconds of computing and waiting that count; older ones fade

    Attributes
    ----------
    factor : seconds that pass for each second of computing
    """

    def __init__(self, counts: Path = Path("/proc/thread-self/schedstat"), memory_s: float = 0.3) -> None:
        self.factor = 1.0
        self._counts = counts
        self._memory_s = memory_s
        self._computed_s = 0.0
        self._waited_s = 0.0
        self._before: tuple[int, float, float] | None = None

    @property
    def waiting(self) -> float:
        """Share of its time that the thread waits for a core, 0 to 1."""
        return 1 - 1 / self.factor

    def look(self) -> None:
        """Read the kernel's counts of the calling thread, and update the factor by what changed since the last call."""
        with suppress(OSError, ValueError):
            computed_ns, waited_ns, _ = map(int, self._counts.read_text().split())
            now = (
                threading.get_native_id(),
                computed_ns / 1e9,
                waited_ns / 1e9,
            )  # get_ident() is reused soon
            before = self._before
            self._before = now
            if before is not None and before[0] == now[0]:
                self._add(now[1] - before[1], now[2] - before[2])

    def _add(self, computed_s: float, waited_s: float) -> None:
        kept = self._memory_s / (self._memory_s + computed_s + waited_s)
        self._computed_s = kept * self._computed_s + computed_s
        self._waited_s = kept * self._waited_s + waited_s
        # A single moment is little evidence: a tenth of the memory counts as time in which no other program ran.
        self.factor = 1 + self._waited_s / (self._computed_s + 0.1 * self._memory_s)
