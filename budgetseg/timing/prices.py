"""Prices: predicted seconds by name and amount of work, learned from measurements on this machine.

Two kinds of work are priced. A *stage* is long and rare (decoding, painting, a network on a frame): it has a rate,
seconds = b · work, from the last few times. A *call* is short and frequent (a descriptor of a supervoxel): it has a
line, seconds = a + b · work, fitted to the last hundred calls. Both are prices of an idle machine. How busy it is now
is one factor on all of them, the slowdown.
"""

import json
import logging
import math
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import TypeVar

import numpy as np
from numba import njit

import budgetseg.compiling  # noqa: F401 - before anything is compiled
from budgetseg.checked import Limits, read_json
from budgetseg.errors import OutputError
from budgetseg.files import atomic_file
from budgetseg.machine import cache_folder, cpu_model
from budgetseg.timing.slowdown import Slowdown
from budgetseg.types import Float64

__all__ = ["Learning", "Prices"]

_log = logging.getLogger(__name__)

FORMAT = 4  # of the file; it also changes when work is counted in other units, since old prices would not fit
FILE = "prices.json"

# A line as compiled code uses it: a and b, the number of calls, their fading sums for least squares on relative errors,
# the largest work of a call, the mean relative error.
FIELDS = ("a", "b", "n", "ones", "works", "squares", "seconds", "products", "most", "error")
A, B, N, ONES, WORKS, SQUARES, SECONDS, PRODUCTS, MOST, ERROR = range(10)

Work = TypeVar("Work", float, Float64)


@dataclass(frozen=True)
class Learning:
    """How prices follow measurements.

    Attributes
    ----------
    stage_weight : weight of the last time of a stage; the earlier ones share the rest, since a run has only a few
    first_weight : the same for the first time of a stage in a run: videos differ more than one moment from another
    freed_weight, freed_times : weight if a stage took this many times less than its price, which was then learned while
        other programs used the machine; the slowdown explains that only in part
    call_kept : share of the weight of earlier calls that is kept at each new one: about the last hundred count
    enough, tolerated : calls, at least, and mean relative error, at most, of a reliable line
    outlier, first_outlier : calls are clipped to this many times more or less than predicted, by a reliable line and by
        any other
    beyond : calls with more than this many times the largest work so far are not clipped, since the line cannot predict
        them
    least_s : seconds below which calls differ only by the resolution of the clock
    """

    stage_weight: float = 0.35
    first_weight: float = 0.75
    freed_weight: float = 0.75
    freed_times: float = 1.5
    call_kept: float = 0.99
    enough: int = 10
    tolerated: float = 0.5
    outlier: float = 1.5
    first_outlier: float = 10.0
    beyond: float = 1.5
    least_s: float = 1e-7


