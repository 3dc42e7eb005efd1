"""Algorithm 1: select, decide, compute, until time is up. Live runs do the same on several threads, in `window`."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.policy.episode import Batch, Chooser, Episode
from budgetseg.types import Float32, Float64

__all__ = ["Clock", "CostClock", "Outcome", "Source", "TableSource", "run"]


class Outcome(NamedTuple):
    """A batch was computed.

    Attributes
    ----------
    said : (K, L) float32, H's probabilities of the supervoxels, these descriptors included
    spent_s : (K,) float64, what each cost
    """

    said: Float32
    spent_s: Float64


class Source(Protocol):
    """Where descriptors come from."""

    def __call__(self, episode: Episode, batch: Batch) -> Outcome:
        """The outcome of a batch, before the episode knows of it."""


class Clock(Protocol):
    """How time passes."""

    def pay(self, seconds: float) -> float:
        """Seconds left for descriptors, now that some took so long."""


@dataclass
class CostClock:
    """Time as the costs tell it, however fast the machine is.

    Attributes
    ----------
    left_s : of the budget
    """

    left_s: float

    def pay(self, seconds: float) -> float:
        """What is left of the budget."""
        self.left_s -= seconds
        return self.left_s


@dataclass(frozen=True, eq=False)
class TableSource:
    """Looks everything up.

    Attributes
    ----------
    said : (N, 2^D, L) float32, H's probabilities for every subset
    """

    said: Float32

    @classmethod
    def of(cls, classifiers: SubsetClassifiers, values: dict[str, Float32], place: Float32) -> "TableSource":
        """What H says of a table."""
        return cls(classifiers.predict_all(values, place))

    def __call__(self, episode: Episode, batch: Batch) -> Outcome:
        """From the table, at the cost that was foretold."""
        subsets = episode.state.subsets[batch.regions] | 1 << batch.descriptors
        return Outcome(self.said[batch.regions, subsets], batch.planned_s)


def run(
    episode: Episode,
    policy: Chooser,
    source: Source,
    clock: Clock,
    record: Callable[[Batch, Outcome], None] = lambda *_: None,
    n: int = 1,
) -> None:
    """Spend the budget, with n decisions at a time; `record` is told of all that was computed."""
    while len((batch := policy(episode, n)).regions):
        outcome = source(episode, batch)
        episode.receive_all(batch, *outcome)
        episode.left_s = clock.pay(float(outcome.spent_s.sum()))
        record(batch, outcome)
