"""Baseline3 at work: what it may buy, and what it does buy."""

import numpy as np
import pytest

from budgetseg.baselines.baseline3 import run_baseline3
from budgetseg.policy.baseline3 import N_LEVELS, Baseline3Policy
from budgetseg.simulate import Arena
from tests.simulate.arenas import NAMES, random_arena

AMONG = ("mbh", "colour", "hof")  # another order than the model's
FRACTIONS = (0.01, 0.1, 0.3, 0.6, 0.95)
N = 80


@pytest.fixture(scope="module", params=["shared", "unshared"])
def arena(request: pytest.FixtureRequest) -> Arena:
    return random_arena(N, 0, request.param)


def policy_of(seed: int, costs: str) -> Baseline3Policy:
    values = np.random.default_rng(seed).normal(size=(8, N_LEVELS, 4)).astype(np.float32)
    return Baseline3Policy(AMONG, costs, values)


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_it_buys_whole_descriptors_as_its_table_says_until_none_that_it_wants_fits(
    arena: Arena, fraction: float
) -> None:
    full_s, columns = arena.full_s(AMONG), [NAMES.index(name) for name in AMONG]
    for seed in range(8):
        policy, left_s, bought = policy_of(seed, arena.pricing), fraction * full_s, list[int]()
        while True:
            subset = sum(1 << d for d in bought)
            costs = {
                d: arena.costs.full_s(sorted(columns[own] for own in {*bought, d}))
                - arena.costs.full_s(sorted(columns[own] for own in bought))
                for d in policy.wanted(subset, left_s / full_s)
            }
            fitting = [d for d, seconds in costs.items() if seconds <= left_s]
            if not fitting:
                break
            left_s -= costs[fitting[0]]
            bought.append(fitting[0])
        state = run_baseline3(arena, policy, fraction * full_s, seed)
        assert (state.subsets == sum(1 << columns[d] for d in bought)).all()
        assert state.scalars.left_s == pytest.approx(left_s)


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_its_other_form_spends_the_rest_on_what_it_still_wants_for_random_supervoxels(
    arena: Arena, fraction: float
) -> None:
    budget_s, some = fraction * arena.full_s(AMONG), 0
    for seed in range(8):
        policy = policy_of(seed, arena.pricing)
        plain, more = run_baseline3(arena, policy, budget_s), run_baseline3(arena, policy, budget_s, seed, rest=True)
        bought = sum(1 << k for k, name in enumerate(AMONG) if plain.subsets[0] >> NAMES.index(name) & 1)
        wanted = policy.wanted(bought, plain.scalars.left_s / arena.full_s(AMONG))
        allowed = sum(1 << NAMES.index(AMONG[d]) for d in wanted)
        assert (plain.subsets & ~more.subsets == 0).all()
        assert (more.subsets & ~plain.subsets & ~allowed == 0).all()
        assert plain.scalars.spent_s <= more.scalars.spent_s <= budget_s
        some += int((more.subsets != plain.subsets).any())
    assert some


def test_the_rest_goes_to_other_supervoxels_with_another_seed(arena: Arena) -> None:
    policy = Baseline3Policy(AMONG, arena.pricing, np.tile(np.array([0, 0, 1, 0], np.float32), (8, N_LEVELS, 1)))
    ends = [run_baseline3(arena, policy, 0.1 * arena.full_s(AMONG), seed, rest=True).subsets for seed in range(20)]
    assert all(set(end.tolist()) == {0, 4} for end in ends)
    assert np.mean(np.any([end > 0 for end in ends], axis=0)) > 0.8


def test_times_are_told(arena: Arena) -> None:
    times_s = np.full(arena.world.private_s.shape, np.nan)
    policy = Baseline3Policy(AMONG, arena.pricing, np.tile(np.array([1, 3, 2, 0], np.float32), (8, N_LEVELS, 1)))
    state = run_baseline3(arena, policy, np.inf, times_s=times_s)
    assert np.isfinite(times_s[:, [0, 2, 3]]).all()
    assert np.isnan(times_s[:, [1, 4]]).all()
    assert np.nanmax(times_s) == state.scalars.spent_s
    assert times_s[:, 0].max() < times_s[:, 2].min() < times_s[:, 3].min()
