"""What a user asks of a run: budgets, and how they are counted."""

import math
from dataclasses import dataclass

from budgetseg.errors import UsageError
from budgetseg.types import Budget

__all__ = ["SCOPES", "Request"]

SCOPES = ("total", "descriptors")


@dataclass(frozen=True)
class Request:
    """What a user asks of a run.

    Attributes
    ----------
    budgets : in rising order; there is a result for each of them
    scope : what a budget counts: `total`, from the first frame read to labels ready, or `descriptors` alone
    density : supervoxels per frame; None for what suits the video
    seed : of all random choices
    window : frames in a window, at most; None for as many as memory allows
    explain : whether results also record where the label of each pixel comes from; finding it out is not charged to the
        budget
    """

    budgets: tuple[Budget, ...]
    scope: str = "total"
    density: float | None = None
    seed: int = 0
    window: int | None = None
    explain: bool = False

    @property
    def end_s(self) -> float:
        """When labels of the largest budget are due, in seconds of the clock; infinity if nothing bounds it."""
        is_bounded = self.scope == "total" and not self.budgets[0].is_share
        return self.budgets[-1].amount if is_bounded else math.inf

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise UsageError(f"no scope '{self.scope}'; choose from {', '.join(SCOPES)}")
        if not self.budgets or min(budget.amount for budget in self.budgets) <= 0:
            raise UsageError("a budget must be more than 0; for example 10s")
        if len({budget.is_share for budget in self.budgets}) > 1:
            raise UsageError("budgets must all be times, or all be shares; for example 2s,5s or 10%,50%")
        if list(self.budgets) != sorted(set(self.budgets)):
            raise UsageError("budgets must rise; for example 2s,5s,10s")
