"""Algorithm 1: select, decide, compute, until time is up. One loop for live runs and for tables."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Protocol

import numpy as np

from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.inference.episode import Choice, Chooser, Episode
from budgetseg.types import Float32

__all__ = ["Clock", "CostClock", "Outcome", "Source", "TableSource", "run"]


class Outcome(NamedTuple):
    """A descriptor was computed.

    Attributes
    ----------
    said : (L,) float32, H's probabilities of the supervoxel, this descriptor included
    spent_s : what it cost
    shared_s : the part of it for what others can use, too
    """

    said: Float32
    spent_s: float
    shared_s: float = 0.0


class Source(Protocol):
    """Where descriptors come from: computed now, or looked up."""

    def __call__(self, episode: Episode, choice: Choice) -> Outcome:
        """The outcome of a choice, before the episode knows of it."""


class Clock(Protocol):
    """How time passes."""

    def pay(self, seconds: float) -> float:
        """Seconds left for descriptors, now that one took so long."""


@dataclass
class CostClock:
    """Time as the costs tell it: the same on every machine.

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

    def __call__(self, episode: Episode, choice: Choice) -> Outcome:
        """From the table, at the cost that it tells."""
        region, descriptor = choice
        subset = episode.state.subsets[region] | np.int32(1 << descriptor)
        return Outcome(self.said[region, subset], episode.cost_s(region, descriptor))


def run(
    episode: Episode,
    policy: Chooser,
    source: Source,
    clock: Clock,
    record: Callable[[Choice, Outcome], None] = lambda *_: None,
) -> None:
    """Spend the budget; `record` is told of every descriptor that was computed."""
    while (choice := policy(episode)) is not None:
        outcome = source(episode, choice)
        episode.start(choice)
        episode.receive(choice, outcome.said, outcome.spent_s)
        episode.left_s = clock.pay(outcome.spent_s)
        record(choice, outcome)