class Prices:
    """Seconds by name and amount of work; kept in a file between runs.

    Parameters
    ----------
    rates : of stages by name, seconds per unit of work
    lines : of calls by name, arrays as `FIELDS`
    frozen : whether nothing is learned and the slowdown stays 1, so that runs can be repeated exactly
    learning : how fast prices follow measurements; None for the default

    Attributes
    ----------
    slowdown : how much slower than its prices all work is now
    """

    def __init__(
        self,
        rates: dict[str, float] | None = None,
        lines: dict[str, Float64] | None = None,
        frozen: bool = False,
        learning: Learning | None = None,
    ) -> None:
        self.frozen = frozen
        self.slowdown = Slowdown()
        self._rates = dict(rates or {})
        self._lines = dict(lines or {})
        self._learning = learning or Learning()
        calls = self._learning
        self._call_settings = np.array(
            [
                calls.call_kept,
                calls.enough,
                calls.tolerated,
                calls.outlier,
                calls.first_outlier,
                calls.beyond,
                calls.least_s,
            ]
        )
        self._lock = Lock()
        self._machine: Prices | None = None
        self._seen: set[str] = set()

    def for_run(self) -> "Prices":
        """Prices of one run: they begin with these, soon follow what this video takes, and teach these slowly."""
        own = Prices(self._rates, frozen=self.frozen, learning=self._learning)
        own.slowdown = self.slowdown
        own._lines = self._lines
        own._lock = self._lock
        own._machine = self
        return own

    def __contains__(self, name: str) -> bool:
        return name in self._rates or name in self._lines

    def predict(self, name: str, work: float) -> float:
        """Predicted seconds of an amount of work on this machine, as busy as it is now; 0 without a price."""
        return self.slowdown.factor * self.usual(name, work)

    def usual(self, name: str, work: Work) -> Work:
        """Predicted seconds of an amount of work, or of an array of them, on an idle machine; 0 without a price."""
        line = self._lines.get(name)
        if line is not None:
            return line.item(A) + line.item(B) * work
        return self._rates.get(name, 0.0) * work

    def observe_stage(self, name: str, work: float, seconds: float) -> None:
        """Update the rate of a stage that did `work` in `seconds`."""
        if self.frozen:
            return
        rate = max(seconds / self.slowdown.factor, self._learning.least_s) / max(work, 1.0)
        before = self._rates.get(name, rate)
        weight = self._learning.stage_weight
        if self._machine is not None:
            self._machine.observe_stage(name, work, seconds)
            if name not in self._seen:
                weight = self._learning.first_weight
            self._seen.add(name)
        if self._learning.freed_times * rate < before:
            weight = self._learning.freed_weight
        self._rates[name] = math.exp((1 - weight) * math.log(before) + weight * math.log(rate))

    def observe_calls(self, name: str, work: float, seconds: float, n: int = 1) -> None:
        """Update the line of a call by n calls with a mean of `work` and `seconds` each."""
        if self.frozen or n < 1:
            return
        with self._lock:
            line = self._lines.get(name)
            if line is None:
                line = self._lines[name] = np.zeros(len(FIELDS))
            _learn(line, float(work), float(seconds) / self.slowdown.factor, self._call_settings)

    def look(self) -> None:
        """Measure how busy the machine is, by the calling thread."""
        if not self.frozen:
            self.slowdown.look()

    def forget_calls(self, other: "Prices") -> None:
        """Replace the lines of all calls by copies of those of other prices."""
        self._lines = {name: line.copy() for name, line in other._lines.items()}

    def freeze(self) -> "Prices":
        """A copy of these prices that learns nothing."""
        return Prices(self._rates, {name: line.copy() for name, line in self._lines.items()}, frozen=True)

    def save(self, folder: Path | None = None) -> None:
        """Save prices for later runs, in the cache if no folder is given; nothing if the folder cannot be written."""
        with self._lock:
            lines = {name: dict(zip(FIELDS, line.tolist(), strict=True)) for name, line in sorted(self._lines.items())}
        stored = {"format": FORMAT, "cpu": cpu_model(), "stages": self._rates, "calls": lines}
        with suppress(OutputError, OSError), atomic_file((folder or cache_folder()) / FILE) as part:
            part.write_text(json.dumps(stored, indent=1) + "\n")

    @classmethod
    def load(cls, folder: Path | None = None) -> "Prices":
        """Load the prices of this machine; empty ones if the file is missing, damaged or from another machine."""
        path = (folder or cache_folder()) / FILE
        try:
            stored = read_json(path)
            rates = {str(name): float(rate) for name, rate in stored["stages"].items()}
            lines = {str(name): _read_line(line) for name, line in stored["calls"].items()}
            is_valid = all(0 < rate < Limits.seconds for rate in rates.values())
            if is_valid and stored["format"] == FORMAT and stored["cpu"] == cpu_model():
                _log.info("%d prices from %s", len(rates) + len(lines), path)
                return cls(rates, lines)
        except FileNotFoundError:
            pass
        except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
            _log.warning("'%s' cannot be used (%s: %s); prices are measured again", path, type(error).__name__, error)
        _log.info("no prices of this machine in %s", path)
        return cls()


def _read_line(stored: dict[str, float]) -> Float64:
    if stored.keys() != set(FIELDS) or not all(0 <= value < math.inf for value in stored.values()):
        raise ValueError("a line must have all its fields, none negative or infinite")
    return np.array([stored[field] for field in FIELDS], np.float64)


@njit(cache=True, nogil=True)
def _learn(line, work, seconds, settings):  # type: ignore[no-untyped-def]
    """Add a call to a line, and fit it again; `settings` are the fields of `Learning` for calls."""
    kept, enough, tolerated, outlier, first_outlier, beyond, least_s = settings
    predicted = line[A] + line[B] * work
    error = min(abs(seconds - predicted) / max(predicted, least_s), 1.0)
    scale = seconds
    if line[N] and work <= beyond * line[MOST]:
        is_reliable = line[N] >= enough and line[ERROR] <= tolerated
        limit = outlier if is_reliable else first_outlier
        seconds = min(max(seconds, predicted / limit), max(predicted, least_s) * limit)
        # If the line is much too high, errors relative to it would hardly count.
        scale = predicted if seconds >= predicted / outlier else seconds
    scale = 1 / max(scale, least_s) ** 2
    line[ONES : PRODUCTS + 1] *= kept
    line[ONES] += scale
    line[WORKS] += scale * work
    line[SQUARES] += scale * work * work
    line[SECONDS] += scale * seconds
    line[PRODUCTS] += scale * work * seconds
    line[N] += 1
    line[MOST] = max(line[MOST], work)
    line[ERROR] += (error - line[ERROR]) * max(1 - kept, 1 / line[N])
    line[A], line[B] = _fit(line)


@njit(cache=True, nogil=True)
def _fit(line):  # type: ignore[no-untyped-def]
    """Fit a and b of a line by weighted least squares, neither below zero."""
    spread = line[ONES] * line[SQUARES] - line[WORKS] ** 2
    slope = line[ONES] * line[PRODUCTS] - line[WORKS] * line[SECONDS]
    if spread <= 1e-6 * line[ONES] * line[SQUARES] or slope < 0:
        return line[SECONDS] / line[ONES], 0.0  # all calls have one amount of work, or noise hides the slope: the mean
    a = (line[SECONDS] - slope / spread * line[WORKS]) / line[ONES]
    return (a, slope / spread) if a >= 0 else (0.0, line[PRODUCTS] / line[SQUARES])
