"""What a run begins with."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

from budgetseg.policy.state import Scalars, copy_state, least_cost, new_state, unshared, world_of
from budgetseg.supervoxels.graph import direction_bins
from budgetseg.types import Graph
from tests.graphs import graphs
from tests.policy.worlds import made_video


@given(graphs())
@settings(deadline=None, max_examples=60)
def test_neighbours_know_in_which_direction_they_see_a_supervoxel(graph: Graph) -> None:
    costs = made_video(0, n=len(graph)).costs
    world = world_of(graph, costs)
    owner = np.repeat(np.arange(len(graph), dtype=np.int32), np.diff(world.first))
    seen = direction_bins(graph.centroids, np.stack([world.others, owner], axis=1))
    assert np.array_equal(world.seen_from, seen[:, 0])


def test_sizes_are_relative_to_the_mean() -> None:
    video = made_video(0)
    sizes = np.exp(world_of(video.graph, video.costs).sizes)
    assert sizes.mean() == pytest.approx(1, abs=1e-6)
    assert np.allclose(sizes / sizes[0], video.graph.sizes / video.graph.sizes[0])


def test_unshared_costs_pay_for_all_that_is_needed() -> None:
    costs = made_video(1).costs
    alone = unshared(costs)
    for i, d in np.ndindex(costs.private_s.shape):
        cell = i * costs.private_s.shape[1] + d
        needed = costs.needed[costs.first[cell] : costs.first[cell + 1]]
        assert alone.private_s[i, d] == pytest.approx(costs.private_s[i, d] + sum(costs.resource_s[r] for r in needed))
    assert alone.full_s(range(3)) == pytest.approx(alone.private_s.sum())
    assert alone.resource_s.size == alone.needed.size == 0


@pytest.mark.parametrize("enabled", [0b111, 0b110, 0b001])
@pytest.mark.parametrize("shared", [True, False])
def test_money_is_counted_over_what_is_enabled(enabled: int, shared: bool) -> None:
    video = made_video(2)
    costs = video.costs if shared else unshared(video.costs)
    state = new_state(world_of(video.graph, costs), 4, 5.0, 0, enabled)
    columns = [d for d in range(3) if enabled >> d & 1]
    assert state.scalars.full_s == pytest.approx(costs.full_s(columns))
    assert state.scalars.least_s == costs.private_s[:, columns].min()
    assert state.scalars.left_s == 5.0


def test_what_may_be_computed_is_what_there_is() -> None:
    video = made_video(2)
    world = world_of(video.graph, video.costs)
    assert new_state(world, 4, 1.0, 0).scalars.enabled == 0b111
    assert new_state(world, 4, 1.0, 0, enabled=0b11010).scalars.enabled == 0b010
    nothing = new_state(world, 4, 1.0, 0, enabled=0)
    assert nothing.scalars.full_s == 0
    assert nothing.scalars.least_s == np.inf


def test_supervoxels_are_seeded_in_an_order_that_the_seed_tells() -> None:
    video = made_video(0, n=30)
    world = world_of(video.graph, video.costs)
    same, other = (new_state(world, 4, 1.0, seed).seeding for seed in (5, 6))
    assert np.array_equal(same, new_state(world, 4, 1.0, 5).seeding)
    assert not np.array_equal(same, other)
    assert sorted(same) == list(range(30))


def test_a_copy_goes_its_own_way() -> None:
    video = made_video(0)
    state = new_state(world_of(video.graph, video.costs), 4, 1.0, 0)
    fields: list[Any] = list(state)
    before = [field.copy() for field in fields]
    other = copy_state(state)
    for name in Scalars.__annotations__:
        setattr(other.scalars, name, 1)
    for array in other[:-1]:
        array[...] = 1 if array.dtype == np.bool_ else 77
    assert all(np.array_equal(*pair) for pair in zip(before, fields, strict=True))


@pytest.mark.parametrize("enabled", [0b111, 0b110])
def test_the_cheapest_of_what_is_left_is_found(enabled: int) -> None:
    video, rng = made_video(3), np.random.default_rng(0)
    world = world_of(video.graph, video.costs)
    state = new_state(world, 4, 1.0, 0, enabled)
    state.subsets[:] = rng.integers(0, 8, len(state.subsets))
    state.due_s[rng.random(len(state.due_s)) < 0.3] = 0
    costs_s = []
    for i, d in np.ndindex(world.private_s.shape):
        if enabled >> d & 1 and not state.subsets[i] >> d & 1:
            cell = i * world.n_descriptors + d
            needed = world.needed[world.needs_first[cell] : world.needs_first[cell + 1]]
            costs_s.append(world.private_s[i, d] + state.due_s[needed].sum())
    assert least_cost(world, state) == pytest.approx(min(costs_s))
    state.subsets[:] = 0b111
    assert least_cost(world, state) == np.inf
