"""What to do without when the budget is short, in a stated order.

    fewer supervoxels ─► smaller frames ─► fewer frames, their labels carried over ─► colour alone ─► the prior

The fixed cost of a plan is what labelling costs with no descriptor at all: decoding, supervoxels, CRF, pixels. A
budget is short where that would take more than a stated share of it: descriptors of a few large supervoxels tell more
than many supervoxels without any.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.spaces.regions.settings import RegionSettings

__all__ = ["LADDER", "cheapest", "choose_plan", "given_up", "smaller"]

LADDER = ("fewer supervoxels", "smaller frames", "fewer frames", "colour alone", "prior")


def given_up(plan: Plan, full: Plan) -> list[str]:
    """What a plan does without, by the names in `LADDER`, where `full` does without nothing."""
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
    """The first plan of the ladder whose fixed cost is `floor_share` of the budget at most.

    Where none is, the last; the prior where that does not fit at all.
    """
    costs_s = [(plan, fixed_s(plan)) for plan in _ladder(full, settings, longest_stride)]
    fitting = [plan for plan, own_s in costs_s if own_s <= settings.floor_share * budget_s]
    if fitting:
        return fitting[0]
    last, last_s = costs_s[-1]
    return last if last_s <= budget_s else replace(last, prior=True)


def cheapest(full: Plan, settings: RegionSettings, longest_stride: int = STRIDES[-1]) -> Plan:
    """The last plan of the ladder before the prior."""
    *_, last = _ladder(full, settings, longest_stride)
    return last


def smaller(plan: Plan, settings: RegionSettings) -> Plan | None:
    """The same with frames of half the size; None where they would be too small."""
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
    began = plan.stride  # of frames that were read, only some can be left out
    for stride in STRIDES:
        if plan.stride < min(longest_stride, plan.n_frames) and stride > began and stride % began == 0:
            plan = replace(plan, stride=stride)
            yield plan
    yield replace(plan, colour_only=True)
