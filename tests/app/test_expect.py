"""What accuracy a budget promises."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.app.expect import budget_of, in_words
from budgetseg.errors import UsageError
from budgetseg.models.bundle import Model
from budgetseg.policy.features import n_features
from budgetseg.policy.learned import Expected, LearnedPolicy, expected_at
from budgetseg.policy.linear import LinearPolicy
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
    with pytest.raises(UsageError, match=r"^model 'made' promises 90.0 % at most. Got 95 %; ask for less$"):
        budget_of(with_curve(HAND_MADE, tuple(HAND_MADE)), 0.95)


def test_a_model_without_a_policy_promises_nothing() -> None:
    with pytest.raises(UsageError, match="has no learned policy"):
        budget_of(random_model(HAND_MADE), 0.5)


def test_promises_are_in_whole_percents() -> None:
    assert in_words(CURVE[1]) == "about 80 % of the pixels right, 50 % on average over classes"
