"""The ladder of cheaper plans: what a run gives up when the budget is short, in a stated order.

    fewer supervoxels ─► smaller frames ─► fewer frames, their labels copied to the others ─► colour alone ─► the prior

The fixed cost of a plan is what labelling costs without any descriptor: decoding, supervoxels, CRF, painting. A budget
is short if the fixed cost would take more than a stated share of it: a few large supervoxels with descriptors give
better labels than many without.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.spaces.regions.settings import RegionSettings

__all__ = ["LADDER", "cheapest", "choose_plan", "given_up", "smaller"]

LADDER = ("fewer supervoxels", "smaller frames", "fewer frames", "colour alone", "prior")


def given_up(plan: Plan, full: Plan) -> list[str]:
    """Names in `LADDER` of what a plan gives up against the full plan."""
    if plan.prior:
        return ["prior"]
    steps = (
        plan.density < full.density,
        plan.size != full.size,
        plan.stride != full.stride,
        plan.colour_only,
    )
    return [name for name, is_so in zip(LADDER, steps, strict=False) if is_so]


def choose_plan(
    full: Plan,
    budget_s: float,
    fixed_s: Callable[[Plan], float],
    settings: RegionSettings,
    longest_stride: int = STRIDES[-1],
) -> Plan:
    """The first plan of the ladder whose fixed cost is at most `floor_share` of the budget.

    If there is none, the last plan of the ladder; the prior if not even that fits in the budget.

    Parameters
    ----------
    full : the plan at the top of the ladder
    budget_s : seconds
    fixed_s : predicts the fixed cost of a plan, in seconds
    settings : of the space
    longest_stride : of a plan
    """
    costs_s = [(plan, fixed_s(plan)) for plan in _ladder(full, settings, longest_stride)]
    fitting = [plan for plan, cost_s in costs_s if cost_s <= settings.floor_share * budget_s]
    if fitting:
        return fitting[0]
    last, last_s = costs_s[-1]
    return last if last_s <= budget_s else replace(last, prior=True)


def cheapest(full: Plan, settings: RegionSettings, longest_stride: int = STRIDES[-1]) -> Plan:
    """The last plan of the ladder before the prior."""
    *_, last = _ladder(full, settings, longest_stride)
    return last


def smaller(plan: Plan, settings: RegionSettings) -> Plan | None:
    """The plan with frames of half the size; None if they would be too small."""
    if min(plan.size) // 2 < settings.smallest_side:
        return None
    return replace(plan, size=(plan.size[0] // 2, plan.size[1] // 2))


def _ladder(plan: Plan, settings: RegionSettings, longest_stride: int) -> Iterator[Plan]:
    yield plan
    while plan.density / 2 >= settings.least_density:
        plan = replace(plan, density=plan.density / 2)
        yield plan
    while (half := smaller(plan, settings)) is not None:
        plan = half
        yield plan
    first_stride = plan.stride  # frames may be read with it already, so that others must be multiples of it
    for stride in STRIDES:
        is_multiple = stride > first_stride and stride % first_stride == 0
        if plan.stride < min(longest_stride, plan.n_frames) and is_multiple:
            plan = replace(plan, stride=stride)
            yield plan
    yield replace(plan, colour_only=True)
