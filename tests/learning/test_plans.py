"""Which static plans a model gets."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.baselines.static import PlanRecipe, Scored, best_plan
from budgetseg.learning.plans import BUDGETS, Learned, _read, choose_plans, mark_of, n_plans, variants_of
from budgetseg.policy.static import StaticPlan
from budgetseg.simulate import Arena
from tests.simulate.arenas import MODEL, NAMES, table_with_needs

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


RECIPE = PlanRecipe(0.3, 1)


@pytest.fixture(scope="module")
def learned() -> Learned:
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), (35, 32)).astype(np.float32)
    return Learned(MODEL, [table_with_needs(20, 0), table_with_needs(15, 1)], probabilities)


@pytest.fixture(scope="module")
def chosen(learned: Learned, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, tuple[StaticPlan, ...]]:
    """A store, not to be changed, and the plans in it."""
    store, reported = tmp_path_factory.mktemp("plans") / "plans.json", list[int]()
    plans = choose_plans(learned, RECIPE, store, 2, reported.append)
    assert sum(reported) == len(plans) == n_plans(NAMES) == 56
    return store, plans


def test_each_is_the_best_on_what_was_said_out_of_fold(
    learned: Learned, chosen: tuple[Path, tuple[StaticPlan, ...]]
) -> None:
    _, plans = chosen
    found = [(plan.costs, plan.rest, plan.among, plan.budget_fraction) for plan in plans]
    assert found == [
        (costs, rest, among, fraction)
        for costs in ("shared", "unshared")
        for rest in (True, False)
        for among in (HAND_MADE, NAMES)
        for fraction in BUDGETS
    ]
    for plan in (plans[2], plans[-15], plans[-1]):
        pieces = zip(learned.tables, (learned.out_of_fold[:20], learned.out_of_fold[20:]), strict=True)
        arenas = [Arena.of(MODEL, table, plan.costs, own) for table, own in pieces]
        assert best_plan(arenas, plan.among, plan.budget_fraction, RECIPE, rest=plan.rest).plan == plan


def test_what_was_chosen_is_not_chosen_again(
    learned: Learned,
    chosen: tuple[Path, tuple[StaticPlan, ...]],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    store, expected = chosen
    stored = json.loads(store.read_text())
    part, again, reported = tmp_path / "plans.json", list[float](), list[int]()
    part.write_text(json.dumps(stored | {"plans": stored["plans"][:48]}))

    def count(arenas: list[Arena], names: tuple[str, ...], fraction: float, *rest: Any) -> Scored:
        again.append(fraction)
        return best_plan(arenas, names, fraction, *rest)

    monkeypatch.setattr("budgetseg.learning.plans.best_plan", count)
    assert choose_plans(learned, RECIPE, part, 1, reported.append) == expected
    assert again == [0.9, *BUDGETS]
    assert sum(reported) == 56
    assert json.loads(part.read_text()) == stored


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"of": "", "plans": [{}]}', '{"of": "", "plans": []}'])
def test_a_store_of_something_else_is_not_used(learned: Learned, tmp_path: Path, text: str) -> None:
    (tmp_path / "plans.json").write_text(text)
    assert _read(tmp_path / "plans.json", mark_of(learned, RECIPE)) == []


def test_plans_are_chosen_again_where_something_else_was_learned(learned: Learned) -> None:
    crf = replace(MODEL.crf, pair=MODEL.crf.pair * 2)
    tables = [table_with_needs(20, 0), table_with_needs(15, 2)]
    others = [
        (replace(learned, model=replace(MODEL, crf=crf)), RECIPE),
        (replace(learned, tables=tables), RECIPE),
        (replace(learned, out_of_fold=learned.out_of_fold[::-1]), RECIPE),
        (learned, PlanRecipe(0.4, 1)),
    ]
    assert len({mark_of(learned, RECIPE), *(mark_of(*other) for other in others)}) == 5
