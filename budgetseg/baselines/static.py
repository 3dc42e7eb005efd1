"""The best static plan, which an engineer would try first: descriptors and an order of supervoxels, by simulation.

Every subset of the descriptors and every order is tried on described videos with labels. Where these are large, all
plans are tried on the smallest videos, and the best of them on all.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from budgetseg.inference.state import State
from budgetseg.inference.steps import ORDERS
from budgetseg.policy.static import StaticPlan
from budgetseg.simulation.arena import Arena
from budgetseg.simulation.reward import reward, worth_of
from budgetseg.simulation.simulate import NOT_ASKED, play
from budgetseg.types import Float64

__all__ = ["Recipe", "Scored", "best_plan", "n_trials", "plans_among", "run_plan"]

FEW = 4000
"""Supervoxels, of the smallest videos, that all plans are tried on first."""
FINALISTS = 16
"""Plans that are tried on all videos then."""


@dataclass(frozen=True)
class Recipe:
    """How to choose.

    Attributes
    ----------
    balance : what is maximised, from 0 for the share of pixels that are right to 1 for the average over classes
    n_seeds : runs of each plan in each video
    """

    balance: float = 0.5
    n_seeds: int = 2


@dataclass(frozen=True)
class Scored:
    """A plan, and its mean score over the pixels of all videos."""

    plan: StaticPlan
    score: float


def plans_among(names: Sequence[str], budget_fraction: float, costs: str = "shared") -> list[StaticPlan]:
    """Every subset of these descriptors in every order of supervoxels, small subsets first."""
    subsets = [some for n in range(1, len(names) + 1) for some in combinations(names, n)]
    return [StaticPlan(budget_fraction, some, order, tuple(names), costs) for some in subsets for order in ORDERS]


def run_plan(arena: Arena, plan: StaticPlan, budget_s: float, seed: int = 0, times_s: Float64 = NOT_ASKED) -> State:
    """Where a plan ends up."""
    h = arena.model.classifiers
    episode = arena.begin(budget_s, plan.among, plan.selection, seed)
    play(episode, arena.said, plan.policy(h.names, h.n_labels), times_s)
    return episode.state


def best_plan(
    arenas: Sequence[Arena],
    names: Sequence[str],
    budget_fraction: float,
    recipe: Recipe | None = None,
    cores: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> Scored:
    """The plan of the highest score for a budget, the first of equals; `advance` is told of every run.

    Parameters
    ----------
    arenas : of described videos with labels, all of one pricing
    names : of descriptors that may be computed
    budget_fraction : of their full cost, for each video
    recipe : how to choose
    cores : plans that are tried at a time
    """
    recipe = recipe or Recipe()
    worth = worth_of(np.concatenate([arena.truth for arena in arenas]), recipe.balance)
    plans = plans_among(names, budget_fraction, arenas[0].pricing)

    def score(plan: StaticPlan, some: Sequence[Arena]) -> float:
        scores = []
        for arena in some:
            budget_s = budget_fraction * arena.full_s(names)
            for seed in range(recipe.n_seeds):
                scores.append(reward(arena, run_plan(arena, plan, budget_s, seed)).score(worth))
                advance(1)
        return sum(scores) / recipe.n_seeds

    with ThreadPoolExecutor(cores) as pool:
        few = _smallest(arenas)
        scores = list(pool.map(lambda plan: score(plan, few), plans))
        if len(few) < len(arenas):
            plans = [plans[k] for k in sorted(np.argsort(scores)[::-1][:FINALISTS])]
            scores = list(pool.map(lambda plan: score(plan, arenas), plans))
    best = int(np.argmax(scores))
    return Scored(plans[best], scores[best])


def n_trials(arenas: Sequence[Arena], names: Sequence[str], recipe: Recipe) -> int:
    """How often `best_plan` will tell of progress."""
    n_plans, few = len(plans_among(names, 1.0)), len(_smallest(arenas))
    runs = n_plans * few
    if few < len(arenas):
        runs += min(FINALISTS, n_plans) * len(arenas)
    return runs * recipe.n_seeds


def _smallest(arenas: Sequence[Arena]) -> list[Arena]:
    """The smallest ones, `FEW` supervoxels in all, at least one."""
    ordered = sorted(arenas, key=len)
    totals = np.cumsum([len(arena) for arena in ordered])
    return ordered[: max(1, int((totals <= FEW).sum()))]
