"""Which static plans a model gets."""

import numpy as np
import pytest

from budgetseg.baselines.static import Recipe, best_plan
from budgetseg.learning.plans import BUDGETS, choose_plans, variants_of
from budgetseg.simulation import Arena
from tests.simulation.arenas import MODEL, NAMES, table_with_needs

HAND_MADE = ("colour", "hog", "hof", "mbh")


@pytest.mark.parametrize(
    ("names", "variants"),
    [
        ((*HAND_MADE, "dcnn", "dcnn_large"), [HAND_MADE, (*HAND_MADE, "dcnn")]),
        ((*HAND_MADE, "dcnn"), [HAND_MADE, (*HAND_MADE, "dcnn")]),
        (("hof", "colour"), [("hof", "colour")]),
        (("dcnn",), [("dcnn",)]),
        (("colour", "mine"), [("colour",), ("colour", "mine")]),
        (("dcnn_large",), []),
    ],
)
def test_plans_are_chosen_with_and_without_networks(names: tuple[str, ...], variants: list[tuple[str, ...]]) -> None:
    assert variants_of(names) == variants


def test_each_is_the_best_on_what_was_said_out_of_fold() -> None:
    tables = [table_with_needs(20, 0), table_with_needs(15, 1)]
    said = np.random.default_rng(0).dirichlet(np.ones(3), (35, 32)).astype(np.float32)
    recipe, told = Recipe(0.3, 1), list[int]()
    plans = choose_plans(MODEL, tables, said, recipe, 2, lambda *_: told.append)
    assert len(told) == len(plans)
    found = [(plan.costs, plan.among, plan.budget_fraction) for plan in plans]
    assert found == [
        (costs, among, fraction)
        for costs in ("shared", "unshared")
        for among in (HAND_MADE, NAMES)
        for fraction in BUDGETS
    ]
    for plan in (plans[2], plans[-1]):
        arenas = [
            Arena.of(MODEL, table, plan.costs, own) for table, own in zip(tables, (said[:20], said[20:]), strict=True)
        ]
        assert best_plan(arenas, plan.among, plan.budget_fraction, recipe).plan == plan
