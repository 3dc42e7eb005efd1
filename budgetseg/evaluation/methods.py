"""Methods to compare, by name: the descriptors of each, and how it spends a budget.

A method whose name ends in `-full` has the network `dcnn` beside the hand-made descriptors; that of `budget-nhbrnk` is
the paper's `budget-full`. A model that was trained with other descriptors is evaluated with those that it has: a method
with its hand-made ones, the `-full` method with all that count.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

from budgetseg.baselines.baseline3 import run_baseline3
from budgetseg.baselines.paper import BASELINES, run_baseline
from budgetseg.baselines.static import run_plan
from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.errors import UsageError
from budgetseg.models.bundle import Model
from budgetseg.policy.baseline3 import baseline3_for
from budgetseg.policy.learned import SELECTIONS, learned_for
from budgetseg.policy.state import State
from budgetseg.policy.static import NOT_COUNTED, plan_for
from budgetseg.simulate import Arena, play
from budgetseg.types import Float64

__all__ = ["METHODS", "Method", "lacking", "methods_named", "usual_methods"]

Run = Callable[[Arena, Sequence[str], float, int, Float64], State]
"""Runs a method, and returns the state at its end: (arena, descriptors, budget_s, seed, times_s) -> state."""


@dataclass(frozen=True)
class Method:
    """A way to label a video.

    Attributes
    ----------
    name : in tables
    descriptors : names of those that it may compute
    run : spends a budget; None for a method that computes everything, whatever that costs
    with_crf : whether labels are those of the CRF, or of H alone
    needs : finds what a model must have learned for these descriptors and costs; None if it needs nothing
    """

    name: str
    descriptors: tuple[str, ...]
    run: Run | None = None
    with_crf: bool = True
    needs: Callable[[Model, Sequence[str], str], object | None] | None = None


def _static(rest: bool, arena: Arena, names: Sequence[str], budget_s: float, seed: int, times_s: Float64) -> State:
    """The best static plan for about this budget; `methods_named` has made sure that there is one."""
    plan = plan_for(arena.model.plans, budget_s / arena.full_s(names), names, arena.pricing, rest)
    assert plan is not None
    return run_plan(arena, plan, budget_s, seed, times_s)


def _baseline(name: str, arena: Arena, names: Sequence[str], budget_s: float, seed: int, times_s: Float64) -> State:
    return run_baseline(arena, name, names, budget_s, seed, times_s)


def _baseline3(rest: bool, arena: Arena, names: Sequence[str], budget_s: float, seed: int, times_s: Float64) -> State:
    policy = baseline3_for(arena.model.baseline3, names, arena.pricing)
    assert policy is not None
    return run_baseline3(arena, policy, budget_s, seed, times_s, rest)


def _learned(name: str, arena: Arena, names: Sequence[str], budget_s: float, seed: int, times_s: Float64) -> State:
    learned = learned_for(arena.model.policies, name, names, arena.pricing)
    assert learned is not None
    policy, selection = learned.at(budget_s / arena.full_s(names))
    episode = arena.begin(budget_s, names, selection, seed)
    play(episode, arena.probabilities, policy, times_s)
    return episode.state


def _plans_for(rest: bool, model: Model, names: Sequence[str], costs: str) -> object | None:
    return plan_for(model.plans, 1.0, names, costs, rest)


def _baseline3_of(model: Model, names: Sequence[str], costs: str) -> object | None:
    return baseline3_for(model.baseline3, names, costs)


def _policy_for(method: str, model: Model, names: Sequence[str], costs: str) -> object | None:
    return learned_for(model.policies, method, names, costs)


def _both(method: Method) -> tuple[Method, Method]:
    """A method, and its `-full` form that has the network; the paper has another name for one of them."""
    name = "budget-full" if method.name == "budget-nhbrnk" else f"{method.name}-full"
    return method, replace(method, name=name, descriptors=(*HAND_MADE, "dcnn"))


_KINDS = (
    Method("unary", HAND_MADE, with_crf=False),
    Method("crf", HAND_MADE),
    Method("static", HAND_MADE, partial(_static, False), needs=partial(_plans_for, False)),
    Method("static-rest", HAND_MADE, partial(_static, True), needs=partial(_plans_for, True)),
    *(Method(name, HAND_MADE, partial(_baseline, name)) for name in BASELINES),
    Method("baseline3", HAND_MADE, partial(_baseline3, False), needs=_baseline3_of),
    Method("baseline3-rest", HAND_MADE, partial(_baseline3, True), needs=_baseline3_of),
    *(Method(name, HAND_MADE, partial(_learned, name), needs=partial(_policy_for, name)) for name in SELECTIONS),
)
_EVERY = tuple(method for kind in _KINDS for method in _both(kind))

METHODS = {method.name: method for method in _EVERY}
"""The paper's unbounded systems and H alone, the best static plan, the paper's baselines, and learned policies."""


_USUAL = ("unary", "crf", "unary-full", "crf-full")


def methods_named(names: Sequence[str], model: Model, costs: str = "shared") -> list[Method]:
    """Methods by name, with the model's descriptors; UsageError for one that it cannot do. `all` is all it can do."""
    if list(names) == ["all"]:
        return [_fitted(method, model) for method in _EVERY if not _obstacle(method, model, costs)]
    for name in names:
        if name not in METHODS:
            raise UsageError(f"no method '{name}'; choose from all, {', '.join(METHODS)}")
        if obstacle := _obstacle(METHODS[name], model, costs):
            raise UsageError(obstacle)
    return [_fitted(METHODS[name], model) for name in names]


def usual_methods(model: Model) -> tuple[str, ...]:
    """Names of the methods without a budget that a model can do."""
    return tuple(name for name in _USUAL if not _obstacle(METHODS[name], model, "shared"))


def lacking(model: Model) -> tuple[str, ...]:
    """Names of the hand-made descriptors that the model was trained without, so that no method has them."""
    return tuple(name for name in HAND_MADE if name not in model.classifiers.names)


def _fitted(method: Method, model: Model) -> Method:
    """A method with the descriptors of its kind that the model has."""
    names = model.classifiers.names
    descriptors = tuple(name for name in HAND_MADE if name in names)
    if method.descriptors != HAND_MADE:
        descriptors += tuple(name for name in names if name not in (*HAND_MADE, NOT_COUNTED))
    return replace(method, descriptors=descriptors)


def _obstacle(method: Method, model: Model, costs: str) -> str:
    """Why a model cannot do a method; empty if it can."""
    descriptors = _fitted(method, model).descriptors
    if not descriptors:
        return f"{method.name} needs one of {', '.join(HAND_MADE)}, which the model was trained without"
    if method.descriptors != HAND_MADE and set(descriptors) <= set(HAND_MADE):
        return f"{method.name} needs dcnn, which the model was trained without"
    if method.needs is not None and method.needs(model, descriptors, costs) is None:
        return f"{method.name} needs a plan or policy for {costs} costs; train the model again, with plans and policies"
    return ""
