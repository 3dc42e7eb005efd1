"""Methods by name, and what a model must have for them."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.evaluation.methods import METHODS, methods_named
from budgetseg.policy.static import StaticPlan
from budgetseg.policy.whole import N_BINS, WholePolicy
from tests.models.made import HAND_MADE, random_model

NAMES = tuple(HAND_MADE)
EVERY = "unary, unary-full, crf, crf-full, static, static-full, baseline1, baseline1-full, baseline1-rest, "
EVERY += "baseline1-rest-full, baseline2, baseline2-full, baseline3, baseline3-full, baseline3-rest, "
EVERY += "baseline3-rest-full"
FULL = random_model({"dcnn": 3, **HAND_MADE})
SMALL = random_model(HAND_MADE)


def test_there_is_each_with_and_without_the_network() -> None:
    assert ", ".join(METHODS) == EVERY
    for name, method in METHODS.items():
        assert method.name == name
        assert method.descriptors == (*NAMES, "dcnn") if name.endswith("-full") else NAMES
        assert method.with_crf is not name.startswith("unary")
        assert (method.run is None) is name.startswith(("unary", "crf"))


@pytest.mark.parametrize("name", ["potts", "", "unary-fully", "CRF"])
def test_an_unknown_method_is_refused_with_those_that_there_are(name: str) -> None:
    with pytest.raises(UsageError) as error:
        methods_named(["crf", name], FULL)
    assert str(error.value) == f"no method '{name}'; choose from all, {EVERY}"


def test_a_method_without_its_descriptors_is_refused() -> None:
    small = random_model({"colour": 5, "hog": 3})
    with pytest.raises(UsageError, match=r"^unary-full needs hof, mbh, dcnn, which the model was trained without$"):
        methods_named(["unary-full"], small)


def test_static_needs_plans_for_the_same_costs_and_descriptors() -> None:
    planned = replace(FULL, plans=(StaticPlan(0.1, ("hog",), "random", NAMES, "unshared"),))
    line = r"^static needs static plans for shared costs, which the model has not; train it again$"
    for model in (FULL, planned):
        with pytest.raises(UsageError, match=line):
            methods_named(["static"], model)
    assert methods_named(["static"], planned, "unshared") == [METHODS["static"]]
    with pytest.raises(UsageError, match=r"^static-full needs"):
        methods_named(["static-full"], planned, "unshared")


def test_baseline3_needs_its_policy_for_the_same_costs_and_descriptors() -> None:
    policy = WholePolicy(NAMES, "unshared", np.zeros((16, N_BINS, 5), np.float32))
    model = replace(FULL, wholes=(policy,))
    line = r"^baseline3-rest needs its policy for shared costs, which the model has not; train it again$"
    with pytest.raises(UsageError, match=line):
        methods_named(["baseline3-rest"], model)
    assert methods_named(["baseline3"], model, "unshared") == [METHODS["baseline3"]]
    with pytest.raises(UsageError, match=r"^baseline3-full needs"):
        methods_named(["baseline3-full"], model, "unshared")


def test_all_are_those_that_the_model_can_do() -> None:
    without = [name for name in METHODS if not name.startswith(("static", "baseline3"))]
    assert [method.name for method in methods_named(["all"], FULL)] == without
    assert [method.name for method in methods_named(["all"], SMALL)] == [n for n in without if "full" not in n]
