"""What is given up where a budget is short, and in which order."""

from dataclasses import replace
from itertools import pairwise

import pytest

from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.spaces.regions.ladder import LADDER, cheapest, choose_plan, given_up, smaller
from budgetseg.spaces.regions.settings import RegionSettings

FULL = Plan(100, (360, 480), density=35.0)
SETTINGS = RegionSettings()


def ladder(full: Plan = FULL, settings: RegionSettings = SETTINGS, longest_stride: int = STRIDES[-1]) -> list[Plan]:
    """All plans that are looked at when nothing fits, the prior last."""
    asked: list[Plan] = []

    def fixed_s(plan: Plan) -> float:
        asked.append(plan)
        return float("inf")

    last = choose_plan(full, 1.0, fixed_s, settings, longest_stride)
    return [*dict.fromkeys(asked), last]


def test_things_are_given_up_in_the_stated_order() -> None:
    lacks = [tuple(given_up(plan, FULL)) for plan in ladder()]
    assert list(dict.fromkeys(lacks)) == [*(LADDER[:n] for n in range(5)), ("prior",)]


def test_every_rung_costs_no_more_work_than_the_one_before() -> None:
    for above, below in pairwise(ladder()):
        assert below.n_supervoxels <= above.n_supervoxels
        assert below.n_pixels <= above.n_pixels
        assert below != above


@pytest.mark.parametrize("settings", [SETTINGS, RegionSettings(least_density=4.0, smallest_side=20)])
def test_no_rung_goes_below_what_is_set(settings: RegionSettings) -> None:
    plans = ladder(settings=settings)
    for plan in plans:
        assert plan.density >= settings.least_density
        assert min(plan.size) >= settings.smallest_side
        assert plan.n_worked >= 1
    lowest = plans[-2]
    assert lowest == cheapest(FULL, settings)
    assert lowest.density / 2 < settings.least_density
    assert smaller(lowest, settings) is None


def test_frames_become_smaller_by_half_as_long_as_descriptors_have_room() -> None:
    half = smaller(FULL, SETTINGS)
    assert half == replace(FULL, size=(180, 240))
    assert smaller(replace(FULL, size=(127, 480)), SETTINGS) is None


def test_a_single_small_frame_has_few_rungs() -> None:
    single = Plan(1, (64, 96), density=5.0)
    assert ladder(single) == [single, replace(single, colour_only=True), replace(single, colour_only=True, prior=True)]


def test_of_frames_that_were_read_only_those_can_be_left_out_that_a_longer_stride_leaves_out() -> None:
    strides = {plan.stride for plan in ladder(replace(FULL, stride=3))}
    assert strides == {3, 6, 12, 24}


def test_no_stride_is_longer_than_the_longest_that_is_allowed() -> None:
    assert {plan.stride for plan in ladder(longest_stride=1)} == {1}
    assert max(plan.stride for plan in ladder(longest_stride=4)) == 4


@pytest.mark.parametrize("share", [0.3, 0.5])
def test_where_the_fixed_cost_is_its_share_of_the_budget_nothing_is_given_up(share: float) -> None:
    plan = choose_plan(FULL, 1.0, lambda _: share, RegionSettings(floor_share=share))
    assert plan is FULL
    assert given_up(plan, FULL) == []


@pytest.mark.parametrize("k", range(len(ladder()) - 1))
def test_the_first_plan_that_fits_is_taken(k: int) -> None:
    plans = ladder()
    costs_s = {plan: SETTINGS.floor_share if n >= k else 0.95 for n, plan in enumerate(plans)}
    assert choose_plan(FULL, 1.0, costs_s.__getitem__, SETTINGS) == plans[k]


def test_the_lowest_rung_may_take_the_whole_budget_and_the_prior_is_for_less() -> None:
    assert choose_plan(FULL, 1.0, lambda _: 1.0, SETTINGS) == ladder()[-2]
    last = choose_plan(FULL, 1.0, lambda _: 1.01, SETTINGS)
    assert last.prior
    assert given_up(last, FULL) == ["prior"]
