"""A plan fits its budget, and nothing better would."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.baselines.keyframe_plan import COPY, FLOW, KeyframeCosts, plan_keyframes
from budgetseg.errors import UsageError

COSTS = KeyframeCosts(network_s=0.010, flow_s=0.001, copy_s=0.00002)
seconds = st.floats(1e-5, 0.1)


@given(st.integers(1, 500), st.floats(1e-4, 20), st.builds(KeyframeCosts, seconds, seconds, seconds))
def test_a_plan_fits_or_is_the_least_and_one_key_frame_more_does_not_fit(
    n_frames: int, budget_s: float, costs: KeyframeCosts
) -> None:
    plan = plan_keyframes(n_frames, budget_s, costs)
    other_s = costs.flow_s if plan.carry == FLOW else costs.copy_s
    assert 1 <= plan.n_keys <= n_frames
    assert plan.foreseen_s == pytest.approx(plan.n_keys * costs.network_s + (n_frames - plan.n_keys) * other_s)
    assert plan.fits == (plan.foreseen_s <= budget_s)
    assert plan.fits or plan.n_keys == 1 or plan.foreseen_s == pytest.approx(budget_s)
    if plan.n_keys < n_frames and other_s < costs.network_s:
        assert plan.foreseen_s + costs.network_s - other_s > budget_s * (1 - 1e-9)


@pytest.mark.parametrize("budget_s", [0.2, 0.3, 0.5, 0.9, 1.0])
def test_k_is_the_smallest_that_fits(budget_s: float) -> None:
    def cost_s(k: int) -> float:
        n_keys = -(-100 // k)
        return n_keys * COSTS.network_s + (100 - n_keys) * COSTS.flow_s

    plan = plan_keyframes(100, budget_s, COSTS)
    assert plan.carry == FLOW
    assert plan.k == min(k for k in range(1, 101) if cost_s(k) <= budget_s)


def test_a_budget_for_the_network_on_every_frame_leaves_nothing_to_carry() -> None:
    assert plan_keyframes(100, 1.0, COSTS).k == 1


def test_where_flow_takes_most_of_a_budget_copies_of_more_key_frames_are_better() -> None:
    plan = plan_keyframes(100, 0.12, COSTS)
    assert (plan.carry, plan.k, plan.fits) == (COPY, 10, True)


def test_a_budget_below_one_key_frame_still_gets_one_and_says_that_it_does_not_fit() -> None:
    plan = plan_keyframes(100, 0.005, COSTS)
    assert (plan.n_keys, plan.k, plan.carry, plan.fits) == (1, 100, COPY, False)


def test_costs_of_nothing_are_refused() -> None:
    with pytest.raises(UsageError, match="more than 0 s"):
        KeyframeCosts(0.01, 0.0, 0.001)
