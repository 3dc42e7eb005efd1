"""Static plans for a model: the best for some budgets, chosen on what H says of folds that it has not seen."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from itertools import product
from pathlib import Path

import numpy as np

from budgetseg.baselines.static import PlanRecipe, best_plan
from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.descriptors.table import VideoTable
from budgetseg.errors import UsageError
from budgetseg.files import atomic_file
from budgetseg.models.bundle import Model
from budgetseg.policy.static import COSTS, StaticPlan, read_plan
from budgetseg.simulate import NOT_COUNTED, Arena
from budgetseg.types import Float32

__all__ = ["BUDGETS", "Learned", "choose_plans", "mark_of", "n_plans", "variants_of"]

BUDGETS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.5, 0.9)
"""Fractions of the full cost that there are plans for."""

FORMS = (True, False)
"""Of a plan: spending the rest, and plain."""


@dataclass(frozen=True, eq=False)
class Learned:
    """What training has so far.

    Attributes
    ----------
    model : without plans
    tables : that it has learned from
    out_of_fold : (N, 2^D, L), what H says of the supervoxels of all tables, one after the other
    """

    model: Model
    tables: Sequence[VideoTable]
    out_of_fold: Float32

    def arenas(self, costs: str) -> list[Arena]:
        """The tables, as classifiers see them that have not seen them."""
        probabilities = np.split(self.out_of_fold, np.cumsum([len(table.graph) for table in self.tables])[:-1])
        return [Arena.of(self.model, table, costs, own) for table, own in zip(self.tables, probabilities, strict=True)]


def variants_of(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Descriptors that plans are chosen among: the hand-made ones, and all that count."""
    hand_made = tuple(name for name in names if name in HAND_MADE)
    counted = tuple(name for name in names if name != NOT_COUNTED)
    return [some for some in dict.fromkeys((hand_made, counted)) if some]


def choose_plans(
    learned: Learned, recipe: PlanRecipe, store: Path, cores: int, advance: Callable[[int], None] = lambda _: None
) -> tuple[StaticPlan, ...]:
    """The best plan of either form for every budget, with and without networks, under shared and unshared costs.

    Plans are kept in the file `store`, and those that are there already are not chosen again; `advance` is told of
    each of them, `n_plans`.
    """
    mark = mark_of(learned, recipe)
    plans = _read(store, mark)
    for costs in COSTS:
        wanted = list(product(FORMS, variants_of(learned.model.classifiers.names), BUDGETS))
        known = {(plan.rest, plan.among, plan.budget_fraction) for plan in plans if plan.costs == costs}
        missing = [one for one in wanted if one not in known]
        advance(len(wanted) - len(missing))
        arenas = learned.arenas(costs) if missing else []
        for rest, names, fraction in missing:
            plans.append(best_plan(arenas, names, fraction, recipe, cores, rest).plan)
            _write(store, mark, plans)
            advance(1)
    return tuple(plans)


def n_plans(names: Sequence[str]) -> int:
    """How many plans a model with these descriptors gets."""
    return len(COSTS) * len(FORMS) * len(variants_of(names)) * len(BUDGETS)


def mark_of(learned: Learned, recipe: object) -> str:
    """Another one where something else was learned, or costs are others."""
    h, crf = learned.model.classifiers, learned.model.crf
    digest = sha256(repr((recipe, BUDGETS, h.names, crf.contrast)).encode())
    costs = [array for table in learned.tables for array in (table.costs.private_s, table.costs.resource_s)]
    for array in (crf.unary_weight, crf.unary_bias, crf.pair, learned.out_of_fold, *costs):
        digest.update(np.ascontiguousarray(array).data)
    return digest.hexdigest()


def _read(store: Path, mark: str) -> list[StaticPlan]:
    try:
        stored = json.loads(store.read_text())
        plans = [read_plan(plan) for plan in stored["plans"]]
    except (OSError, ValueError, LookupError, TypeError, UsageError):
        return []  # chosen again in minutes
    return plans if stored["of"] == mark else []


def _write(store: Path, mark: str, plans: Sequence[StaticPlan]) -> None:
    with atomic_file(store) as part:
        part.write_text(json.dumps({"of": mark, "plans": [asdict(plan) for plan in plans]}) + "\n")
