"""What came of the frames of a stream: how many, how old their labels were, and how many were dropped."""

import math
from dataclasses import dataclass, field

import numpy as np

from budgetseg.types import Int64

__all__ = ["Ages", "Meter", "Seen"]

LEAST_S = 1e-4
"""Ages below this are counted as this."""
STEP = 1.02
"""Each bin reaches so many times as far as the one before: ages are known within 2 %."""
N_BINS = 768
"""Up to six minutes."""


class Ages:
    """Counts of ages, in memory that does not grow. A dropped frame is infinitely old."""

    def __init__(self) -> None:
        self._counts: Int64 = np.zeros(N_BINS, np.int64)
        self.n_dropped = 0

    def add(self, age_s: float) -> None:
        """Count a labelled frame."""
        place = math.ceil(math.log(max(age_s, LEAST_S) / LEAST_S) / math.log(STEP))
        self._counts[min(place, N_BINS - 1)] += 1

    def merge(self, other: "Ages") -> None:
        """Add the counts of another source."""
        self._counts += other._counts
        self.n_dropped += other.n_dropped

    @property
    def n(self) -> int:
        """Frames, with those that were dropped."""
        return int(self._counts.sum()) + self.n_dropped

    def quantile(self, share: float) -> float | None:
        """The age that a share of all frames is not older than; infinity where those were dropped, None without any."""
        wanted = math.ceil(share * self.n)
        if not wanted:
            return None
        place = int(np.searchsorted(np.cumsum(self._counts), wanted))
        return LEAST_S * STEP**place if place < N_BINS else math.inf


@dataclass
class Seen:
    """What came of the frames of some time.

    Attributes
    ----------
    n_arrived, n_labelled, n_dropped : frames; those that still wait are in the first alone
    ages : of all frames that labels are made of or that were dropped
    asked : by network, how often it was asked
    """

    n_arrived: int = 0
    n_labelled: int = 0
    n_dropped: int = 0
    ages: Ages = field(default_factory=Ages)
    asked: dict[str, int] = field(default_factory=dict)

    @property
    def dropped_share(self) -> float:
        """Dropped frames, of those that labels were made of or that were dropped."""
        return self.n_dropped / max(self.n_dropped + self.n_labelled, 1)


class Meter:
    """Counts the frames of one source, since it began and since somebody last looked.

    Attributes
    ----------
    total : since it began
    """

    def __init__(self) -> None:
        self.total = Seen()
        self._recent = Seen()

    def arrived(self, n: int) -> None:
        """Count frames that have arrived."""
        for seen in (self.total, self._recent):
            seen.n_arrived += n

    def labelled(self, age_s: float) -> None:
        """Count a frame that has labels."""
        for seen in (self.total, self._recent):
            seen.n_labelled += 1
            seen.ages.add(age_s)

    def dropped(self, n: int) -> None:
        """Count frames that get no labels."""
        for seen in (self.total, self._recent):
            seen.n_dropped += n
            seen.ages.n_dropped += n

    def asked(self, network: str) -> None:
        """Count a question to a network."""
        for seen in (self.total, self._recent):
            seen.asked[network] = seen.asked.get(network, 0) + 1

    def recent(self) -> Seen:
        """What was counted since the last call."""
        found, self._recent = self._recent, Seen()
        return found
