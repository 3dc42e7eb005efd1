"""What is wanted of a run: budgets, and how they are counted."""

import math
from dataclasses import dataclass

from budgetseg.errors import UsageError
from budgetseg.types import Budget

__all__ = ["SCOPES", "Request"]

SCOPES = ("total", "descriptors")


@dataclass(frozen=True)
class Request:
    """What is wanted.

    Attributes
    ----------
    budgets : rising; the labelling at each of them is kept
    scope : `total`, from the first frame read to labels ready, or `descriptors`
    density : supervoxels a frame; None for what suits the video
    seed : of what is random
    window : frames in a window at most; None for as many as memory allows
    explain : whether results should tell where the label of each pixel comes from; that is found out beside the budget
    """

    budgets: tuple[Budget, ...]
    scope: str = "total"
    density: float | None = None
    seed: int = 0
    window: int | None = None
    explain: bool = False

    @property
    def end_s(self) -> float:
        """When labels must be there at the largest budget, in seconds of the clock; infinity for no bound."""
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
