"""How far the learned policy is ahead of the best static plans when costs are measured again and again.

Usage: python -m benchmarks.cost_draws DATASET ROOT SPLIT MODEL [DRAWS]; leave the machine alone meanwhile.

What a share of the full cost buys depends on what each descriptor took when it was measured. The split is described
anew for each draw, five if not said. Printed: the figure that the paper has of a dataset, mean and 95 % interval over
draws, real costs; and differences, in points, with how many of the draws they are above zero in.
"""

import os
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from benchmarks.paper import FAMILIES, LAYOUTS
from benchmarks.training_seeds import header_of, line_of
from budgetseg.descriptors.describe import Description
from budgetseg.evaluation.experiment import Experiment, evaluate_dataset
from budgetseg.learning.plans import BUDGETS
from budgetseg.models.bundle import load_model
from budgetseg.types import Budget, Float64

Row = dict[str, Any]

N_SEEDS = 3
"""Of each plan's random places, in a draw."""


def main(dataset: str, root: Path, split: str, model_folder: Path, n_draws: int) -> None:
    """Print a table for each set of descriptors."""
    model, kind = load_model(model_folder), LAYOUTS[dataset].kind
    compared = [(family.learned[-1], *family.plans) for family in FAMILIES]
    methods = tuple(method for own in compared for method in own)
    experiment = Experiment(methods, tuple(Budget(fraction, is_share=True) for fraction in BUDGETS), N_SEEDS)
    plan = Description(
        dataset, root, (split,), model.classifiers.names, model.networks, tier=str(model.settings["tier"])
    )
    draws = []
    for draw in range(n_draws):
        with TemporaryDirectory() as folder:
            rows = evaluate_dataset(model, plan, experiment, Path(folder), os.cpu_count() or 1)["rows"]
        pooled = [row for row in rows if row["video"] == "all"]
        draws.append({method: _figures(pooled, method, kind) for method in methods})
        print(f"draw {draw + 1} of {n_draws}", file=sys.stderr, flush=True)
    print(header_of(BUDGETS))
    for ours, *plans in compared:
        print(line_of(ours, np.array([draw[ours] for draw in draws])))
        for other in plans:
            print(line_of(f"ahead of {other}", np.array([draw[ours] - draw[other] for draw in draws]), signed=True))


def _figures(rows: list[Row], method: str, kind: str) -> Float64:
    """Of a method at each budget, mean over seeds, in percent."""
    own = [row for row in rows if row["method"] == method]
    by_budget = [[row for row in own if round(row["budget_fraction"], 6) == fraction] for fraction in BUDGETS]
    return np.array([100 * np.mean([row["accuracy"][kind] for row in some]) for some in by_budget])


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    dataset, root, split, model_folder, *rest = sys.argv[1:]
    main(dataset, Path(root), split, Path(model_folder), int(rest[0]) if rest else 5)
