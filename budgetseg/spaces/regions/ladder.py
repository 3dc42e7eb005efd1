"""What to do without when the budget is short, in a stated order.

    fewer supervoxels ─► smaller frames ─► fewer frames, their labels carried over ─► colour alone ─► the prior

The floor is what labelling costs with no descriptor at all: decoding, supervoxels, closing, pixels. A budget is short
where that would take more than half of it: descriptors of a few large supervoxels tell more than many without any.
"""

from collections.abc import Callable, Iterator
from dataclasses import replace

from budgetseg.engine.plan import STRIDES, Plan

__all__ = ["LADDER", "LONGEST_STRIDE", "cheapest", "choose_plan", "given_up", "smaller"]

LADDER = ("fewer supervoxels", "smaller frames", "fewer frames", "colour alone", "prior")
LEAST_DENSITY = 16  # supervoxels a frame; fewer cost no less time, and say less than smaller frames do
SMALLEST_SIDE = 64  # pixels
LONGEST_STRIDE = STRIDES[-1]
FLOOR_SHARE = 0.5  # of the budget; the rest is for descriptors


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
    full: Plan, budget_s: float, floor_s: Callable[[Plan], float], longest_stride: int = LONGEST_STRIDE
) -> Plan:
    """The first plan of the ladder whose floor is `FLOOR_SHARE` of the budget at most.

    Where no floor is, the last; the prior where that does not fit at all.
    """
    floors = [(plan, floor_s(plan)) for plan in _ladder(full, longest_stride)]
    fitting = [plan for plan, own_s in floors if own_s <= FLOOR_SHARE * budget_s]
    if fitting:
        return fitting[0]
    last, last_s = floors[-1]
    return last if last_s <= budget_s else replace(last, prior=True)


def cheapest(full: Plan, longest_stride: int = LONGEST_STRIDE) -> Plan:
    """The last plan of the ladder before the prior."""
    *_, last = _ladder(full, longest_stride)
    return last


def smaller(plan: Plan) -> Plan | None:
    """The same with frames of half the size; None where they would be too small."""
    if min(plan.size) // 2 < SMALLEST_SIDE:
        return None
    return replace(plan, size=(plan.size[0] // 2, plan.size[1] // 2))


def _ladder(plan: Plan, longest_stride: int) -> Iterator[Plan]:
    yield plan
    while plan.density / 2 >= LEAST_DENSITY:
        plan = replace(plan, density=plan.density / 2)
        yield plan
    while (half := smaller(plan)) is not None:
        plan = half
        yield plan
    began = plan.stride  # of frames that were read, only some can be left out
    for stride in STRIDES:
        if plan.stride < min(longest_stride, plan.n_frames) and stride > began and stride % began == 0:
            plan = replace(plan, stride=stride)
            yield plan
    yield replace(plan, colour_only=True)
