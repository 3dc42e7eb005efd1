"""What descriptors and resources cost on this machine: a line through what they did cost, newer calls counting more."""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from budgetseg.files import atomic_file
from budgetseg.machine import cpu_model

__all__ = ["CostModel"]

FORMAT = 3  # also when a descriptor counts its work in other units: old lines would not fit
KEPT = 0.99  # of the weight of a call when the next one comes: about the last hundred count
PATIENCE = 5  # calls before one that is far off is taken for an accident
FAR_OFF = 1.5
BEYOND = 1.5  # times the most work so far: of so much more the line knows nothing, and nothing is far off
LEAST = 1e-7  # seconds; below it calls differ by the clock alone


@dataclass
class _Line:
    """seconds = a + b · work, by least squares on relative errors; sums fade by `KEPT` with every call."""

    a: float = 0.0
    b: float = 0.0
    n: int = 0
    ones: float = 0.0
    works: float = 0.0
    squares: float = 0.0
    seconds: float = 0.0
    products: float = 0.0
    most: float = 0.0

    def observe(self, work: float, seconds: float) -> None:
        predicted = self.a + self.b * work
        if self.n >= PATIENCE and work <= BEYOND * self.most:
            seconds = min(max(seconds, predicted / FAR_OFF), max(predicted, LEAST) * FAR_OFF)
        scale = 1 / max(predicted if self.n else seconds, LEAST) ** 2
        self.n += 1
        self.most = max(self.most, work)
        self.ones = KEPT * self.ones + scale
        self.works = KEPT * self.works + scale * work
        self.squares = KEPT * self.squares + scale * work * work
        self.seconds = KEPT * self.seconds + scale * seconds
        self.products = KEPT * self.products + scale * work * seconds
        self.a, self.b = self._fit()

    def _fit(self) -> tuple[float, float]:
        """A and b, neither below zero."""
        spread = self.ones * self.squares - self.works**2
        slope = self.ones * self.products - self.works * self.seconds
        if spread <= 1e-6 * self.ones * self.squares or slope < 0:
            return self.seconds / self.ones, 0.0  # one amount of work, or noise: the mean
        a = (self.seconds - slope / spread * self.works) / self.ones
        return (a, slope / spread) if a >= 0 else (0.0, self.products / self.squares)


class CostModel:
    """Seconds by name and amount of work, learned from calls; kept in a file between runs."""

    def __init__(self) -> None:
        self._lines: dict[str, _Line] = {}
        self._lock = Lock()

    def __contains__(self, name: str) -> bool:
        return name in self._lines

    def predict(self, name: str, work: float) -> float:
        """Seconds that so much work of a descriptor or resource will take; 0 for one that was never seen."""
        line = self._lines.get(name)
        return 0.0 if line is None else line.a + line.b * work

    def observe(self, name: str, work: float, seconds: float) -> None:
        """Learn from one call."""
        with self._lock:
            self._lines.setdefault(name, _Line()).observe(work, seconds)

    def save(self, path: Path) -> None:
        """Write what was learned, as JSON."""
        with self._lock:
            lines = {name: vars(line).copy() for name, line in sorted(self._lines.items())}
        with atomic_file(path) as part:
            part.write_text(json.dumps({"format": FORMAT, "cpu": cpu_model(), "lines": lines}, indent=1) + "\n")

    @classmethod
    def load(cls, path: Path) -> "CostModel":
        """What was learned on this machine; nothing where the file is missing, damaged or from another machine."""
        model = cls()
        try:
            stored = json.loads(path.read_text())
            if stored["format"] == FORMAT and stored["cpu"] == cpu_model():
                model._lines = {name: _read_line(line) for name, line in stored["lines"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            pass  # measured again in seconds
        return model


def _read_line(stored: dict[str, float]) -> _Line:
    line = _Line(**stored)  # type: ignore[arg-type]  # n is whole
    if stored.keys() != vars(line).keys() or not all(0 <= value < math.inf for value in stored.values()):
        raise ValueError("a line must have all its fields, none negative or without end")
    return line
