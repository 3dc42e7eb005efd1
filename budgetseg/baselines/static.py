"""Find the best static plan, which an engineer would try first, by simulation. Plans have two forms.

plain       the same descriptors for supervoxels in random order, as long as there is time
stronger    in the best of several orders, some of which look at the predictions of neighbours; if time is left, the
            least confident supervoxels get the other descriptors too

Plain plans are tried on all of some described videos with labels. There are too many stronger ones for that: each is
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
    """Settings of the choice.

    Attributes
    ----------
    balance : what is maximised, from 0 for the share of right pixels to 1 for the average over classes
    n_seeds : runs of each finalist in each video
    n_tried : number of supervoxels, in the smallest videos, that stronger plans are tried on first
    n_finalists : plans with one of this many highest scores there are tried on all videos
    """

    balance: float = 0.5
    n_seeds: int = 2
    n_tried: int = 4000
    n_finalists: int = 4


@dataclass(frozen=True)
class Scored:
    """A plan, and its mean score over the pixels of all videos, 0 to 1."""

    plan: StaticPlan
    score: float


def plans_among(
    names: Sequence[str], budget_fraction: float, costs: str = "shared", rest: bool = True
) -> list[StaticPlan]:
    """All plans with a subset of these descriptors, small ones first.

    Parameters
    ----------
    names : of descriptors that may be computed
    budget_fraction : budget as a share of their full cost
    costs : a name in `COSTS`
    rest : whether plans have the stronger form, in every order of supervoxels, or the plain one
    """
    subsets = [subset for n in range(1, len(names) + 1) for subset in combinations(names, n)]
    # The order "wanted" needs the scores of a policy.
    orders = [order for order in ORDERS if order != "wanted"] if rest else ["random"]
    return [
        StaticPlan(budget_fraction, subset, order, tuple(names), costs, rest) for subset in subsets for order in orders
    ]


def run_plan(arena: Arena, plan: StaticPlan, budget_s: float, seed: int = 0, times_s: Float64 = NOT_ASKED) -> State:
    """Run a plan, and return the state at its end; `times_s` (N, D) receives the time of each descriptor."""
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
    """The plan with the highest score for a budget; of equals, the first.

    Parameters
    ----------
    arenas : described videos with labels, all with one kind of costs
    names : of descriptors that may be computed
    budget_fraction : budget as a share of their full cost, for each video
    recipe : settings of the choice
    cores : number of plans that are tried at a time
    rest : whether plans have the stronger form
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
    """Scores plans. Plans that end with the same descriptors are scored once."""

    def __init__(self, arenas: Sequence[Arena], budgets_s: Mapping[str, float], balance: float) -> None:
        self._worth = worth_of(np.concatenate([arena.truth for arena in arenas]), balance)
        self._budgets_s = budgets_s
        self._known: dict[tuple[str, bytes], float] = {}

    def score(self, plan: StaticPlan, arenas: Sequence[Arena], n_seeds: int) -> float:
        """Score over all pixels of these videos, averaged over seeds."""
        return sum(self._score(plan, arena, seed) for arena in arenas for seed in range(n_seeds)) / n_seeds

    def _score(self, plan: StaticPlan, arena: Arena, seed: int) -> float:
        state = run_plan(arena, plan, self._budgets_s[arena.name], seed)
        key = arena.name, sha256(state.subsets.data).digest()
        if key not in self._known:
            self._known[key] = reward(arena, state).score(self._worth)
        return self._known[key]


def _smallest(arenas: Sequence[Arena], n: int) -> list[Arena]:
    """The smallest videos, with n supervoxels together at most, but at least one video."""
    ordered = sorted(arenas, key=len)
    totals = np.cumsum([len(arena) for arena in ordered])
    return ordered[: max(1, int((totals <= n).sum()))]
