"""A plan that is made before the run: the same descriptors for every supervoxel that is selected."""

import math
from bisect import bisect_right
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from budgetseg.errors import UsageError
from budgetseg.policy.episode import Selection
from budgetseg.policy.linear import LinearPolicy, plan_policy
from budgetseg.policy.settings import SETTINGS

__all__ = ["COSTS", "NOT_COUNTED", "StaticPlan", "plan_for", "read_plan", "serving"]

COSTS = ("shared", "unshared")
"""Whether a descriptor pays for what it needs and is not there yet, or, as in the paper, for all that it needs."""

NOT_COUNTED = "dcnn_large"
"""No part of the full cost: it costs more than all others together, and tables with and without it must compare."""


@dataclass(frozen=True)
class StaticPlan:
    """What to compute and where to begin, for a budget.

    Attributes
    ----------
    budget_fraction : of the full cost, that it is for
    descriptors : names, of what is computed for a supervoxel when it is its turn
    order : in which supervoxels have their turn, a name in `ORDERS`
    among : names that it was chosen among
    costs : "shared" or "unshared", that it was chosen under
    rest : whether, where time is left, the least confident supervoxels get the others of these too
    """

    budget_fraction: float
    descriptors: tuple[str, ...]
    order: str
    among: tuple[str, ...]
    costs: str = "shared"
    rest: bool = True

    def __post_init__(self) -> None:
        if not 0 < self.budget_fraction < math.inf:
            raise UsageError(f"a plan must be for a budget of more than 0. Got {self.budget_fraction}")
        if not self.descriptors or not set(self.descriptors) <= set(self.among):
            raise UsageError(f"a plan must be of some of {', '.join(self.among)}. Got {', '.join(self.descriptors)}")
        if self.costs not in COSTS:
            raise UsageError(f"no costs '{self.costs}'; choose from {', '.join(COSTS)}")
        Selection(self.order)  # refuses an order that there is not

    def policy(self, names: Sequence[str], n_labels: int) -> LinearPolicy:
        """The plan for a world with the descriptors of these names."""
        return plan_policy([names.index(name) for name in self.descriptors], len(names), n_labels)

    @property
    def selection(self) -> Selection:
        """All supervoxels from the beginning, in the plan's order."""
        return Selection(self.order, reopen=self.rest)


def read_plan(stored: Mapping[str, Any]) -> StaticPlan:
    """A plan from its fields, with lists for tuples, as JSON has them."""
    return StaticPlan(**{**stored, "descriptors": tuple(stored["descriptors"]), "among": tuple(stored["among"])})


def serving(fractions: Sequence[float], budget_fraction: float) -> int:
    """Of things that are made for rising budgets, the number of the one that serves this budget.

    The largest of at most `PolicySettings.nearly` times this budget serves it, or the first where all are for more.
    """
    return max(bisect_right(fractions, SETTINGS.nearly * budget_fraction) - 1, 0)


def plan_for(
    plans: Iterable[StaticPlan],
    budget_fraction: float,
    among: Collection[str],
    costs: str = "shared",
    rest: bool = True,
) -> StaticPlan | None:
    """The plan for a budget, of those chosen among these descriptors that spend the rest, or do not; None if none was.

    With a plan for too little, something is left, which the stronger form spends on the least confident; with one for
    too much, nothing is left for most.
    """
    fitting = sorted(
        (plan for plan in plans if set(plan.among) == set(among) and (plan.costs, plan.rest) == (costs, rest)),
        key=lambda plan: plan.budget_fraction,
    )
    return fitting[serving([plan.budget_fraction for plan in fitting], budget_fraction)] if fitting else None
