"""Static plans for a model: the best for some budgets, chosen on what H says of folds that it has not seen."""

from collections.abc import Sequence

import numpy as np

from budgetseg.baselines.static import Recipe, best_plan
from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.descriptors.table import VideoTable
from budgetseg.learning.stages import Stage
from budgetseg.models.bundle import Model
from budgetseg.policy.static import COSTS, StaticPlan
from budgetseg.simulation import NOT_COUNTED, Arena
from budgetseg.types import Float32

__all__ = ["BUDGETS", "choose_plans", "variants_of"]

BUDGETS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.5, 0.9)
"""Fractions of the full cost that there are plans for."""


def variants_of(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Descriptors that plans are chosen among: the hand-made ones, and all that count."""
    hand_made = tuple(name for name in names if name in HAND_MADE)
    counted = tuple(name for name in names if name != NOT_COUNTED)
    return [some for some in dict.fromkeys((hand_made, counted)) if some]


def choose_plans(
    model: Model, tables: Sequence[VideoTable], out_of_fold: Float32, recipe: Recipe, cores: int, stage: Stage
) -> tuple[StaticPlan, ...]:
    """The best plan for every budget, with and without networks, under shared and unshared costs.

    `out_of_fold` (N, 2^D, L) is what H says of the supervoxels of all tables, one table after the other.
    """
    variants = variants_of(model.classifiers.names)
    said = np.split(out_of_fold, np.cumsum([len(table.graph) for table in tables])[:-1])
    advance, plans = stage("static plans", len(COSTS) * len(variants) * len(BUDGETS), "plans"), []
    for costs in COSTS:
        arenas = [Arena.of(model, table, costs, own) for table, own in zip(tables, said, strict=True)]
        for names in variants:
            for fraction in BUDGETS:
                plans.append(best_plan(arenas, names, fraction, recipe, cores).plan)
                advance(1)
    return tuple(plans)
