"""What accuracy a budget promises."""

import math
from dataclasses import replace

import numpy as np
import pytest

from budgetseg.app.expect import budget_of, expect
from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.models.bundle import Model
from budgetseg.policy.features import n_features
from budgetseg.policy.learned import Expected, LearnedPolicy, expected_at
from budgetseg.policy.linear import LinearPolicy
from budgetseg.spaces.regions.costs import ALL_DESCRIPTORS
from budgetseg.types import Budget
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from tests.app.simulated import frozen_prices
from tests.engine.worlds import regions_space
from tests.models.made import HAND_MADE, random_model

CURVE = (Expected(0.02, 0.3, 0.6), Expected(0.2, 0.5, 0.8), Expected(0.9, 0.6, 0.9))


def with_curve(lengths: dict[str, int], among: tuple[str, ...]) -> Model:
    model = random_model(lengths)
    weights = np.zeros((len(lengths) + 1, n_features(len(lengths), 3, True)), np.float32)
    own = LearnedPolicy("budget-wanted", among, "shared", LinearPolicy(weights, extended=True), CURVE)
    return replace(model, policies=(own,))


@pytest.mark.parametrize("accuracy", [0.61, 0.75, 0.8, 0.85, 0.9])
def test_the_budget_for_an_accuracy_is_the_least_that_promises_it(accuracy: float) -> None:
    fraction = budget_of(with_curve(HAND_MADE, tuple(HAND_MADE)), accuracy)
    assert fraction.is_share
    assert expected_at(CURVE, fraction.amount).overall >= accuracy
    assert expected_at(CURVE, 0.97 * fraction.amount).overall < accuracy


def test_the_large_network_is_no_part_of_what_the_policy_must_know() -> None:
    lengths = {**HAND_MADE, "dcnn": 3, "dcnn_large": 3}
    assert budget_of(with_curve(lengths, (*HAND_MADE, "dcnn")), 0.7).amount < 0.2


def test_more_than_a_model_promises_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^model 'made' reaches at most 90.0 %. Got 95 %; ask for less$"):
        budget_of(with_curve(HAND_MADE, tuple(HAND_MADE)), 0.95)


def test_a_model_without_a_policy_promises_nothing() -> None:
    with pytest.raises(UsageError, match="has no learned policy"):
        budget_of(random_model(HAND_MADE), 0.5)


@pytest.mark.parametrize(
    ("budget", "scope", "share"),
    [
        (Budget(0.2, is_share=True), "descriptors", 0.2),
        (Budget(0.6), "descriptors", 0.3),
        (Budget(math.inf), "descriptors", 1.0),
        (Budget(math.inf), "total", 1.0),
        (Budget(1e-6), "total", 0.0),
    ],
)
def test_a_budget_promises_what_its_share_of_all_descriptors_does(budget: Budget, scope: str, share: float) -> None:
    n_pixels = 10 * 64 * 96
    space = replace(regions_space(), prices=frozen_prices({ALL_DESCRIPTORS: 2.0 / n_pixels}))
    source = VideoSource(ArrayClip(np.zeros((10, 64, 96, 3), np.uint8)), Span(), (96, 64))
    model = with_curve(HAND_MADE, tuple(HAND_MADE))
    assert expect(model, space, source, Request((budget,), scope)) == pytest.approx(expected_at(CURVE, share))


def test_nothing_is_expected_before_anything_was_labelled_on_this_machine() -> None:
    source = VideoSource(ArrayClip(np.zeros((10, 64, 96, 3), np.uint8)), Span(), (96, 64))
    model = with_curve(HAND_MADE, tuple(HAND_MADE))
    assert expect(model, regions_space(), source, Request((Budget(1.0),))) is None
    assert (
        expect(random_model(HAND_MADE), regions_space(), source, Request((Budget(0.5, True),), "descriptors")) is None
    )
