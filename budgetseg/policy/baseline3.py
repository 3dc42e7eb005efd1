"""Which descriptor a whole video needs next, if any: the policy of the paper's Baseline3."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np

from budgetseg.errors import UsageError
from budgetseg.policy.static import COSTS
from budgetseg.types import Float32

__all__ = ["N_LEVELS", "Baseline3Policy", "baseline3_for"]

N_LEVELS = 101
"""Levels of the budget that is left: hundredths of the full cost, and all of it or more."""


@dataclass(frozen=True, eq=False)
class Baseline3Policy:
    """A table of values; state is which of D descriptors the whole video has, and the budget left.

    Attributes
    ----------
    among : names of the D descriptors
    costs : "shared" or "unshared", that it was learned under
    values : (2^D, N_LEVELS, D + 1) float32, by the descriptors there as bits, the budget left, and the next descriptor;
        the last is for none
    """

    among: tuple[str, ...]
    costs: str
    values: Float32

    def __post_init__(self) -> None:
        d = len(self.among)
        if self.values.shape != (1 << d, N_LEVELS, d + 1) or not np.isfinite(self.values).all():
            raise UsageError(f"values must be ({1 << d}, {N_LEVELS}, {d + 1}) and finite. Got {self.values.shape}")
        if self.costs not in COSTS:
            raise UsageError(f"no costs '{self.costs}'; choose from {', '.join(COSTS)}")

    def wanted(self, subset: int, left: float) -> list[int]:
        """Descriptors that are worth more than none, best first, if these are there and so much is left.

        Parameters
        ----------
        subset : descriptors that are there, as bits
        left : of the budget, as a share of the full cost
        """
        values, n = self.values[subset, bin_of(left)], len(self.among)
        better = [d for d in range(n) if not subset >> d & 1 and values[d] > values[n]]
        return sorted(better, key=lambda d: -values[d])


def bin_of(left: float) -> int:
    """Which part a share of the full cost belongs to."""
    return int(min(max(left, 0.0), 1.0) * (N_LEVELS - 1))


def baseline3_for(
    policies: Iterable[Baseline3Policy], among: Collection[str], costs: str = "shared"
) -> Baseline3Policy | None:
    """The one that was learned for these descriptors under these costs; None if there is none."""
    return next((own for own in policies if set(own.among) == set(among) and own.costs == costs), None)
