"""How long a thread waits for a core that others use, as the kernel counts it."""

import threading
from contextlib import suppress
from pathlib import Path

__all__ = ["Contention"]

COUNTS = Path("/proc/thread-self/schedstat")  # nanoseconds computed, and waited for a core; not on every system
MEMORY_S = 0.3  # of computing and waiting; what lies further back hardly counts


class Contention:
    """How much slower than alone a thread is; 1 where nothing is known.

    Attributes
    ----------
    stretch : seconds that pass for each second of computing, lately
    """

    def __init__(self) -> None:
        self.stretch = 1.0
        self._computed_s = self._waited_s = 0.0
        self._before: tuple[int, float, float] | None = None

    @property
    def waiting(self) -> float:
        """Share of its time that the thread waits for a core; none on an idle machine."""
        return 1 - 1 / self.stretch

    def look(self) -> None:
        """Take in what has happened to the calling thread since it looked last."""
        with suppress(OSError, ValueError):
            computed_ns, waited_ns, _ = map(int, COUNTS.read_text().split())
            now = threading.get_ident(), computed_ns / 1e9, waited_ns / 1e9
            before, self._before = self._before, now
            if before is not None and before[0] == now[0]:
                self._add(now[1] - before[1], now[2] - before[2])

    def _add(self, computed_s: float, waited_s: float) -> None:
        kept = MEMORY_S / (MEMORY_S + computed_s + waited_s)
        self._computed_s = kept * self._computed_s + computed_s
        self._waited_s = kept * self._waited_s + waited_s
        # A moment alone tells little: it counts as time in which nobody was in the way.
        self.stretch = 1 + self._waited_s / (self._computed_s + 0.1 * MEMORY_S)
