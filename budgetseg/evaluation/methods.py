"""What is compared: methods by name, the descriptors of each, and how it spends a budget.

A method's twin that ends in `-full` has the network `dcnn` beside the hand-made descriptors.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from budgetseg.baselines.paper import BASELINES, run_baseline
from budgetseg.baselines.static import run_plan
from budgetseg.baselines.wholes import run_wholes
from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.errors import UsageError
from budgetseg.inference.state import State
from budgetseg.models.bundle import Model
from budgetseg.policy.static import nearest_plan
from budgetseg.policy.whole import whole_policy_for
from budgetseg.simulation import Arena
from budgetseg.types import Float64

__all__ = ["METHODS", "Method", "methods_named"]

Run = Callable[[Arena, Sequence[str], float, int, Float64], State]
"""Where a method ends up: (arena, descriptors, budget_s, seed, times_s) -> state."""


@dataclass(frozen=True)
class Method:
    """A way to label a video.

    Attributes
    ----------
    name : in tables
    descriptors : that it may compute
    run : how it spends a budget; None where it computes everything, whatever that costs
    with_crf : whether neighbours have a say at the end
    """

    name: str
    descriptors: tuple[str, ...]
    run: Run | None = None
    with_crf: bool = True


def _static(arena: Arena, names: Sequence[str], budget_s: float, seed: int, times_s: Float64) -> State:
    """The best static plan for about this budget; `methods_named` has made sure that there is one."""
    plan = nearest_plan(arena.model.plans, budget_s / arena.full_s(names), names, arena.pricing)
    assert plan is not None
    return run_plan(arena, plan, budget_s, seed, times_s)


def _baseline(name: str, arena: Arena, names: Sequence[str], budget_s: float, seed: int, times_s: Float64) -> State:
    return run_baseline(arena, name, names, budget_s, seed, times_s)


def _baseline3(rest: bool, arena: Arena, names: Sequence[str], budget_s: float, seed: int, times_s: Float64) -> State:
    policy = whole_policy_for(arena.model.wholes, names, arena.pricing)
    assert policy is not None
    return run_wholes(arena, policy, budget_s, seed, times_s, rest)


def _both(kind: str, run: Run | None = None, with_crf: bool = True) -> tuple[Method, Method]:
    full = (*HAND_MADE, "dcnn")
    return Method(kind, HAND_MADE, run, with_crf), Method(f"{kind}-full", full, run, with_crf)


_EVERY = (
    *_both("unary", with_crf=False),
    *_both("crf"),
    *_both("static", _static),
    *(method for name in BASELINES for method in _both(name, partial(_baseline, name))),
    *_both("baseline3", partial(_baseline3, False)),
    *_both("baseline3-rest", partial(_baseline3, True)),
)

METHODS = {method.name: method for method in _EVERY}
"""The paper's unbounded systems and H alone, the best static plan, and the paper's baselines."""


def methods_named(names: Sequence[str], model: Model, costs: str = "shared") -> list[Method]:
    """Methods by name, refused where the model lacks what they need; `all` are those for which it does not."""
    if list(names) == ["all"]:
        return [method for method in _EVERY if not _obstacle(method, model, costs)]
    found = []
    for name in names:
        if name not in METHODS:
            raise UsageError(f"no method '{name}'; choose from all, {', '.join(METHODS)}")
        if obstacle := _obstacle(METHODS[name], model, costs):
            raise UsageError(obstacle)
        found.append(METHODS[name])
    return found


def _obstacle(method: Method, model: Model, costs: str) -> str:
    """Why a model cannot do it; empty where it can."""
    missing = [name for name in method.descriptors if name not in model.classifiers.names]
    if missing:
        return f"{method.name} needs {', '.join(missing)}, which the model was trained without"
    if method.run is _static and nearest_plan(model.plans, 1.0, method.descriptors, costs) is None:
        return f"{method.name} needs static plans for {costs} costs, which the model has not; train it again"
    if method.name.startswith("baseline3") and whole_policy_for(model.wholes, method.descriptors, costs) is None:
        return f"{method.name} needs its policy for {costs} costs, which the model has not; train it again"
    return ""
