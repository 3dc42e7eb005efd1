"""What comes of a run: labels at every budget, the accounts, and why each supervoxel has its label."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from budgetseg.engine.known import Known, Step
from budgetseg.timing.ledger import Ledger
from budgetseg.engine.plan import Plan
from budgetseg.types import Float32, Int32, UInt8

__all__ = ["Earlier", "Labelled", "Why"]


@dataclass(frozen=True, eq=False)
class Why:
    """What was known of one window when the last budget was spent.

    Attributes
    ----------
    start : number of its first frame among those that were worked on
    known : supervoxels, descriptors computed, H's probabilities
    opinions : (N, L) float32 at each budget, H's probabilities, interpolated where nothing was computed
    labels : (N,) int32
    trace : what was computed, in order
    closings : after how many of these steps supervoxels were labelled, and after how many moves of the expansion that
        was enough, None if it came to its end
    painted : which of the closings each budget has its labels from
    """

    start: int
    known: Known
    opinions: Sequence[Float32]
    labels: Int32
    trace: Sequence[Step]
    closings: Sequence[tuple[int, int | None]]
    painted: Sequence[int]

    @property
    def confidence(self) -> Float32:
        """(N,), the largest probability."""
        return np.asarray(self.opinions[-1].max(axis=1))


@dataclass(frozen=True, eq=False)
class Earlier:
    """A run to go on from.

    Attributes
    ----------
    plan : what it worked on
    windows : what it knew of each window that it came to
    """

    plan: Plan
    windows: Sequence[Known]


@dataclass(eq=False)
class Labelled:
    """What came of a video.

    Attributes
    ----------
    labels : (T, H, W) uint8 at each budget, in order
    ledgers : the account at each budget
    whys : what was known of each window at the end; none where nothing was computed
    plan : what was worked on
    """

    labels: list[UInt8]
    ledgers: list[Ledger]
    whys: list[Why] = field(default_factory=list)
    plan: Plan | None = None
