"""What descriptors and resources cost on this machine.

Two things are learned from what calls did cost. What lasts is a line for each name, seconds = a + b · work, newer calls
counting more. What passes is the pace: how many times the usual seconds everything takes, for example while another
program has a share of the processor. Either would explain the same seconds, so one of them stands still. The pace is 1
and the lines learn, until a few stretches of work in a row took clearly more or less than usual. Then the lines go back
to what they were before these, and the pace follows, for all names alike, until it is 1 again or has lasted.
"""

import json
import math
from collections import deque
from pathlib import Path
from statistics import fmean
from threading import Lock
from typing import TypeVar

import numpy as np
from numba import njit

from budgetseg.files import atomic_file
from budgetseg.machine import cpu_model
from budgetseg.types import Float64

__all__ = ["CostModel"]

FORMAT = 6  # also when a descriptor counts its work in other units: old lines would not fit
KEPT = 0.99  # of the weight of a call when the next one comes: about the last hundred, or batches of them, count
ENOUGH, TOLERATED = 10, 0.5  # calls at least, and mean relative error at most, of a line that can be relied on
FAR_OFF, FAR_OFF_AT_FIRST = 1.5, 10.0  # times what a line says is taken for an accident: a reliable one, and any other
BEYOND = 1.5  # times the most work so far: of so much more the line knows nothing, and nothing is far off
LEAST = 1e-7  # seconds; below it calls differ by the clock alone

STRETCH_S = 0.02  # usual seconds of work that are looked at together: other programs take turns of milliseconds
N_STRETCHES = 5  # of which the pace is the mean, less the highest and the lowest: a single accident is nothing
LEAVE, RETURN = 1.35, 1.15  # times more or less than usual: no longer pace 1, and again; cold caches do less than that
EXTREME = 32.0  # no pace is beyond
LASTING_S = 10.0  # usual seconds of work after which a pace has lasted: it becomes the usual one

# A line, as compiled code sees it: a and b, the calls, their fading sums by least squares on relative errors, the most
# work of a call, the mean relative error. A stretch: the usual seconds of those calls that a reliable line speaks of,
# the seconds that they took, and its length in usual seconds.
FIELDS = ("a", "b", "n", "ones", "works", "squares", "seconds", "products", "most", "error")
A, B, N, ONES, WORKS, SQUARES, SECONDS, PRODUCTS, MOST, ERROR = range(10)
USUAL, TOOK, LENGTH = range(3)

_UNKNOWN: Float64 = np.zeros(len(FIELDS))

Work = TypeVar("Work", float, Float64)
Lines = dict[str, Float64]


