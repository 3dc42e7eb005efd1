"""What a run planned to spend, and what it spent: `ledger.json`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import Any

from budgetseg.timing.clock import Clock
from budgetseg.timing.prices import Prices

__all__ = ["Account", "Entry", "Ledger"]


@dataclass
class Entry:
    """One stage, or one source.

    Attributes
    ----------
    planned_s, spent_s : seconds predicted and used
    count : how often
    """

    planned_s: float = 0.0
    spent_s: float = 0.0
    count: int = 0

    def merge(self, other: "Entry") -> None:
        """Add all of another entry."""
        self.planned_s += other.planned_s
        self.spent_s += other.spent_s
        self.count += other.count


@dataclass
class Ledger:
    """The account of a run at one budget; it only grows.

    Attributes
    ----------
    budget_s : what the user gave; None for no bound
    scope : `total`, all from the first frame read to labels ready, or `descriptors`
    spent_s : what of it was used, by that scope
    stages : decoding, supervoxels, painting and so on by name, in the order in which they first ran
    sources : networks or descriptors by name; seconds are of the threads that ran them
    decisions, cache_hits, cache_misses : counts
    work_left : whether more time would have been spent
    next_s : seconds that had to be left for the smallest piece of work that was not begun; 0 where there is none
    notes : what was given up or dropped, a line each
    """

    budget_s: float | None
    scope: str = "total"
    spent_s: float = 0.0
    stages: dict[str, Entry] = field(default_factory=dict)
    sources: dict[str, Entry] = field(default_factory=dict)
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
    def sources_s(self) -> float:
        """Seconds spent on sources."""
        return sum(entry.spent_s for entry in list(self.sources.values()))  # other threads may write

    def note(self, line: str) -> None:
        """Tell the user once."""
        if line not in self.notes:
            self.notes.append(line)

    def book_stage(self, name: str, planned_s: float, spent_s: float, count: int = 1) -> None:
        """Write down a stage."""
        self.stages.setdefault(name, Entry()).merge(Entry(planned_s, spent_s, count))

    def book_source(self, name: str, planned_s: float, spent_s: float, count: int = 1) -> None:
        """Write down actions with one source."""
        self.sources.setdefault(name, Entry()).merge(Entry(planned_s, spent_s, count))

    def plus(self, other: "Ledger") -> "Ledger":
        """Both accounts in one; budget and scope are this one's."""
        whole = deepcopy(self)
        for mine, others in ((whole.stages, other.stages), (whole.sources, other.sources)):
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


@dataclass(frozen=True, eq=False)
class Account:
    """A clock, the prices to plan by, and the ledger to write to: what every stage of a run needs.

    Attributes
    ----------
    clock : of the run
    prices : what work costs on this machine, learned from every stage
    ledger : of the window at hand
    stopped : whether the user wants labels now; what reads or computes for long asks
    """

    clock: Clock
    prices: Prices
    ledger: Ledger
    stopped: Callable[[], bool] = lambda: False

    def predict_s(self, key: str, work: float) -> float:
        """Seconds that so much work will take."""
        return self.prices.predict(key, work)

    @contextmanager
    def stage(self, name: str, work: float, key: str | None = None) -> Iterator[None]:
        """Time a block, write it down and learn its price; `key` is what it is priced by, if not by its name."""
        self.prices.look()
        began_s = self.clock.now_s()
        yield
        self.clock.charge(self.prices.predict(key or name, work))
        self.book(name, work, self.clock.now_s() - began_s, key)

    def book(self, name: str, work: float, spent_s: float, key: str | None = None) -> None:
        """Write down a stage that did so much work in so many seconds, and learn its price."""
        self.ledger.book_stage(name, self.prices.predict(key or name, work), spent_s)
        self.prices.look()
        self.prices.observe_stage(key or name, work, spent_s)
