"""Compiled steps work on the arrays that they are handed."""

import sys

import numba
import numpy as np
import pytest

from budgetseg.policy.compiled import compiled
from budgetseg.policy.episode import Selection
from tests.policy.worlds import any_policy, made_video


@compiled
def count_on(state):  # type: ignore[no-untyped-def]
    state.subsets[2] += 1
    state.scalars.n_decisions += 1


@compiled
def first_of_copy(array):  # type: ignore[no-untyped-def]
    return array.copy()[0]


def test_what_happens_to_the_arrays_happens_to_the_state() -> None:
    state = made_video(0).begin(1.0).state
    count_on(state)
    assert state.subsets.tolist() == [0, 0, 1] + 12 * [0]
    assert state.scalars.n_decisions == 1


def test_a_run_holds_on_to_no_array() -> None:
    video = made_video(0)
    episode = video.begin(video.full_s, Selection("wanted"))
    arrays = [*episode.world, *episode.state]
    before = [sys.getrefcount(array) for array in arrays]
    assert video.run(episode, any_policy(video, 0, extended=True))
    assert [sys.getrefcount(array) for array in arrays] == before


def test_to_allocate_is_an_error() -> None:
    with pytest.raises(numba.core.errors.NumbaError, match="NRT required"):
        first_of_copy(np.zeros(3))
