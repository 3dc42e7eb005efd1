"""Policies by name: which one decides about descriptors, and which supervoxels are considered first."""

from collections.abc import Callable
from dataclasses import replace

from budgetseg.errors import UsageError
from budgetseg.models.bundle import Model
from budgetseg.policy import LinearPolicy, plan_policy, random_policy
from budgetseg.policy.episode import Chooser, Selection
from budgetseg.policy.learned import METHOD, learned_for
from budgetseg.policy.static import NOT_COUNTED, plan_for
from budgetseg.spaces.regions.space import Strategy

__all__ = ["POLICIES", "counted", "strategy_of"]

Decide = Callable[[float], tuple[LinearPolicy, Selection]]
"""Maps the share of the full cost that may be spent to a policy, and the order in which supervoxels are selected."""

UNUSUAL = ("hof", "mbh", NOT_COUNTED)
"""Descriptors that a model without a plan or a policy does not compute, since they cost most."""


def counted(model: Model) -> list[str]:
    """Descriptors that make up the full cost. The large network is left out: it is an extra for large budgets."""
    return [name for name in model.classifiers.names if name != NOT_COUNTED]


def strategy_of(model: Model, policy: str | None = None, selection: Selection | None = None) -> Strategy:
    """The strategy of a model's runs.

    Parameters
    ----------
    model : whose descriptors are decided about
    policy : a name in `POLICIES`; None for the learned policy, or for static plans if the model has none
    selection : order in which supervoxels are considered; None for that of the policy
    """
    if policy is None:
        policy = "static" if learned_for(model.policies, METHOD, counted(model)) is None else "learned"
    if policy not in POLICIES:
        raise UsageError(f"no policy '{policy}'; choose from {', '.join(POLICIES)}")
    decide = POLICIES[policy](model)

    def strategy(share: float) -> tuple[Chooser, Selection]:
        chooser, usual = decide(share)
        return chooser, usual if selection is None else replace(selection, enabled=usual.enabled)

    return strategy


def _learned(model: Model) -> Decide:
    """The policy that was learned for shared costs and all descriptors that count."""
    learned = learned_for(model.policies, METHOD, counted(model))
    if learned is None:
        raise UsageError(f"model '{model.name}' has no learned policy; use --policy static, or train it again")
    return learned.at


def _static(model: Model) -> Decide:
    """The model's plan for the nearest share; without plans, all descriptors but the most expensive ones."""
    h = model.classifiers
    usual = _usual(model)

    def strategy(share: float) -> tuple[LinearPolicy, Selection]:
        plan = plan_for(model.plans, share, counted(model))
        if plan is None:
            return usual, Selection()
        return plan.policy(h.names, h.n_labels), plan.selection

    return strategy


def _usual(model: Model) -> LinearPolicy:
    h = model.classifiers
    wanted = [d for d, name in enumerate(h.names) if name not in UNUSUAL] or list(range(len(h.names)))
    if not wanted:
        raise UsageError(f"model '{model.name}' has no descriptor to compute; train it again")
    return plan_policy(wanted, len(h.names), h.n_labels)


def _random(model: Model) -> Decide:
    chooser = random_policy(len(model.classifiers.names), model.classifiers.n_labels)
    return lambda _: (chooser, Selection())


POLICIES: dict[str, Callable[[Model], Decide]] = {"learned": _learned, "static": _static, "random": _random}
"""Policies by the names that `budgetseg label --policy` takes."""
