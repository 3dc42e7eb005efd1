"""A policy that was learned: what it ranks, whom it selects first, and how accurate it is to be expected."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from budgetseg.errors import UsageError
from budgetseg.policy.episode import Selection
from budgetseg.policy.features import n_features
from budgetseg.policy.linear import LinearPolicy
from budgetseg.policy.static import COSTS, serving

__all__ = ["METHOD", "SELECTIONS", "Expected", "LearnedPolicy", "Uses", "budget_for", "expected_at", "learned_for"]

SELECTIONS = {
    "budget-rndrnk": Selection("random", reopen=False),
    "budget-nhbrnk": Selection("unsure", reopen=False),
    "budget-wanted": Selection("wanted"),
}
"""Who is selected first under each method: the paper's two, and whoever the policy wants most."""


METHOD = "budget-wanted"
"""The one that labels; the others are the paper's, and left as they are."""


class Expected(NamedTuple):
    """Accuracy to be expected of unseen video, for a budget as a fraction of the full cost."""

    budget_fraction: float
    class_average: float
    overall: float


class Uses(NamedTuple):
    """How a policy is used with a fraction of the full cost, or more.

    Attributes
    ----------
    budget_fraction : from which on
    descriptors : of the model that are computed, as bits; -1 for all
    """

    budget_fraction: float
    descriptors: int


@dataclass(frozen=True, eq=False)
class LearnedPolicy:
    """A linear policy over the descriptors of a model, with extended features.

    Attributes
    ----------
    method : a name in `SELECTIONS`
    among : names of the descriptors that it chooses among
    costs : "shared" or "unshared", that it was learned under
    policy : over all descriptors of the model
    expected : its accuracy, by rising budget
    uses : what it ever computes, since the rest would not help, by rising budget: what is worth its price as long as
        little can be paid may do harm beside what is dearer. A run with several budgets has what the first one has
    """

    method: str
    among: tuple[str, ...]
    costs: str
    policy: LinearPolicy
    expected: tuple[Expected, ...] = ()
    uses: tuple[Uses, ...] = (Uses(0.0, -1),)

    def __post_init__(self) -> None:
        if self.method not in SELECTIONS:
            raise UsageError(f"no learned method '{self.method}'; choose from {', '.join(SELECTIONS)}")
        if self.costs not in COSTS:
            raise UsageError(f"no costs '{self.costs}'; choose from {', '.join(COSTS)}")
        if not np.isfinite(self.policy.weights).all():
            raise UsageError("weights of a policy must be finite")
        rises = np.diff([0.0, *(one.budget_fraction for one in self.expected)]) > 0
        if not rises.all() or not np.isfinite(self.expected).all():
            raise UsageError("accuracies to be expected must be finite, for rising budgets above 0")
        least = [one.budget_fraction for one in self.uses]
        if not least or least[0] < 0 or not (np.diff(least) > 0).all() or not np.isfinite(self.uses).all():
            raise UsageError("a policy must list the descriptors it uses, for rising budgets from 0 on")

    def at(self, budget_fraction: float) -> tuple[LinearPolicy, Selection]:
        """Who decides with a budget, a fraction of the full cost; who is selected first, and what may be computed."""
        own = self.uses[serving([one.budget_fraction for one in self.uses], budget_fraction)]
        return self.policy, replace(SELECTIONS[self.method], enabled=own.descriptors)

    def check(self, n_descriptors: int, n_labels: int) -> None:
        """Refuse a policy that is not for so many descriptors and classes."""
        shape = n_descriptors + 1, n_features(n_descriptors, n_labels, self.policy.extended)
        if self.policy.weights.shape != shape:
            raise UsageError(f"weights of a policy must be {shape}. Got {self.policy.weights.shape}")
        for own in self.uses:
            if not own.descriptors & (1 << n_descriptors) - 1:
                got = f"Got {own.descriptors:b}"
                raise UsageError(f"a policy must use one of the {n_descriptors} descriptors at least. {got}")


def learned_for(
    policies: Iterable[LearnedPolicy], method: str, among: Collection[str], costs: str = "shared"
) -> LearnedPolicy | None:
    """The policy of a method that was learned among these descriptors; None if there is none."""
    fitting = (own for own in policies if own.method == method and set(own.among) == set(among) and own.costs == costs)
    return next(fitting, None)


def expected_at(expected: Sequence[Expected], budget_fraction: float) -> Expected:
    """Accuracy for any budget, between those that are known in proportion to the logarithm."""
    known = np.log([one.budget_fraction for one in expected])
    where = np.log(max(budget_fraction, 1e-9))
    values = [np.interp(where, known, [one[k] for one in expected]) for k in (1, 2)]
    return Expected(budget_fraction, float(values[0]), float(values[1]))


def budget_for(expected: Sequence[Expected], accuracy: float) -> float | None:
    """The smallest budget that promises so much global accuracy; None if none does."""
    if not expected:
        return None
    fractions = np.geomspace(expected[0].budget_fraction, expected[-1].budget_fraction, 200).tolist()
    return next((one for one in fractions if expected_at(expected, one).overall >= accuracy), None)
