"""The best static plan is the best that there is."""

from itertools import product

import numpy as np
import pytest

from budgetseg.baselines import static
from budgetseg.baselines.static import PlanRecipe, best_plan, plans_among, run_plan
from budgetseg.policy.state import State
from budgetseg.policy.static import StaticPlan
from budgetseg.policy.steps import ORDERS
from budgetseg.simulate import Arena, reward, worth_of
from tests.simulate.arenas import random_arena

NAMES = ("colour", "hof", "dcnn")


@pytest.fixture(scope="module")
def arenas() -> list[Arena]:
    return [random_arena(n, seed) for seed, n in enumerate((50, 20, 30))]


def score(arenas: list[Arena], names: tuple[str, ...], order: str, fraction: float, recipe: PlanRecipe) -> float:
    """Plainly: the accuracy of a plan over the pixels of all videos, averaged over seeds."""
    truth = np.concatenate([arena.truth for arena in arenas])
    (plan,) = [one for one in plans_among(NAMES, fraction) if (one.descriptors, one.order) == (names, order)]
    total = 0.0
    for arena, seed in product(arenas, range(recipe.n_seeds)):
        end = run_plan(arena, plan, fraction * arena.full_s(NAMES), seed)
        total += reward(arena, end).score(worth_of(truth, recipe.balance))
    return total / recipe.n_seeds


def test_there_is_a_plan_for_every_subset_and_order() -> None:
    plans = plans_among(NAMES, 0.1, "unshared")
    assert len(plans) == len(set(plans)) == 7 * (len(ORDERS) - 1)
    assert {(plan.budget_fraction, plan.among, plan.costs) for plan in plans} == {(0.1, NAMES, "unshared")}
    assert [len(plan.descriptors) for plan in plans] == sorted(len(plan.descriptors) for plan in plans)


def test_plain_plans_have_no_order_of_their_own_and_spend_no_more_than_they_say() -> None:
    plans = plans_among(NAMES, 0.1, rest=False)
    assert len(plans) == len(set(plans)) == 7
    assert {(plan.order, plan.rest, plan.selection.reopen) for plan in plans} == {("random", False, False)}


def test_the_best_plain_plan_is_the_best_of_the_plain_ones_in_all_videos(
    arenas: list[Arena],
) -> None:
    recipe = PlanRecipe(0.0, 1, n_tried=20, n_finalists=1)  # the smallest video alone prefers another
    worth = worth_of(np.concatenate([arena.truth for arena in arenas]), 0.0)
    ends = [
        [(arena, run_plan(arena, plan, 0.3 * arena.full_s(NAMES))) for arena in arenas]
        for plan in plans_among(NAMES, 0.3, rest=False)
    ]
    scores = [sum(reward(arena, end).score(worth) for arena, end in own) for own in ends]
    best = best_plan(arenas, NAMES, 0.3, recipe, rest=False)
    assert best.plan != best_plan(arenas[1:2], NAMES, 0.3, recipe, rest=False).plan
    assert best.score == pytest.approx(max(scores))
    assert best.plan == plans_among(NAMES, 0.3, rest=False)[int(np.argmax(scores))]


@pytest.mark.parametrize("fraction", [0.05, 0.3])
@pytest.mark.parametrize("recipe", [PlanRecipe(0.0, 1), PlanRecipe(1.0, 1)])
def test_no_plan_scores_higher(arenas: list[Arena], fraction: float, recipe: PlanRecipe) -> None:
    best = best_plan(arenas, NAMES, fraction, recipe, cores=2)
    scores = [score(arenas, plan.descriptors, plan.order, fraction, recipe) for plan in plans_among(NAMES, fraction)]
    assert best.score == pytest.approx(max(scores))
    assert best.plan == plans_among(NAMES, fraction)[int(np.argmax(scores))]


def test_it_is_the_same_whatever_the_number_of_cores(arenas: list[Arena]) -> None:
    assert best_plan(arenas, NAMES, 0.1, cores=1) == best_plan(arenas, NAMES, 0.1, cores=3)


def test_all_plans_are_tried_once_on_the_smallest_videos_and_the_best_of_them_on_all(
    arenas: list[Arena], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried: list[tuple[str, StaticPlan, int]] = []

    def run(arena: Arena, plan: StaticPlan, budget_s: float, seed: int) -> State:
        tried.append((arena.name, plan, seed))
        return run_plan(arena, plan, budget_s, seed)

    monkeypatch.setattr(static, "run_plan", run)
    plans = plans_among(NAMES, 0.1)
    best = best_plan(arenas, NAMES, 0.1, PlanRecipe(0.0, 2, n_tried=55, n_finalists=3))
    monkeypatch.setattr(static, "run_plan", run_plan)
    worth = worth_of(np.concatenate([arena.truth for arena in arenas]))

    def plain(plan: StaticPlan, some: list[Arena], n_seeds: int) -> float:
        ends = [
            (arena, run_plan(arena, plan, 0.1 * arena.full_s(NAMES), seed)) for arena in some for seed in range(n_seeds)
        ]
        return sum(reward(arena, end).score(worth) for arena, end in ends) / n_seeds

    least = sorted({plain(plan, arenas[:0:-1], 1) for plan in plans})[-3]
    finalists = [plan for plan in plans if plain(plan, arenas[:0:-1], 1) >= least]
    assert [plan for name, plan, seed in tried if (name, seed) == (arenas[0].name, 1)] == finalists
    assert len(finalists) < len(plans)
    assert best.score == pytest.approx(max(plain(plan, arenas, 2) for plan in finalists))
    assert len(tried) == 2 * len(plans) + 2 * 3 * len(finalists)


def test_the_pricing_of_the_arenas_is_that_of_the_plan() -> None:
    assert best_plan([random_arena(20, costs="unshared")], NAMES, 0.1).plan.costs == "unshared"
