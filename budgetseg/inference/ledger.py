"""What a run planned to spend, and what it spent: `ledger.json`."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any

from budgetseg.inference.stages import StageCosts

__all__ = ["Books", "Entry", "Ledger"]

IMAGE_S, FILM_S = 1.5e-8, 3e-9  # to decode a pixel of images, and of other files, where it was never done here


@dataclass
class Entry:
    """One stage, or one descriptor.

    Attributes
    ----------
    planned_s, spent_s : seconds foretold and used
    count : how often
    """

    planned_s: float = 0.0
    spent_s: float = 0.0
    count: int = 0

    def add(self, planned_s: float, spent_s: float) -> None:
        """One more."""
        self.merge(Entry(planned_s, spent_s, 1))

    def merge(self, other: "Entry") -> None:
        """All of another entry."""
        self.planned_s += other.planned_s
        self.spent_s += other.spent_s
        self.count += other.count


@dataclass
class Ledger:
    """The account of a run; it only grows.

    Attributes
    ----------
    budget_s : what the user gave; None for no bound
    scope : `total`, all from the first frame read to labels ready, or `descriptors`
    spent_s : what of it was used, by that scope
    stages : by name, in the order in which they first ran
    descriptors : by name
    decisions, cache_hits, cache_misses : counts
    work_left : whether more time would have been spent
    next_s : seconds that had to be left for the smallest piece of work that was not begun; 0 where there is none
    notes : what was given up or dropped, a line each
    """

    budget_s: float | None
    scope: str = "total"
    spent_s: float = 0.0
    stages: dict[str, Entry] = field(default_factory=dict)
    descriptors: dict[str, Entry] = field(default_factory=dict)
    decisions: int = 0
    cache_hits: int = 0
    cache_misses: int = 0
    work_left: bool = False
    next_s: float = 0.0
    notes: list[str] = field(default_factory=list)

    @property
    def overrun_s(self) -> float:
        """Seconds beyond the budget."""
        return 0.0 if self.budget_s is None else max(self.spent_s - self.budget_s, 0.0)

    @property
    def descriptors_s(self) -> float:
        """Seconds spent on descriptors."""
        return sum(entry.spent_s for entry in list(self.descriptors.values()))  # others may write

    def note(self, line: str) -> None:
        """Tell the user once."""
        if line not in self.notes:
            self.notes.append(line)

    def computed(self, descriptor: str, planned_s: float, spent_s: float) -> None:
        """A descriptor was computed."""
        self.descriptors.setdefault(descriptor, Entry()).add(planned_s, spent_s)

    def plus(self, other: "Ledger") -> "Ledger":
        """Both accounts in one; budget and scope are this one's."""
        whole = deepcopy(self)
        for mine, others in ((whole.stages, other.stages), (whole.descriptors, other.descriptors)):
            for name, entry in others.items():
                mine.setdefault(name, Entry()).merge(entry)
        whole.spent_s += other.spent_s
        whole.decisions += other.decisions
        whole.cache_hits += other.cache_hits
        whole.cache_misses += other.cache_misses
        whole.work_left |= other.work_left
        whole.next_s = other.next_s or whole.next_s
        for line in other.notes:
            whole.note(line)
        return whole

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        return {**asdict(self), "overrun_s": self.overrun_s}


@dataclass(frozen=True)
class Books:
    """Foretells what stages cost, measures it, writes it down and learns from it.

    Attributes
    ----------
    ledger : where it is written
    stages : what it is foretold by
    """

    ledger: Ledger
    stages: StageCosts

    def foretold_s(self, stage: str, work: float) -> float:
        """Seconds that so much work of a stage takes on this machine as busy as it is."""
        return self.stages.predict(stage, work) * self.stages.contention.stretch

    def decoding_s(self, line: str, n_pixels: float, are_images: bool) -> float:
        """Seconds to decode so many pixels; a guess for a kind of file that was never decoded here."""
        if line in self.stages:
            return self.foretold_s(line, n_pixels)
        return (IMAGE_S if are_images else FILM_S) * n_pixels

    @contextmanager
    def stage(self, name: str, work: float, line: str | None = None) -> Iterator[None]:
        """Account for a block; `line` is what its costs are known by, if not by its name."""
        self.stages.contention.look()
        started = time.perf_counter()
        yield
        self.book(name, work, time.perf_counter() - started, line)

    def book(self, name: str, work: float, spent_s: float, line: str | None = None) -> None:
        """A stage did so much work in so many seconds."""
        self.ledger.stages.setdefault(name, Entry()).add(self.foretold_s(line or name, work), spent_s)
        self.stages.contention.look()
        self.stages.observe(line or name, work, spent_s / self.stages.contention.stretch)
