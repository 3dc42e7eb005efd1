"""The best static plan, which an engineer would try first, by simulation, in two forms.

plain       descriptors, computed for supervoxels anywhere as long as there is time
stronger    in the best of several orders, some of which heed what neighbours have turned out to be; where time is left,
            the least confident get the other descriptors too

Plain plans are tried on all of some described videos with labels. Of the stronger ones there are too many: every one is
tried once on the smallest videos, and the best of them on all.
"""

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from itertools import combinations

import numpy as np

from budgetseg.policy.state import State
from budgetseg.policy.static import StaticPlan
from budgetseg.policy.steps import ORDERS
from budgetseg.simulate.arena import Arena
from budgetseg.simulate.reward import reward, worth_of
from budgetseg.simulate.simulate import NOT_ASKED, play
from budgetseg.types import Float64

__all__ = ["PlanRecipe", "Scored", "best_plan", "plans_among", "run_plan"]


@dataclass(frozen=True)
class PlanRecipe:
    """How to choose.

    Attributes
    ----------
    balance : what is maximised, from 0 for the share of pixels that are right to 1 for the average over classes
    n_seeds : runs of each of the best plans in each video
    n_tried : supervoxels, of the smallest videos, that stronger plans are tried on first
    n_finalists : highest scores there; plans that have one of them are tried on all videos
    """

    balance: float = 0.5
    n_seeds: int = 2
    n_tried: int = 4000
    n_finalists: int = 4


@dataclass(frozen=True)
class Scored:
    """A plan, and its mean score over the pixels of all videos."""

    plan: StaticPlan
    score: float


def plans_among(
    names: Sequence[str], budget_fraction: float, costs: str = "shared", rest: bool = True
) -> list[StaticPlan]:
    """Every subset of these descriptors, small ones first: plain, or in every order of supervoxels."""
    subsets = [some for n in range(1, len(names) + 1) for some in combinations(names, n)]
    orders = [order for order in ORDERS if order != "wanted"] if rest else ["random"]  # wanted means nothing to a plan
    return [StaticPlan(budget_fraction, some, order, tuple(names), costs, rest) for some in subsets for order in orders]


def run_plan(arena: Arena, plan: StaticPlan, budget_s: float, seed: int = 0, times_s: Float64 = NOT_ASKED) -> State:
    """Where a plan ends up."""
    h = arena.model.classifiers
    episode = arena.begin(budget_s, plan.among, plan.selection, seed)
    play(episode, arena.probabilities, plan.policy(h.names, h.n_labels), times_s)
    return episode.state


def best_plan(
    arenas: Sequence[Arena],
    names: Sequence[str],
    budget_fraction: float,
    recipe: PlanRecipe | None = None,
    cores: int = 1,
    rest: bool = True,
) -> Scored:
    """The plan of the highest score for a budget, the first of equals.

    Parameters
    ----------
    arenas : of described videos with labels, all of one pricing
    names : of descriptors that may be computed
    budget_fraction : of their full cost, for each video
    recipe : how to choose
    cores : plans that are tried at a time
    rest : whether in its stronger form
    """
    recipe = recipe or PlanRecipe()
    few = _smallest(arenas, recipe.n_tried)
    plans = plans_among(names, budget_fraction, arenas[0].pricing, rest)
    trials = _Trials(arenas, {arena.name: budget_fraction * arena.full_s(names) for arena in arenas}, recipe.balance)
    with ThreadPoolExecutor(cores) as pool:
        if rest:
            scores = list(pool.map(lambda plan: trials.score(plan, few, 1), plans))
            least = np.unique(scores)[-recipe.n_finalists :][0]
            plans = [plan for plan, score in zip(plans, scores, strict=True) if score >= least]
        scores = list(pool.map(lambda plan: trials.score(plan, arenas, recipe.n_seeds), plans))
    best = int(np.argmax(scores))
    return Scored(plans[best], scores[best])


class _Trials:
    """Scores of plans; what many of them lead to is looked at once."""

    def __init__(self, arenas: Sequence[Arena], budgets_s: Mapping[str, float], balance: float) -> None:
        self._worth = worth_of(np.concatenate([arena.truth for arena in arenas]), balance)
        self._budgets_s = budgets_s
        self._known: dict[tuple[str, bytes], float] = {}

    def score(self, plan: StaticPlan, arenas: Sequence[Arena], n_seeds: int) -> float:
        """Mean over seeds of the score over all pixels of these videos."""
        return sum(self._score(plan, arena, seed) for arena in arenas for seed in range(n_seeds)) / n_seeds

    def _score(self, plan: StaticPlan, arena: Arena, seed: int) -> float:
        state = run_plan(arena, plan, self._budgets_s[arena.name], seed)
        key = arena.name, sha256(state.subsets.data).digest()
        if key not in self._known:
            self._known[key] = reward(arena, state).score(self._worth)
        return self._known[key]


def _smallest(arenas: Sequence[Arena], n: int) -> list[Arena]:
    """The smallest ones, of n supervoxels in all, at least one."""
    ordered = sorted(arenas, key=len)
    totals = np.cumsum([len(arena) for arena in ordered])
    return ordered[: max(1, int((totals <= n).sum()))]
