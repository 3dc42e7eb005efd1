"""How much policies differ that were learned with other seeds, and how far each is ahead of the stronger static plan.

Usage: python -m benchmarks.training_seeds MODEL WORK TABLES [SEEDS [SECONDS]], where WORK is where MODEL was trained,
and TABLES the folder `table` that `budgetseg evaluate` leaves. Policies are kept in WORK: after an interruption, the
same command goes on.

Printed: class average on CamVid, global accuracy elsewhere, mean and 95 % interval over seeds of training, real costs.
"""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy import stats

from budgetseg.descriptors.table import read_table
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import BUDGETS, Learned
from budgetseg.learning.policies import PolicyRecipe, learn_policies
from budgetseg.learning.train import read_fitted
from budgetseg.models.bundle import Model, load_model
from budgetseg.policy.learned import METHOD
from budgetseg.policy.static import plan_for
from budgetseg.simulate import Arena
from budgetseg.types import Float64

COSTS = "shared"
N_SEEDS = 3
"""Of runs, for each figure."""


def main(model_folder: Path, work: Path, tables: Path, n_seeds: int, limit_s: float) -> None:
    """Print a line for each set of descriptors: policies, and how far they are ahead."""
    model, cores = load_model(model_folder), os.cpu_count() or 1
    recipe = PolicyRecipe(balance_of(model), methods=(METHOD,), costs=(COSTS,)).within(limit_s)
    learned = learned_in(work, model)
    reported = [Arena.of(model, read_table(card.parent), COSTS) for card in sorted(tables.rglob("video.json"))]
    found: dict[tuple[str, ...], list[list[float]]] = {}
    for seed in range(n_seeds):
        for policy in learn_policies(learned, replace(recipe, seed=seed), work / f"policies-{seed}", cores, tell=_tell):
            judge = Judge(reported, policy.among, recipe.balance, cores)
            players = [Player(*policy.at(fraction)) for fraction in BUDGETS]
            found.setdefault(policy.among, []).append(_figures(judge, players, model))
    print(header_of(BUDGETS))
    for among, rows in found.items():
        judge = Judge(reported, among, recipe.balance, cores)
        static = np.array(_figures(judge, [plan_player(model, fraction, among, COSTS) for fraction in BUDGETS], model))
        print(line_of("+".join(among), np.array(rows)))
        print(line_of("ahead of static-rest", np.array(rows) - static, signed=True))


def balance_of(model: Model) -> float:
    """What the models of the tables were trained with."""
    return {"camvid": 1.0, "suny": 0.25}.get(str(model.settings["dataset"]), 0.5)


def learned_in(work: Path, model: Model) -> Learned:
    """What a model was trained from, as training left it in its work folder."""
    tables = [read_table(card.parent) for card in sorted((work / "table").rglob("video.json"))]
    return Learned(model, tables, read_fitted(work / "classifiers").out_of_fold)


def plan_player(model: Model, fraction: float, among: tuple[str, ...], costs: str) -> Player:
    """The best static plan for a budget, in its stronger form."""
    plan = plan_for(model.plans, fraction, among, costs)
    if plan is None:
        raise SystemExit(f"{model.name} has no static plans; train it with --plans")
    return Player(plan.policy(model.classifiers.names, model.classifiers.n_labels), plan.selection)


def _figures(judge: Judge, players: list[Player], model: Model) -> list[float]:
    which = 0 if model.settings["dataset"] == "camvid" else 1
    return [100 * accuracy(judge, *pair)[which] for pair in zip(players, BUDGETS, strict=True)]


def accuracy(judge: Judge, player: Player, fraction: float) -> tuple[float, float]:
    """Class average and global accuracy in the videos of a judge."""
    pixels = sum(arena.truth.sum(axis=0) for arena in judge.arenas) * N_SEEDS
    right = judge.right(player, judge.trials((fraction,), N_SEEDS, first_seed=1000))
    there = pixels > 0
    return float(np.mean(right[there] / pixels[there])), float(right.sum() / pixels.sum())


def header_of(budgets: Sequence[float]) -> str:
    """Of a table with a column for each budget."""
    return f"| | {' | '.join(f'{budget:.0%}' for budget in budgets)} |\n|---|{'---|' * len(budgets)}"


def line_of(name: str, draws: Float64, signed: bool = False) -> str:
    """Mean and 95 % interval of figures (draws, budgets); of differences, also how many of the draws are above zero."""
    n, sign = len(draws), "+" if signed else ""
    half = stats.t.ppf(0.975, n - 1) * draws.std(axis=0, ddof=1) / np.sqrt(n) if n > 1 else np.zeros(draws.shape[1])
    above = [f" ({int((own > 0).sum())} of {n})" if signed else "" for own in draws.T]
    cells = [f"{mean:{sign}.1f} ± {own:.1f}{of}" for mean, own, of in zip(draws.mean(axis=0), half, above, strict=True)]
    return f"| {name} | {' | '.join(cells)} |"


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


if __name__ == "__main__":
    model_folder, work, tables = (Path(word) for word in sys.argv[1:4])
    more = [float(word) for word in sys.argv[4:]]
    main(model_folder, work, tables, int(more[0]) if more else 5, more[1] if len(more) > 1 else 300.0)
