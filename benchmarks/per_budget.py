"""One policy for every budget against policies trained for one budget each.

Usage: python -m benchmarks.per_budget MODEL WORK TABLES [FRACTIONS], where WORK is where MODEL was trained,
and TABLES the folder `table` that `budgetseg evaluate` leaves; fractions of the full cost with commas between them.

Each policy for one budget starts from the one for all, and is searched for with that budget alone, in folds as well;
scores are class average and global accuracy on the tables, means over seeds.
"""

import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from budgetseg.descriptors.table import read_table
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import Learned
from budgetseg.learning.policies import Recipe, folds_of
from budgetseg.learning.search import search
from budgetseg.learning.train import read_fitted
from budgetseg.models.bundle import Model, load_model
from budgetseg.policy.learned import METHOD, LearnedPolicy
from budgetseg.policy.static import plan_for
from budgetseg.simulation import Arena

COSTS = "shared"
N_SEEDS = 3
N_STEPS, N_RUNS, LIMIT_S = 20, 3, 300.0


def main(model_folder: Path, work: Path, tables: Path, fractions: tuple[float, ...]) -> None:
    """Print a line for each policy and budget."""
    model, cores = load_model(model_folder), os.cpu_count() or 1
    balance = balance_of(model)
    arenas = learned_in(work, model).arenas(COSTS)
    reported = [Arena.of(model, read_table(card.parent), COSTS) for card in sorted(tables.rglob("video.json"))]
    for own in (own for own in model.policies if own.method == METHOD and own.costs == COSTS):
        folds = folds_of(arenas, own.among, balance, cores)
        judge = Judge(reported, own.among, balance, cores)
        for fraction in fractions:
            for_all = Player(*own.at(fraction))
            recipe = replace(Recipe().search, fractions=(fraction,) * N_RUNS, n_rounds=N_STEPS, limit_s=LIMIT_S)
            for_one = search(folds, for_all, recipe)
            _print(own, fraction, [accuracy(judge, player, fraction) for player in (for_all, for_one)])


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


def accuracy(judge: Judge, player: Player, fraction: float) -> tuple[float, float]:
    """Class average and global accuracy in the videos of a judge."""
    pixels = sum(arena.truth.sum(axis=0) for arena in judge.arenas) * N_SEEDS
    right = judge.right(player, judge.trials((fraction,), N_SEEDS, first_seed=1000))
    there = pixels > 0
    return float(np.mean(right[there] / pixels[there])), float(right.sum() / pixels.sum())


def _print(own: LearnedPolicy, fraction: float, accuracies: list[tuple[float, float]]) -> None:
    figures = " | ".join(f"{100 * average:.1f} / {100 * overall:.1f}" for average, overall in accuracies)
    print(f"| {'+'.join(own.among)} | {100 * fraction:g} % | {figures} |", flush=True)


if __name__ == "__main__":
    wanted = tuple(float(one) for one in (sys.argv[4] if len(sys.argv) > 4 else "0.05,0.2,0.5").split(","))
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), wanted)
