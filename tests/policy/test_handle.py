"""A handle stands for the very arrays it was made from."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numba import njit
from numpy.typing import NDArray

from budgetseg.policy.handle import attach, handle_of
from budgetseg.policy.state import State, World, new_state, world_of
from tests.policy.worlds import Made, made_video


@njit
def copies(handle):  # type: ignore[no-untyped-def]
    world, state = attach(handle)
    return (
        *(world.first.copy(), world.others.copy(), world.weights.copy(), world.seen_from.copy(), world.sizes.copy()),
        *(
            world.private_s.copy(),
            world.resource_s.copy(),
            world.needs_first.copy(),
            world.needed.copy(),
            world.users_first.copy(),
            world.users.copy(),
            world.used_for.copy(),
        ),
        *(
            state.subsets.copy(),
            state.status.copy(),
            state.visits.copy(),
            state.probabilities.copy(),
            state.broadcast.copy(),
        ),
        *(
            state.neighbour_sum.copy(),
            state.neighbour_weight.copy(),
            state.neighbour_confidence.copy(),
            state.finished_around.copy(),
            state.made.copy(),
        ),
        *(state.due_s.copy(), state.heap.copy(), state.where.copy(), state.rank.copy(), state.waiting.copy()),
        *(state.order.copy(), state.costs_s.copy(), state.costs.copy(), state.shares.copy(), state.outdated.copy()),
        *(
            state.stale.copy(),
            state.is_stale.copy(),
            state.changed.copy(),
            state.seed.copy(),
            state.scalars.copy(),
            state.counts.copy(),
        ),
    )


@njit
def count_on(handle):  # type: ignore[no-untyped-def]
    _, state = attach(handle)
    state.counts[3] += 1


def noise_for(video: Made) -> tuple[World, State]:
    """A state full of nonsense, so that no two arrays are the same."""
    world, rng = world_of(video.graph, video.costs), np.random.default_rng(0)
    state = new_state(world, video.n_labels, 1.0, 0)
    for array in state:
        array[...] = rng.integers(0, 2 if array.dtype == np.bool_ else 100, array.shape)
    return world, state


def test_a_handle_leads_to_the_same_arrays() -> None:
    world, state = noise_for(made_video(0))
    arrays: list[NDArray[Any]] = [*world, *state]
    for found, array in zip(copies(handle_of(world, state)), arrays, strict=True):
        assert found.dtype == array.dtype
        assert np.array_equal(found, array)


def test_what_happens_behind_a_handle_happens_to_the_state() -> None:
    world, state = noise_for(made_video(0))
    before = int(state.counts[3])
    count_on(handle_of(world, state))
    assert state.counts[3] == before + 1


def test_arrays_with_gaps_are_refused() -> None:
    video = made_video(0)
    costs = replace(video.costs, private_s=np.repeat(video.costs.private_s, 2, axis=1)[:, ::2])
    world = world_of(video.graph, costs)
    state = new_state(world, 4, 1.0, 0)
    with pytest.raises(ValueError, match="contiguous"):
        handle_of(world, state)


def test_arrays_of_another_kind_are_refused() -> None:
    video = made_video(0)
    world = world_of(video.graph, video.costs)
    state = new_state(world, 4, 1.0, 0)
    with pytest.raises(ValueError, match="needed is int64, not int32"):
        handle_of(world._replace(needed=world.needed.astype(np.int64)), state)
