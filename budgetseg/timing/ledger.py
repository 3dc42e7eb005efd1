"""The ledger: how much time a run planned to spend and has spent, on what. It is written to `ledger.json`."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from budgetseg.errors import UsageError
from budgetseg.timing.clock import Clock
from budgetseg.timing.prices import Prices

if TYPE_CHECKING:
    from pandas import DataFrame

__all__ = ["Account", "Entry", "Ledger"]


@dataclass
class Entry:
    """The time of a stage, or of a source.

    Attributes
    ----------
    planned_s, spent_s : seconds predicted and spent
    count : number of times
    """

    planned_s: float = 0.0
    spent_s: float = 0.0
    count: int = 0

    def merge(self, other: "Entry") -> None:
        """Add the seconds and the count of another entry."""
        self.planned_s += other.planned_s
        self.spent_s += other.spent_s
        self.count += other.count


@dataclass
class Ledger:
    """The time of a run at one budget. Entries are only ever added.

    Attributes
    ----------
    budget_s : seconds that the user gave; None for no bound
    scope : what the budget counts: `total`, from the first frame read to labels ready, or `descriptors` alone
    spent_s : seconds of the budget that were spent
    stages : decoding, supervoxels, painting and so on, by name, in the order in which they first ran
    sources : networks or descriptors, by name; seconds are summed over threads
    decisions, cache_hits, cache_misses : counts
    work_left : whether more time could have been used
    next_s : seconds needed for the smallest piece of work that was not begun; 0 if all was done
    notes : lines for the user on what was given up or dropped
    counted : those of them that are about a number of frames, by their text with {} for it
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
    counted: dict[str, int] = field(default_factory=dict)

    @property
    def overrun_s(self) -> float:
        """Seconds beyond the budget."""
        return 0.0 if self.budget_s is None else max(self.spent_s - self.budget_s, 0.0)

    @property
    def stages_s(self) -> float:
        """Seconds spent in stages."""
        return sum(entry.spent_s for entry in list(self.stages.values()))  # other threads may write

    @property
    def sources_s(self) -> float:
        """Seconds spent on sources."""
        return sum(entry.spent_s for entry in list(self.sources.values()))  # other threads may write

    def note(self, line: str) -> None:
        """Add a line for the user, unless it is there already."""
        if line not in self.notes:
            self.notes.append(line)

    def count(self, text: str, n_frames: int) -> None:
        """Note that a text is true of so many frames, in place of what was noted before; of none, it is taken back."""
        before = self.counted.pop(text, 0)
        if before:
            self.notes.remove(_counted(text, before))
        if n_frames:
            self.counted[text] = n_frames
            self.note(_counted(text, n_frames))

    def book_stage(self, name: str, planned_s: float, spent_s: float, count: int = 1) -> None:
        """Add the seconds of a stage."""
        self.stages.setdefault(name, Entry()).merge(Entry(planned_s, spent_s, count))

    def book_source(self, name: str, planned_s: float, spent_s: float, count: int = 1) -> None:
        """Add the seconds of actions with one source."""
        self.sources.setdefault(name, Entry()).merge(Entry(planned_s, spent_s, count))

    def plus(self, other: "Ledger") -> "Ledger":
        """A ledger with the time of both; budget and scope are those of this one."""
        whole = deepcopy(self)
        for entries, added in ((whole.stages, other.stages), (whole.sources, other.sources)):
            for name, entry in added.items():
                entries.setdefault(name, Entry()).merge(entry)
        whole.spent_s += other.spent_s
        whole.decisions += other.decisions
        whole.cache_hits += other.cache_hits
        whole.cache_misses += other.cache_misses
        whole.work_left |= other.work_left
        whole.next_s = other.next_s or whole.next_s
        of_frames = {_counted(text, n) for text, n in other.counted.items()}
        for line in other.notes:
            if line not in of_frames:
                whole.note(line)
        for text, n in other.counted.items():
            whole.count(text, whole.counted.get(text, 0) + n)
        return whole

    def as_dict(self) -> dict[str, Any]:
        """The ledger as JSON values."""
        values = {**asdict(self), "overrun_s": self.overrun_s}
        del values["counted"]
        return values

    def to_pandas(self) -> "DataFrame":
        """A table with a row for each stage and source: kind, planned_s, spent_s, count; UsageError without pandas."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise UsageError("pandas is not installed; pip install 'budgetseg[notebook]'") from None
        kinds = {"stage": self.stages, "source": self.sources}
        rows = [{"name": name, "kind": kind, **asdict(own)} for kind, of in kinds.items() for name, own in of.items()]
        return DataFrame(rows, columns=["name", "kind", "planned_s", "spent_s", "count"]).set_index("name")


def _counted(text: str, n_frames: int) -> str:
    return text.format("1 frame" if n_frames == 1 else f"{n_frames} frames")


@dataclass(frozen=True, eq=False)
class Account:
    """What every stage of a run needs to account for its time: a clock, prices, and a ledger.

    Attributes
    ----------
    clock : of the run
    prices : what work costs on this machine; every stage updates them
    ledger : of the present window
    stopped : returns whether the user wants labels now; work that takes long asks it
    """

    clock: Clock
    prices: Prices
    ledger: Ledger
    stopped: Callable[[], bool] = lambda: False

    def predict_s(self, key: str, work: float) -> float:
        """Predicted seconds of an amount of work."""
        return self.prices.predict(key, work)

    @contextmanager
    def stage(self, name: str, work: float, key: str | None = None) -> Iterator[None]:
        """Time a block as a stage: add it to the ledger, and update its price.

        Parameters
        ----------
        name : of the stage in the ledger
        work : amount of work, in the unit of its price
        key : name of its price, if that is another one
        """
        self.prices.look()
        began_s = self.clock.now_s()
        yield
        self.clock.charge(self.prices.predict(key or name, work))
        self.book(name, work, self.clock.now_s() - began_s, key)

    def book(self, name: str, work: float, spent_s: float, key: str | None = None) -> None:
        """Add a stage that did `work` in `spent_s` seconds to the ledger, and update its price."""
        self.ledger.book_stage(name, self.prices.predict(key or name, work), spent_s)
        self.prices.look()
        self.prices.observe_stage(key or name, work, spent_s)
