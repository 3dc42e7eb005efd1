"""The paper's baselines: what they may buy, and what they do buy."""

import numpy as np
import pytest

from budgetseg.baselines.paper import BASELINES, run_baseline
from budgetseg.simulate import Arena
from budgetseg.types import Int32
from tests.simulate.arenas import NAMES, random_arena

HAND_MADE = NAMES[:4]
FRACTIONS = (0.01, 0.1, 0.3, 0.6, 0.95)


@pytest.fixture(scope="module", params=["shared", "unshared"])
def arena(request: pytest.FixtureRequest) -> Arena:
    return random_arena(80, 0, request.param)


def columns_of(subsets: Int32) -> list[int]:
    """Supervoxels that have each descriptor."""
    return [int((subsets >> d & 1).sum()) for d in range(len(NAMES))]


@pytest.mark.parametrize("name", BASELINES)
@pytest.mark.parametrize("fraction", FRACTIONS)
def test_no_baseline_spends_more_than_it_has_or_what_it_may_not(arena: Arena, name: str, fraction: float) -> None:
    budget_s = fraction * arena.full_s(HAND_MADE)
    for seed in range(4):
        state = run_baseline(arena, name, HAND_MADE, budget_s, seed)
        assert state.scalars.spent_s <= budget_s
        assert (state.subsets < 16).all()


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_baseline1_buys_whole_descriptors_until_no_other_fits(arena: Arena, fraction: float) -> None:
    for seed in range(4):
        state = run_baseline(arena, "baseline1", HAND_MADE, fraction * arena.full_s(HAND_MADE), seed)
        counts = columns_of(state.subsets)
        assert set(counts) <= {0, 80}
        bought = [d for d, count in enumerate(counts) if count]
        assert state.scalars.spent_s == pytest.approx(arena.costs.full_s(bought))
        for d in range(4):
            more_s = arena.costs.full_s(sorted({*bought, d})) - arena.costs.full_s(bought)
            assert d in bought or more_s > state.scalars.left_s


def test_baseline1_takes_descriptors_in_random_order(arena: Arena) -> None:
    budget_s = 0.6 * arena.full_s(HAND_MADE)
    found = {int(run_baseline(arena, "baseline1", HAND_MADE, budget_s, seed).subsets[0]) for seed in range(12)}
    assert len(found) > 2


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_its_other_form_spends_the_rest_on_random_supervoxels(arena: Arena, fraction: float) -> None:
    for seed in range(4):
        budget_s = fraction * arena.full_s(HAND_MADE)
        plain = run_baseline(arena, "baseline1", HAND_MADE, budget_s, seed)
        more = run_baseline(arena, "baseline1-rest", HAND_MADE, budget_s, seed)
        assert (plain.subsets & ~more.subsets == 0).all()
        assert more.scalars.spent_s >= plain.scalars.spent_s
        if arena.pricing == "unshared":  # else what did not fit may have become cheaper later
            lacks = (more.subsets[:, None] >> np.arange(4) & 1) == 0
            assert (arena.costs.private_s[:, :4][lacks] > more.scalars.left_s).all()


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_baseline2_buys_all_descriptors_for_some_supervoxels(arena: Arena, fraction: float) -> None:
    for seed in range(4):
        state = run_baseline(arena, "baseline2", HAND_MADE, fraction * arena.full_s(HAND_MADE), seed)
        assert set(state.subsets.tolist()) <= {0, 15}
        assert fraction < 0.1 or (state.subsets > 0).any()


def test_baseline2_takes_any_supervoxels(arena: Arena) -> None:
    ends = [run_baseline(arena, "baseline2", HAND_MADE, 0.3 * arena.full_s(HAND_MADE), seed) for seed in range(20)]
    assert np.mean([end.subsets > 0 for end in ends], axis=0).min() > 0


@pytest.mark.parametrize("name", BASELINES)
def test_with_time_for_everything_everything_is_computed(arena: Arena, name: str) -> None:
    state = run_baseline(arena, name, NAMES, np.inf)
    assert (state.subsets == 31).all()
    assert state.scalars.spent_s == pytest.approx(arena.full_s(NAMES))
