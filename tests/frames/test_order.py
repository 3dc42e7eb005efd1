"""Orders of which every beginning is spread."""

from itertools import pairwise

import pytest
from budgetseg.frames.order import fill, key_frames, spread


@pytest.mark.parametrize("n", [1, 2, 7, 50])
def test_every_place_comes_once(n: int) -> None:
    assert sorted(spread(n)) == list(range(n))
    for taken in ([], [0], [n - 1], [n // 2]):
        assert sorted([*fill(range(n), taken), *taken]) == list(range(n))


def test_the_widest_gap_is_filled_first() -> None:
    places = list(fill(range(100), [10, 90]))
    assert 45 <= places[0] <= 55
    done = sorted([10, 90, *places[:10]])
    assert max(b - a for a, b in pairwise(done)) <= 20


def test_places_keep_their_names() -> None:
    assert set(fill([0, 3, 6, 9], [3])) == {0, 6, 9}


def test_key_frames_lie_in_the_middle_of_their_share() -> None:
    assert key_frames(12, 3) == [2, 6, 10]
    assert key_frames(5, 5) == [0, 1, 2, 3, 4]