class CostModel:
    """Seconds by name and amount of work, learned from calls; kept in a file between runs.

    Attributes
    ----------
    pace : how many times the usual seconds everything takes now; never kept
    """

    def __init__(self, lines: Lines | None = None) -> None:
        self.pace = 1.0
        self._lines: Lines = lines or {}
        self._lock = Lock()
        self._stretch = np.zeros(3)
        self._paces = deque([1.0] * N_STRETCHES, N_STRETCHES)  # of the last stretches
        self._before = deque([_copies(self._lines)] * N_STRETCHES, N_STRETCHES)  # the lines where each of them began
        self._lasted_s = 0.0

    def __contains__(self, name: str) -> bool:
        return name in self._lines

    def predict(self, name: str, work: float) -> float:
        """Seconds that so much work of a descriptor or resource will take; 0 for one that was never seen."""
        return self.pace * self.usual(name, work)

    def usual(self, name: str, work: Work) -> Work:
        """Seconds at pace 1, of one amount of work or of an array of them; 0 for one that was never seen."""
        line = self._lines.get(name)
        return 0.0 * work if line is None else line.item(A) + line.item(B) * work

    def observe(self, name: str, work: float, seconds: float, n: int = 1) -> None:
        """Learn from n calls, of so much work each, in the mean."""
        with self._lock:
            line = self._lines.get(name)
            if line is None:
                line = self._lines[name] = np.zeros(len(FIELDS))
            # The line of some stretches ago: where the machine has just become slower, the new one already knows.
            before = self._before[0].get(name, _UNKNOWN)
            if _observe(line, before, self._stretch, self.pace, float(work), float(seconds), n):
                self._end_stretch()

    def _end_stretch(self) -> None:
        usual_s, took_s, length_s = self._stretch.tolist()
        self._stretch[:] = 0
        if usual_s >= length_s / 2:  # else there is no telling what most of it usually takes
            self._paces.append(took_s / usual_s)
        pace = min(max(fmean(sorted(self._paces)[1:-1]), 1 / EXTREME), EXTREME)
        if self.pace != 1:
            self.pace = pace if _is_off(pace, RETURN) else 1.0
            self._lasted_s += usual_s
            if self._lasted_s >= LASTING_S:
                self._make_usual()
        elif _is_off(pace, LEAVE):
            self._leave_usual(pace)
        self._before.append(_copies(self._lines))

    def _leave_usual(self, pace: float) -> None:
        """Take up a pace, and take back what the lines have learned from it."""
        before, self.pace, self._lasted_s = self._before[0], pace, 0.0
        new = {name: _scaled(line, 1 / pace) for name, line in self._lines.items() if name not in before}
        self._lines = _copies(before) | new
        self._before.extend([before] * N_STRETCHES)

    def _make_usual(self) -> None:
        """Leave the pace to the lines."""
        self._lines = {name: _scaled(line, self.pace) for name, line in self._lines.items()}
        self._before.extend([_copies(self._lines)] * N_STRETCHES)
        self._paces.extend([pace / self.pace for pace in self._paces])
        self.pace = 1.0

    def save(self, path: Path) -> None:
        """Write what lasts of what was learned, as JSON."""
        with self._lock:
            lines = {name: dict(zip(FIELDS, line.tolist(), strict=True)) for name, line in sorted(self._lines.items())}
        with atomic_file(path) as part:
            part.write_text(json.dumps({"format": FORMAT, "cpu": cpu_model(), "lines": lines}, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> "CostModel":
        """What was learned on this machine; nothing where the file is missing, damaged or from another machine."""
        try:
            stored = json.loads(path.read_text())
            if stored["format"] == FORMAT and stored["cpu"] == cpu_model():
                return cls({name: _read_line(line) for name, line in stored["lines"].items()})
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # measured again in seconds
        return cls()


def _read_line(stored: dict[str, float]) -> Float64:
    if stored.keys() != set(FIELDS) or not all(0 <= value < math.inf for value in stored.values()):
        raise ValueError("a line must have all its fields, none negative or without end")
    return np.array([stored[field] for field in FIELDS], np.float64)


def _copies(lines: Lines) -> Lines:
    return {name: line.copy() for name, line in lines.items()}


def _scaled(line: Float64, factor: float) -> Float64:
    """The line of the same calls, had each taken so many times as long."""
    scaled = line.copy()
    scaled[[A, B]] *= factor
    scaled[[ONES, WORKS, SQUARES]] /= factor**2  # weights are of relative errors
    scaled[[SECONDS, PRODUCTS]] /= factor
    return scaled


def _is_off(pace: float, limit: float) -> bool:
    return not 1 / limit <= pace <= limit


@njit(cache=True, nogil=True)
def _is_reliable(line):  # type: ignore[no-untyped-def]
    return line[N] >= ENOUGH and line[ERROR] <= TOLERATED


@njit(cache=True, nogil=True)
def _observe(line, before, stretch, pace, work, seconds, n):  # type: ignore[no-untyped-def]
    """Add the mean of n calls to their line, and all of them to a stretch; whether the stretch ends with it."""
    if _is_reliable(before) and work <= BEYOND * before[MOST]:
        usual_s = max(before[A] + before[B] * work, LEAST)
        stretch[USUAL] += n * usual_s
        stretch[TOOK] += n * seconds
        stretch[LENGTH] += n * usual_s
    else:
        stretch[LENGTH] += n * seconds / pace
    # At another pace, the calls that nobody interrupts take what they always took: a line would follow these.
    if pace == 1 or not _is_reliable(line):
        _learn(line, work, seconds / pace)
    return stretch[LENGTH] >= STRETCH_S


@njit(cache=True, nogil=True)
def _learn(line, work, seconds):  # type: ignore[no-untyped-def]
    """Add a call to a line; its sums fade by `KEPT`."""
    predicted = line[A] + line[B] * work
    error = min(abs(seconds - predicted) / max(predicted, LEAST), 1.0)
    scale = seconds
    if line[N] and work <= BEYOND * line[MOST]:
        far_off = FAR_OFF if _is_reliable(line) else FAR_OFF_AT_FIRST
        seconds = min(max(seconds, predicted / far_off), max(predicted, LEAST) * far_off)
        # Of a line that is much too high, errors would hardly count.
        scale = predicted if seconds >= predicted / FAR_OFF else seconds
    scale = 1 / max(scale, LEAST) ** 2
    line[ONES : PRODUCTS + 1] *= KEPT
    line[ONES] += scale
    line[WORKS] += scale * work
    line[SQUARES] += scale * work * work
    line[SECONDS] += scale * seconds
    line[PRODUCTS] += scale * work * seconds
    line[N], line[MOST] = line[N] + 1, max(line[MOST], work)
    line[ERROR] += (error - line[ERROR]) * max(1 - KEPT, 1 / line[N])
    line[A], line[B] = _fit(line)


@njit(cache=True, nogil=True)
def _fit(line):  # type: ignore[no-untyped-def]
    """A and b, neither below zero."""
    spread = line[ONES] * line[SQUARES] - line[WORKS] ** 2
    slope = line[ONES] * line[PRODUCTS] - line[WORKS] * line[SECONDS]
    if spread <= 1e-6 * line[ONES] * line[SQUARES] or slope < 0:
        return line[SECONDS] / line[ONES], 0.0  # one amount of work, or noise: the mean
    a = (line[SECONDS] - slope / spread * line[WORKS]) / line[ONES]
    return (a, slope / spread) if a >= 0 else (0.0, line[PRODUCTS] / line[SQUARES])
