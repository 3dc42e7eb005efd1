"""How the CRF is learned, chosen on selection data: class balance, and Potts or learned tables.

Usage: python benchmarks/choose_crf.py WORK RESULTS MODEL, after

    budgetseg train DATASET --root ROOT --networks NETWORKS --split fit -o MODEL --work WORK
    budgetseg evaluate DATASET --root ROOT --networks NETWORKS --split selection --model MODEL -o RESULTS

Figures are global accuracy / class average / mean IoU on selection. `mixed` computes a random subset of the descriptors
for each supervoxel, none for a third of them, as a budget would; the mean over five draws, with half the width of its
95 % interval.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from budgetseg.classifiers.fit import Fitted, favour_of
from budgetseg.classifiers.samples import samples_of
from budgetseg.crf.learning import CrfRecipe, learn_crf, potts
from budgetseg.crf.potentials import expected_inputs
from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.descriptors.table import VideoTable, read_table
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of
from budgetseg.evaluation.experiment import label_table
from budgetseg.learning.train import learning_examples, read_fitted
from budgetseg.models.bundle import Model, load_model
from budgetseg.types import Float64, Int32

N_DRAWS = 5


def main(work: Path, results: Path, folder: Path) -> None:
    """Print a line per variant."""
    model = load_model(folder)
    train, judged = _tables(work / "table"), _tables(results / "table")
    samples, fitted = samples_of(train), read_fitted(work / "classifiers")
    inputs = fitted.classifiers.scaled(samples.values)
    expected = expected_inputs(inputs, samples.truth)
    print("| balance | model | hand-made: unary | with CRF | with dcnn: unary | with CRF | mixed: unary | with CRF |")
    print("|---|---|---|---|---|---|---|---|")
    for balance in (0.0, 0.5, 0.75, 1.0):
        tilted = _favouring(fitted, balance)
        examples = learning_examples(train, samples, tilted, inputs)
        start = potts(expected)
        variants = {
            "Potts": replace(start, contrast=0.0),
            "Potts with contrast": start,
            "learned": learn_crf(start, examples, CrfRecipe(balance=balance)),
        }
        for name, crf in variants.items():
            judging = replace(model, classifiers=tilted.classifiers, crf=crf)
            print(f"| {balance} | {name} | {' | '.join(_line(judging, judged))} |", flush=True)


def _favouring(fitted: Fitted, balance: float) -> Fitted:
    """The same classifiers, favouring rare classes by so much."""
    h = fitted.classifiers
    favour = favour_of(h.prior, h.names, h.opinions, balance)
    probabilities = fitted.out_of_fold * np.exp(favour - h.favour)
    return replace(
        fitted,
        classifiers=replace(h, favour=favour),
        out_of_fold=probabilities / probabilities.sum(axis=2, keepdims=True),
    )


def _line(model: Model, tables: Sequence[VideoTable]) -> list[str]:
    cells = []
    for names in (HAND_MADE, (*HAND_MADE, "dcnn")):
        subset = model.classifiers.subset_of(names)
        subsets = [np.full(len(table.graph), subset, np.int32) for table in tables]
        cells += [_text(_figures(model, tables, subsets, with_crf)) for with_crf in (False, True)]
    for with_crf in (False, True):
        draws = [_figures(model, tables, _drawn(model, tables, seed), with_crf) for seed in range(N_DRAWS)]
        spread = 2.78 * np.std(draws, axis=0, ddof=1)[0] / np.sqrt(N_DRAWS)  # Student's t, four degrees of freedom
        cells.append(f"{_text(np.mean(draws, axis=0))} (±{100 * spread:.1f})")
    return cells


def _text(figures: Float64) -> str:
    return " / ".join(f"{100 * figure:.1f}" for figure in figures)


def _drawn(model: Model, tables: Sequence[VideoTable], seed: int) -> list[Int32]:
    rng, hand_made = np.random.default_rng(seed), model.classifiers.subset_of(HAND_MADE)
    drawn = [rng.integers(1, hand_made + 1, len(table.graph)) for table in tables]
    return [np.where(rng.random(len(subsets)) < 1 / 3, 0, subsets).astype(np.int32) for subsets in drawn]


def _figures(model: Model, tables: Sequence[VideoTable], subsets: Sequence[Int32], with_crf: bool) -> Float64:
    pairs = zip(tables, subsets, strict=True)
    confusions = [confusion_of(table.truth, label_table(model, table, own, with_crf)) for table, own in pairs]
    accuracy = accuracy_of(np.sum(confusions, axis=0))
    return np.array([accuracy.overall, accuracy.class_average, accuracy.miou])


def _tables(folder: Path) -> list[VideoTable]:
    (split,) = folder.iterdir()
    return [read_table(place) for place in sorted(split.iterdir())]


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:4]))
