"""Ages and counts, in memory that does not grow."""

import math

import numpy as np
import pytest

from budgetseg.live.meter import Ages, Meter


def test_quantiles_are_those_of_all_ages_within_two_percent() -> None:
    ages = Ages()
    drawn = np.random.default_rng(0).exponential(0.05, 5000)
    for age_s in drawn:
        ages.add(float(age_s))
    for share in (0.01, 0.5, 0.9, 0.99):
        exact = np.quantile(drawn, share, method="inverted_cdf")
        assert ages.quantile(share) == pytest.approx(exact, rel=0.021)


def test_a_dropped_frame_is_infinitely_old() -> None:
    ages = Ages()
    for _ in range(98):
        ages.add(0.01)
    ages.n_dropped = 2
    assert ages.quantile(0.98) == pytest.approx(0.01, rel=0.021)
    assert ages.quantile(0.99) == math.inf


def test_without_frames_there_is_no_age() -> None:
    assert Ages().quantile(0.5) is None


def test_what_is_recent_begins_anew_with_each_look() -> None:
    meter = Meter()
    meter.arrived(3)
    meter.labelled(0.02)
    meter.dropped(2)
    meter.asked("big")
    first, second = meter.recent(), meter.recent()
    assert (first.n_arrived, first.n_labelled, first.n_dropped, first.asked) == (3, 1, 2, {"big": 1})
    assert (second.n_arrived, second.n_labelled, second.n_dropped, second.asked) == (0, 0, 0, {})
    assert meter.total.dropped_share == pytest.approx(2 / 3)
