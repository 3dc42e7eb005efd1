"""What labelling a video costs without any descriptor, and what plans are made of it."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.spaces.regions.costs import ALL_DESCRIPTORS, FixedCosts, expected_share
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.spaces.regions.space import Regions
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget
from tests.spaces.regions.worlds import (
    FRAME_S,
    N_FRAMES,
    N_PIXELS,
    REGION_S,
    SIZE,
    lines_of,
    model_of,
    rates_of,
    request_of,
    space_of,
    street,
    video_of,
)

FRAMES = street()
MODEL = model_of()
END_S = sum(REGION_S[stage] for stage in ("interpolation", "potentials", "expansion"))


def space_with(**rates: float) -> Regions:
    """A space with other rates of some stages."""
    return space_of(MODEL, prices=Prices(rates_of() | rates, lines_of(), frozen=True))


def costs_of(space: Regions | None = None, seconds: float = 1.0) -> FixedCosts:
    return FixedCosts.of(space or space_of(MODEL), video_of(FRAMES), request_of(seconds))


def test_the_full_plan_works_on_every_frame_at_its_size() -> None:
    full = costs_of().full
    assert (full.n_frames, full.size, full.stride, full.density) == (N_FRAMES, SIZE[::-1], 1, 25.0)


def test_without_a_wish_supervoxels_are_as_many_as_suit_the_video() -> None:
    request = Request((Budget(1.0),))
    dense, sparse = (
        FixedCosts.of(space_of(MODEL), video_of(FRAMES, rate=rate), request).full.density for rate in (25.0, 1.0)
    )
    assert (dense, sparse) == (25, 200)


def test_the_fixed_cost_of_a_plan_is_that_of_all_its_stages() -> None:
    costs = costs_of()
    stages_s = sum(FRAME_S[stage] for stage in ("decode .array", "supervoxels fast 1", "preparation", "pixels"))
    assert costs.seconds(costs.full) == pytest.approx(N_FRAMES * stages_s + 400 * END_S)


def test_fewer_frames_cost_less_and_the_prior_nothing() -> None:
    costs = costs_of()
    half = replace(costs.full, stride=2)
    assert costs.seconds(half) < 0.6 * costs.seconds(costs.full)
    assert costs.seconds(costs.full, n_frames=8) == pytest.approx(0.5 * costs.seconds(costs.full))
    assert costs.seconds(replace(costs.full, prior=True)) == 0


def test_decoding_counts_as_many_times_as_is_believed() -> None:
    costs = costs_of()
    decode_s = N_FRAMES * FRAME_S["decode .array"]
    assert costs.seconds(costs.full, decoding=0.0) == pytest.approx(costs.seconds(costs.full) - decode_s)
    assert costs.seconds(costs.full, decoding=0.25) == pytest.approx(costs.seconds(costs.full) - 0.75 * decode_s)


def test_labels_are_carried_where_frames_were_left_out_or_made_smaller() -> None:
    costs = costs_of()
    half, small = replace(costs.full, stride=2), replace(costs.full, size=(32, 48), read_size=(64, 96))
    assert not costs.is_carried(costs.full)
    assert costs.is_carried(half)
    assert costs.is_carried(small)
    assert costs.carry_work(half, 8) == N_FRAMES * N_PIXELS
    assert costs.carry_work(small, 16) == N_FRAMES * N_PIXELS


def test_frames_that_are_read_larger_than_they_are_worked_on_must_be_reduced() -> None:
    costs = costs_of()
    small = replace(costs.full, size=(32, 48))
    read = replace(small, read_size=(64, 96))
    reducing_s = 1e-9 * N_FRAMES * N_PIXELS
    assert costs.seconds(read, decoding=0.0) == pytest.approx(costs.seconds(small, decoding=0.0) + reducing_s)


@pytest.mark.parametrize(("share", "tier"), [(0.9, None), (1.1, "fast")])
def test_supervoxels_are_fast_ones_where_those_of_the_model_would_take_much_of_the_budget(
    share: float, tier: str | None
) -> None:
    space = replace(space_of(MODEL), tier="quality")
    key, work = space.cutting(N_FRAMES, SIZE[::-1])
    rate = share * space.settings.cutting_share * 0.4 / work
    space = replace(space, prices=Prices(rates_of() | {key: rate}, lines_of(), frozen=True))
    assert costs_of(space, 0.4).in_time.tier == tier


def test_without_a_bound_supervoxels_stay_as_the_model_has_them() -> None:
    space = replace(space_with(**{"supervoxels quality 1": 1.0}), tier="quality")
    assert costs_of(space, np.inf).in_time.tier is None


@pytest.mark.parametrize("seconds", [0.02, 0.05, 0.1, 0.2])
def test_the_first_plan_leaves_the_share_of_the_budget_that_is_meant_for_descriptors(seconds: float) -> None:
    costs = costs_of(seconds=seconds)
    plan = costs.first_plan()
    assert costs.seconds(plan) <= RegionSettings().floor_share * seconds
    if plan.stride > 1:
        richer = replace(plan, stride=1)
        assert costs.seconds(richer) > RegionSettings().floor_share * seconds


def test_of_all_descriptors_a_budget_pays_for_what_it_leaves_after_the_fixed_cost() -> None:
    full_s = 0.08
    space = space_with(**{ALL_DESCRIPTORS: full_s / (N_FRAMES * N_PIXELS)})
    fixed_s = costs_of(space).seconds(costs_of(space).full)
    for seconds in (fixed_s + 0.02, fixed_s + 0.04):
        share = expected_share(space, video_of(FRAMES), request_of(seconds))
        assert share == pytest.approx((seconds - fixed_s) / full_s)
    assert expected_share(space, video_of(FRAMES), request_of(1e-3)) == 0
    assert expected_share(space, video_of(FRAMES), request_of(np.inf)) == 1


def test_a_share_of_descriptors_is_the_share_that_it_pays_for() -> None:
    request = Request((Budget(0.3, is_share=True),), "descriptors")
    assert expected_share(space_of(MODEL), video_of(FRAMES), request) == 0.3


def test_where_nothing_was_ever_labelled_no_share_is_known() -> None:
    assert expected_share(space_of(MODEL), video_of(FRAMES), request_of(1.0)) is None


def test_plans_are_made_with_prices_of_a_machine_that_is_slower_now() -> None:
    space = space_of(MODEL)
    before = costs_of(space).seconds(costs_of(space).full)
    space.prices.slowdown.factor = 2.0
    assert costs_of(space).seconds(Plan(N_FRAMES, SIZE[::-1], density=25.0)) == pytest.approx(2 * before)
