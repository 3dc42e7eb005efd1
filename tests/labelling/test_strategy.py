"""Who decides where a model has neither policy nor plan."""

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.labelling.strategy import strategy_of
from budgetseg.policy import plan_policy
from budgetseg.policy.linear import LinearPolicy
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


def test_a_policy_that_there_is_not_is_refused_with_those_that_there_are() -> None:
    with pytest.raises(UsageError, match=r"^no policy 'wise'; choose from learned, static, random$"):
        strategy_of(random_model(HAND_MADE), "wise")
