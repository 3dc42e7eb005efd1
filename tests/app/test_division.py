"""Dividing seconds among videos: nothing is lost, and no other division buys more."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from budgetseg.app.division import by_size, divide
from budgetseg.types import Float64


def curves(seed: int, n: int, k: int = 6) -> tuple[Float64, Float64, Float64]:
    rng = np.random.default_rng(seed)
    seconds = np.cumsum(rng.uniform(0.1, 2.0, (n, k)), axis=1)
    points = np.cumsum(rng.uniform(0.0, 5.0, (n, k)), axis=1)
    return seconds, points, rng.uniform(0.5, 3.0, n)


def hull_value(seconds: Float64, points: Float64, given_s: float) -> float:
    """Points on the concave hull of a curve: the best of all chords over it, by trying them."""
    x, y = np.concatenate([[0.0], seconds]), np.concatenate([points[:1], points])
    given_s = min(given_s, float(x[-1]))
    found = [
        y[a] + (y[b] - y[a]) * (given_s - x[a]) / (x[b] - x[a]) if b > a else y[a]
        for a in range(len(x))
        for b in range(a, len(x))
        if x[a] <= given_s <= x[b]
    ]
    return float(max(found))


def value(seconds: Float64, points: Float64, weights: Float64, given_s: Float64) -> float:
    rows = zip(seconds, points, weights, given_s, strict=True)
    return sum(float(weight) * hull_value(x, y, own_s) for x, y, weight, own_s in rows)


@given(seed=st.integers(0, 10_000), n=st.integers(1, 6), total_s=st.floats(0.01, 60.0))
@settings(max_examples=60, deadline=None)
def test_all_seconds_are_given_and_no_exchange_of_seconds_buys_more(seed: int, n: int, total_s: float) -> None:
    seconds, points, weights = curves(seed, n)
    given_s = divide(seconds, points, weights, total_s)
    assert given_s.sum() == pytest.approx(total_s)
    assert given_s.min() >= 0
    best = value(seconds, points, weights, given_s)
    for a in range(n):
        for b in range(n):
            other_s = given_s.copy()
            moved_s = min(0.05, given_s[a])
            other_s[a] -= moved_s
            other_s[b] += moved_s
            assert value(seconds, points, weights, other_s) <= best + 1e-9


def test_a_video_that_gains_nothing_more_leaves_seconds_to_the_others() -> None:
    seconds = np.array([[1.0, 2.0, 8.0], [1.0, 2.0, 8.0]])
    points = np.array([[-50.0, 0.0, 0.1], [-50.0, -20.0, 0.0]])
    assert divide(seconds, points, np.ones(2), 10.0).tolist() == [2.0, 8.0]


def test_priority_counts_as_often_as_it_says() -> None:
    seconds = np.tile([[1.0, 2.0]], (2, 1))
    points = np.tile([[0.0, 10.0]], (2, 1))
    assert divide(seconds, points, np.array([1.0, 2.0]), 2.0).tolist() == [0.0, 2.0]


def test_what_buys_nothing_more_goes_by_what_everything_costs() -> None:
    seconds = np.array([[1.0, 2.0], [1.0, 6.0]])
    points = np.array([[0.0, 1.0], [0.0, 1.0]])
    assert divide(seconds, points, np.ones(2), 16.0).tolist() == [4.0, 12.0]


def test_by_size_is_in_proportion() -> None:
    assert by_size(np.array([1.0, 3.0]), 8.0).tolist() == [2.0, 6.0]
    assert by_size(np.zeros(2), 8.0).tolist() == [0.0, 0.0]
