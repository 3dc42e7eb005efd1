"""Static plans for a model: the best plan for each of some budgets, chosen by H's predictions out of fold."""

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
"""Budgets that there is a plan for, as shares of the full cost."""

FORMS = (True, False)
"""Forms of a plan: whether it spends what is left on other descriptors."""


@dataclass(frozen=True, eq=False)
class Learned:
    """A model in training, with the data that plans and policies are learned from.

    Attributes
    ----------
    model : without plans and policies
    tables : described videos that it has learned from
    out_of_fold : (N, 2^D, L) H's probabilities out of fold, for every subset, of the supervoxels of all tables
    """

    model: Model
    tables: Sequence[VideoTable]
    out_of_fold: Float32

    def arenas(self, costs: str) -> list[Arena]:
        """The tables as arenas, with probabilities out of fold; `costs` is a name in `COSTS`."""
        parts = np.split(self.out_of_fold, np.cumsum([len(table.graph) for table in self.tables])[:-1])
        return [Arena.of(self.model, table, costs, part) for table, part in zip(self.tables, parts, strict=True)]


def variants_of(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Descriptor sets that plans and policies are learned for: the hand-made ones, and all that count."""
    hand_made = tuple(name for name in names if name in HAND_MADE)
    counted = tuple(name for name in names if name != NOT_COUNTED)
    return [descriptor_set for descriptor_set in dict.fromkeys((hand_made, counted)) if descriptor_set]


def choose_plans(
    learned: Learned, recipe: PlanRecipe, store: Path, cores: int, advance: Callable[[int], None] = lambda _: None
) -> tuple[StaticPlan, ...]:
    """The best plan of either form for every budget and descriptor set, under shared and unshared costs.

    Parameters
    ----------
    learned : the model without plans
    recipe : settings of the choice
    store : file that plans are kept in; those that are there already are not chosen again
    cores : number of plans that are tried at a time
    advance : called with the number of plans that were added, `n_plans` in all
    """
    mark = mark_of(learned, recipe)
    plans = _read(store, mark)
    for costs in COSTS:
        wanted = list(product(FORMS, variants_of(learned.model.classifiers.names), BUDGETS))
        known = {(plan.rest, plan.among, plan.budget_fraction) for plan in plans if plan.costs == costs}
        missing = [key for key in wanted if key not in known]
        advance(len(wanted) - len(missing))
        arenas = learned.arenas(costs) if missing else []
        for rest, names, fraction in missing:
            plans.append(best_plan(arenas, names, fraction, recipe, cores, rest).plan)
            _write(store, mark, plans)
            advance(1)
    return tuple(plans)


def n_plans(names: Sequence[str]) -> int:
    """Number of plans that a model with these descriptors gets."""
    return len(COSTS) * len(FORMS) * len(variants_of(names)) * len(BUDGETS)


def mark_of(learned: Learned, recipe: object) -> str:
    """A digest of a model in training, its costs and a recipe; it changes with any of them."""
    h = learned.model.classifiers
    crf = learned.model.crf
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
        return []  # they are chosen again in minutes
    return plans if stored["of"] == mark else []


def _write(store: Path, mark: str, plans: Sequence[StaticPlan]) -> None:
    with atomic_file(store) as part:
        part.write_text(json.dumps({"of": mark, "plans": [asdict(plan) for plan in plans]}) + "\n")
