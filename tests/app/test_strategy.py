"""Who decides, by what a model has."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.app.strategy import strategy_of
from budgetseg.errors import UsageError
from budgetseg.policy import plan_policy
from budgetseg.policy.episode import Selection
from budgetseg.policy.features import n_features
from budgetseg.policy.learned import METHOD, LearnedPolicy, Uses
from budgetseg.policy.linear import LinearPolicy
from budgetseg.policy.static import StaticPlan
from tests.models.made import HAND_MADE, random_model


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        (HAND_MADE, ["colour", "hog"]),
        ({**HAND_MADE, "dcnn": 3, "dcnn_large": 3}, ["colour", "hog", "dcnn"]),
        ({"hof": 4, "shape": 2}, ["shape"]),  # of another package
        ({"hof": 4, "mbh": 2}, ["hof", "mbh"]),
    ],
)
def test_without_a_plan_all_is_computed_but_what_costs_most(names: dict[str, int], wanted: list[str]) -> None:
    model = random_model(names)
    chooser, selection = strategy_of(model)(0.5)
    expected = plan_policy([list(names).index(name) for name in wanted], len(names), len(model.classes))
    assert isinstance(chooser, LinearPolicy)
    assert np.array_equal(chooser.weights, expected.weights)
    assert selection.order == "random"


@pytest.mark.parametrize("share", [0.01, 0.5, 2.0])
def test_a_learned_policy_decides_at_every_budget(share: float) -> None:
    model, names = random_model(HAND_MADE), tuple(HAND_MADE)
    weights = np.zeros((len(names) + 1, n_features(len(names), len(model.classes), True)), np.float32)
    own = LearnedPolicy(METHOD, names, "shared", LinearPolicy(weights, True))
    plan = StaticPlan(0.5, names[:1], "large", names)
    chooser, selection = strategy_of(replace(model, policies=(own,), plans=(plan,)))(share)
    assert chooser is own.policy
    assert selection.order == "wanted"
    few = replace(model, policies=(replace(own, uses=(Uses(0.0, 0b0010),)),))
    assert strategy_of(few)(share)[1].enabled == 0b0010
    assert strategy_of(few, selection=Selection("large"))(share)[1] == Selection("large", enabled=0b0010)
    by_budget = replace(model, policies=(replace(own, uses=(Uses(0.0, 0b0010), Uses(0.4, 0b0100))),))
    assert strategy_of(by_budget)(share)[1].enabled == (0b0010 if share < 0.3 else 0b0100)
    assert strategy_of(replace(model, policies=(own,), plans=(plan,)), "static")(share)[1].order == "large"


def test_a_policy_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"^no policy 'wise'; choose from learned, static, random$"):
        strategy_of(random_model(HAND_MADE), "wise")
