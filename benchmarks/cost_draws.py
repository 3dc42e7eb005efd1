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
from scipy import stats

from benchmarks.paper import FAMILIES, LAYOUTS
from budgetseg.descriptors.describe import Plan
from budgetseg.evaluation.experiment import Experiment, evaluate_dataset
from budgetseg.models.bundle import load_model
from budgetseg.types import Budget, Float64

Row = dict[str, Any]

FRACTIONS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.5, 0.9)
N_SEEDS = 3
"""Of each plan's random places, in a draw."""


def main(dataset: str, root: Path, split: str, model_folder: Path, n_draws: int) -> None:
    """Print a table for each set of descriptors."""
    model, kind = load_model(model_folder), LAYOUTS[dataset].kind
    compared = [(family.learned[-1], *family.plans) for family in FAMILIES]
    methods = tuple(method for own in compared for method in own)
    experiment = Experiment(methods, tuple(Budget(fraction, is_share=True) for fraction in FRACTIONS), N_SEEDS)
    plan = Plan(dataset, root, (split,), model.classifiers.names, model.networks, tier=str(model.settings["tier"]))
    draws = []
    for draw in range(n_draws):
        with TemporaryDirectory() as folder:
            rows = evaluate_dataset(model, plan, experiment, Path(folder), os.cpu_count() or 1)["rows"]
        pooled = [row for row in rows if row["video"] == "all"]
        draws.append({method: _figures(pooled, method, kind) for method in methods})
        print(f"draw {draw + 1} of {n_draws}", file=sys.stderr, flush=True)
    print(f"| | {' | '.join(f'{fraction:.0%}' for fraction in FRACTIONS)} |\n|---|{'---|' * len(FRACTIONS)}")
    for ours, *plans in compared:
        print(_line(ours, np.array([draw[ours] for draw in draws])))
        for other in plans:
            print(_line(f"ahead of {other}", np.array([draw[ours] - draw[other] for draw in draws]), signed=True))


def _figures(rows: list[Row], method: str, kind: str) -> Float64:
    """Of a method at each budget, mean over seeds, in percent."""
    own = [row for row in rows if row["method"] == method]
    by_budget = [[row for row in own if round(row["budget_fraction"], 6) == fraction] for fraction in FRACTIONS]
    return np.array([100 * np.mean([row["accuracy"][kind] for row in some]) for some in by_budget])


def _line(name: str, draws: Float64, signed: bool = False) -> str:
    """A row of a table from figures (draws, budgets)."""
    n, mean = len(draws), draws.mean(axis=0)
    within = stats.t.ppf(0.975, n - 1) * draws.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros_like(mean)
    above = [f" ({int((own > 0).sum())} of {n})" if signed else "" for own in draws.T]
    sign = "+" if signed else ""
    cells = [f"{m:{sign}.1f} ± {w:.1f}{of}" for m, w, of in zip(mean, within, above, strict=True)]
    return f"| {name} | {' | '.join(cells)} |"


if __name__ == "__main__":
    if len(sys.argv) not in (5, 6):
        sys.exit(__doc__)
    dataset, root, split, model_folder, *rest = sys.argv[1:]
    main(dataset, Path(root), split, Path(model_folder), int(rest[0]) if rest else 5)
