"""Who decides on descriptors, by name, and which supervoxels come first."""

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
"""From the share of the full cost that may be spent to who decides, and who is considered first."""

UNUSUAL = ("hof", "mbh", NOT_COUNTED)
"""Descriptors that a run without plan or policy leaves out, since they cost most."""


def counted(model: Model) -> list[str]:
    """Descriptors that make up the full cost: the large network is for whoever has time to spare."""
    return [name for name in model.classifiers.names if name != NOT_COUNTED]


def strategy_of(model: Model, policy: str | None = None, selection: Selection | None = None) -> Strategy:
    """Who decides in a model's runs: the policy of this name, the learned one, if there is one, for None."""
    if policy is None:
        policy = "static" if learned_for(model.policies, METHOD, counted(model)) is None else "learned"
    if policy not in POLICIES:
        raise UsageError(f"no policy '{policy}'; choose from {', '.join(POLICIES)}")
    decide = POLICIES[policy](model)

    def strategy(share: float) -> tuple[Chooser, Selection]:
        chooser, own = decide(share)
        return chooser, own if selection is None else replace(selection, enabled=own.enabled)

    return strategy


def _learned(model: Model) -> Decide:
    """The policy that was learned for real costs and all descriptors that count."""
    own = learned_for(model.policies, METHOD, counted(model))
    if own is None:
        raise UsageError(f"model '{model.name}' has no learned policy; use --policy static, or train it again")
    return own.at


def _static(model: Model) -> Decide:
    """The plan that the model has for about such a share; where it has none, all but what costs most."""
    h, usual = model.classifiers, _usual(model)

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
"""What `budgetseg label --policy` takes."""
