"""Methods by name, and what a model must have for them."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.evaluation.methods import METHODS, lacking, methods_named, usual_methods
from budgetseg.policy.baseline3 import N_LEVELS, Baseline3Policy
from budgetseg.policy.features import n_features
from budgetseg.policy.learned import SELECTIONS, LearnedPolicy
from budgetseg.policy.linear import LinearPolicy, plan_policy
from budgetseg.policy.static import StaticPlan
from budgetseg.simulate import Arena
from budgetseg.simulate.simulate import NOT_ASKED
from tests.models.made import HAND_MADE, random_model, random_table

NAMES = tuple(HAND_MADE)
EVERY = "unary, unary-full, crf, crf-full, static, static-full, static-rest, static-rest-full, "
EVERY += "baseline1, baseline1-full, baseline1-rest, baseline1-rest-full, baseline2, baseline2-full, "
EVERY += "baseline3, baseline3-full, baseline3-rest, baseline3-rest-full, budget-rndrnk, "
EVERY += "budget-rndrnk-full, budget-nhbrnk, budget-full, budget-wanted, budget-wanted-full"
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


def test_a_model_is_judged_with_the_descriptors_that_it_has() -> None:
    plain, own = random_model({"hog": 3, "colour": 5}), random_model({"shape": 2, "colour": 5, "dcnn_large": 3})
    assert [method.descriptors for method in methods_named(["crf", "baseline1"], plain)] == 2 * [("colour", "hog")]
    assert [method.descriptors for method in methods_named(["crf", "crf-full"], own)] == [
        ("colour",),
        ("colour", "shape"),
    ]
    assert (usual_methods(plain), lacking(plain)) == (("unary", "crf"), ("hof", "mbh"))
    assert (usual_methods(FULL), lacking(FULL)) == (("unary", "crf", "unary-full", "crf-full"), ())


def test_a_method_without_any_descriptor_of_its_kind_is_refused() -> None:
    with pytest.raises(UsageError, match=r"^unary-full needs dcnn, which the model was trained without$"):
        methods_named(["unary-full"], random_model({"colour": 5, "hog": 3}))
    with pytest.raises(UsageError, match=r"^crf needs one of colour, hog, hof, mbh, which the model was trained with"):
        methods_named(["crf"], random_model({"dcnn": 3}))


def test_static_needs_plans_of_its_form_for_the_same_costs_and_descriptors() -> None:
    plan = StaticPlan(0.1, ("hog",), "random", NAMES, "unshared", rest=False)
    planned = replace(FULL, plans=(plan,))
    line = r"^static needs a plan or policy for shared costs; train the model again, with plans and policies$"
    for model in (FULL, planned):
        with pytest.raises(UsageError, match=line):
            methods_named(["static"], model)
    assert methods_named(["static"], planned, "unshared") == [METHODS["static"]]
    for other in ("static-full", "static-rest"):
        with pytest.raises(UsageError, match=f"^{other} needs"):
            methods_named([other], planned, "unshared")
    stronger = replace(FULL, plans=(replace(plan, rest=True),))
    assert methods_named(["static-rest"], stronger, "unshared") == [METHODS["static-rest"]]
    with pytest.raises(UsageError, match=r"^static needs"):
        methods_named(["static"], stronger, "unshared")


def test_baseline3_needs_its_policy_for_the_same_costs_and_descriptors() -> None:
    policy = Baseline3Policy(NAMES, "unshared", np.zeros((16, N_LEVELS, 5), np.float32))
    model = replace(FULL, baseline3=(policy,))
    line = r"^baseline3-rest needs a plan or policy for shared costs; train the model again, with plans and policies$"
    with pytest.raises(UsageError, match=line):
        methods_named(["baseline3-rest"], model)
    assert methods_named(["baseline3"], model, "unshared") == [METHODS["baseline3"]]
    with pytest.raises(UsageError, match=r"^baseline3-full needs"):
        methods_named(["baseline3-full"], model, "unshared")


def buys(d: int, method: str, among: tuple[str, ...], costs: str = "shared") -> LearnedPolicy:
    """A policy that buys one descriptor for everyone."""
    weights = np.zeros((6, n_features(5, 3, True)), np.float32)
    plan = plan_policy([d], 5, 3).weights
    weights[:, : plan.shape[1]] = plan
    return LearnedPolicy(method, among, costs, LinearPolicy(weights, extended=True))


def test_learned_methods_need_their_policy_for_the_same_costs_and_descriptors() -> None:
    model = replace(FULL, policies=(buys(1, "budget-nhbrnk", NAMES, "unshared"),))
    line = r"^budget-nhbrnk needs a plan or policy for shared costs; train the model again, with plans and policies$"
    with pytest.raises(UsageError, match=line):
        methods_named(["budget-nhbrnk"], model)
    assert methods_named(["budget-nhbrnk"], model, "unshared") == [METHODS["budget-nhbrnk"]]
    for other in ("budget-full", "budget-rndrnk", "budget-wanted"):
        with pytest.raises(UsageError, match=f"^{other} needs a plan or policy"):
            methods_named([other], model, "unshared")


def test_the_papers_budget_full_is_nhbrnk_with_the_network() -> None:
    assert METHODS["budget-full"].descriptors == (*NAMES, "dcnn")
    model = replace(FULL, policies=(buys(1, "budget-nhbrnk", (*NAMES, "dcnn")),))
    assert methods_named(["budget-full"], model) == [METHODS["budget-full"]]
    with pytest.raises(UsageError, match=r"^budget-nhbrnk needs a plan or policy"):
        methods_named(["budget-nhbrnk"], model)


def test_each_learned_method_runs_its_own_policy() -> None:
    among = {method: NAMES if k % 2 else (*NAMES, "dcnn") for k, method in enumerate(SELECTIONS)}
    policies = tuple(buys(1 + k, method, own) for k, (method, own) in enumerate(among.items()))
    arena = Arena.of(replace(FULL, policies=policies), random_table({**HAND_MADE, "dcnn": 3}))
    names = ("budget-rndrnk-full", "budget-nhbrnk", "budget-wanted-full")
    for k, method in enumerate(methods_named(names, arena.model)):
        assert method.run is not None
        budget_s = 0.1 * arena.full_s(method.descriptors)
        state = method.run(arena, method.descriptors, budget_s, 0, NOT_ASKED)
        bought = state.subsets[state.subsets > 0]
        assert len(bought) > 5
        assert np.mean(bought == 2 << k) > 0.8  # the rest goes for what still fits, under `wanted`


def test_all_are_those_that_the_model_can_do() -> None:
    without = [name for name in METHODS if not name.startswith(("static", "baseline3", "budget"))]
    assert [method.name for method in methods_named(["all"], FULL)] == without
    assert [method.name for method in methods_named(["all"], SMALL)] == [n for n in without if "full" not in n]
