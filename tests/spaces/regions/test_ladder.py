"""What is given up where a budget is short, and in which order."""

from dataclasses import replace
from itertools import pairwise

import pytest

from budgetseg.engine.plan import (
    FLOOR_SHARE,
    LADDER,
    LEAST_DENSITY,
    SMALLEST_SIDE,
    Plan,
    choose_plan,
)

FULL = Plan(100, (360, 480), 35.0)


def ladder(full: Plan = FULL) -> list[Plan]:
    """All plans that are looked at when nothing fits, the prior last."""
    asked: list[Plan] = []

    def floor_s(plan: Plan) -> float:
        asked.append(plan)
        return float("inf")

    last = choose_plan(full, 1.0, floor_s)
    return [*dict.fromkeys(asked), last]


def test_things_are_given_up_in_the_stated_order() -> None:
    given_up = [plan.lacks(FULL) for plan in ladder()[:-1]]
    assert [list(lacks) for lacks in dict.fromkeys(map(tuple, given_up))] == [list(LADDER[:n]) for n in range(5)]
    assert LADDER[-1] == "prior"


def test_every_rung_costs_no_more_work_than_the_one_before() -> None:
    plans = ladder()
    for above, below in pairwise(plans):
        assert below.n_supervoxels <= above.n_supervoxels
        assert below.n_pixels <= above.n_pixels
        assert below != above


def test_no_rung_goes_below_what_still_says_something() -> None:
    for plan in ladder():
        assert plan.density >= LEAST_DENSITY
        assert min(plan.size) >= SMALLEST_SIDE
        assert plan.n_worked >= 1
    lowest = ladder()[-2]
    assert lowest.density / 2 < LEAST_DENSITY
    assert min(lowest.size) // 2 < SMALLEST_SIDE


def test_a_single_small_frame_has_few_rungs() -> None:
    single = Plan(1, (64, 96), 5.0)
    assert ladder(single) == [single, replace(single, colour_only=True), replace(single, colour_only=True, prior=True)]


def test_a_budget_above_the_floor_gives_up_nothing() -> None:
    plan = choose_plan(FULL, 1.0, lambda _: FLOOR_SHARE)
    assert plan is FULL
    assert plan.lacks(FULL) == []


@pytest.mark.parametrize("k", range(len(ladder()) - 1))
def test_the_first_plan_that_fits_is_taken(k: int) -> None:
    plans = ladder()
    costs_s = {plan: 0.5 if n >= k else 0.95 for n, plan in enumerate(plans)}
    assert choose_plan(FULL, 1.0, costs_s.__getitem__) == plans[k]


def test_the_lowest_rung_may_take_the_whole_budget_and_the_prior_is_for_less() -> None:
    assert choose_plan(FULL, 1.0, lambda _: 1.0) == ladder()[-2]
    last = choose_plan(FULL, 1.0, lambda _: 1.01)
    assert last.prior
    assert last.lacks(FULL) == ["prior"]


def test_counts_are_of_what_is_worked_on() -> None:
    plan = Plan(10, (4, 6), 2.5, stride=4)
    assert (plan.n_worked, plan.n_pixels, plan.n_supervoxels) == (3, 72.0, 8)
    assert Plan(1, (4, 6), 0.1).n_supervoxels == 1
