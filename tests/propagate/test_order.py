"""Orders of which every beginning is spread."""

from collections.abc import Iterable
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetseg.propagate.order import fill, key_frames, medians, spread
from budgetseg.types import Float64


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_every_place_comes_once(n: int) -> None:
    assert sorted(spread(n)) == list(range(n))
    for taken in ([], [0], [n - 1], [n // 2]):
        assert sorted([*fill(range(n), taken), *taken]) == list(range(n))


@pytest.mark.parametrize("n_done", [2, 4, 8, 16])
def test_every_beginning_of_a_spread_is_about_even(n_done: int) -> None:
    done = sorted(spread(64)[:n_done])
    gaps = [b - a for a, b in pairwise([*done, 64])]
    assert max(gaps) <= 2 * min(gaps)


def test_the_widest_gap_is_filled_first() -> None:
    places = list(fill(range(100), [10, 90]))
    assert 45 <= places[0] <= 55
    done = sorted([10, 90, *places[:10]])
    assert max(b - a for a, b in pairwise(done)) <= 20


def test_places_keep_their_numbers() -> None:
    assert set(fill([0, 3, 6, 9], [3])) == {0, 6, 9}


def test_where_all_is_taken_nothing_is_left_to_fill() -> None:
    assert list(fill(range(5), range(5))) == []
    assert list(fill([], [])) == []


def test_key_frames_lie_in_the_middle_of_their_share() -> None:
    assert key_frames(12, 3) == [2, 6, 10]
    assert key_frames(5, 5) == [0, 1, 2, 3, 4]
    assert key_frames(9, 1) == [4]


# Medians


def total(positions: Float64, places: Iterable[int]) -> float:
    """Sum of the distances from each position to the nearest of these places."""
    return float(np.abs(positions[:, None] - positions[list(places)]).min(axis=1).sum())


@settings(deadline=None)
@given(st.lists(st.floats(0, 50), min_size=1, max_size=9), st.integers(1, 9))
def test_no_other_places_are_nearer_to_all_positions_than_their_medians(steps: list[float], k: int) -> None:
    positions = np.cumsum(np.array(steps))
    k = min(k, len(positions))
    found = medians(positions, k)
    assert len(set(found.tolist())) == k
    assert sorted(found) == list(found)
    best = min(total(positions, some) for some in combinations(range(len(positions)), k))
    assert total(positions, found) == pytest.approx(best, abs=1e-6)


def test_medians_of_even_positions_lie_in_the_middle_of_their_share() -> None:
    assert medians(np.arange(15.0), 3).tolist() == [2, 7, 12]
    assert medians(np.arange(5.0), 5).tolist() == [0, 1, 2, 3, 4]
    assert medians(np.arange(9.0), 1).tolist() == [4]


def test_medians_go_where_positions_are_far_from_each_other() -> None:
    shots = np.array([0, 1, 2, 3, 4, 5, 100, 101, 200, 201, 202.0])
    assert medians(shots, 3).tolist() == [3, 7, 9]


def test_the_widest_gap_by_position_is_filled_first() -> None:
    positions = np.array([0, 1, 2, 3, 4, 5, 6, 7, 50, 60.0])
    assert next(fill(range(10), [0, 9], positions)) == 8
    assert next(fill(range(0, 10, 3), [0, 9], positions)) == 6
