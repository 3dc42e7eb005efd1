"""Accuracy that every subset of descriptors reaches with a plain classifier, and what motion adds, class by class.

Usage: python benchmarks/descriptor_subsets.py TABLES REPORTED ROOT, where TABLES was made by `budgetseg describe` with
the splits train, fit, selection and REPORTED (val or test), and ROOT is the dataset (its folder named camvid or suny).

One multinomial logistic regression a subset; every descriptor is centred and scaled as a whole, so that long ones do
not outweigh short ones. Its strength of regularisation and the weight of rare classes are chosen on `selection` after
training on `fit` (the choice with the highest mean of global accuracy and class average); the figures are those of
`REPORTED` after training on `train`. There is no CRF and no randomness. Progress goes to standard error.
"""

import os
import sys
import warnings
from itertools import combinations, product
from pathlib import Path

import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.descriptors.table import VideoTable, read_table
from budgetseg.processes import advance_parent, in_processes
from budgetseg.types import Float32, Float64, Int64

Split = tuple[list[Float32], Int64]

STRENGTHS = (1.0, 10.0, 100.0)
BALANCES = (0.0, 0.5)
MOST = 15_000  # supervoxels that choices are made with; the final fit takes all
SHOWN = (("colour", "hog"), ("hof", "mbh"), ("colour", "hog", "hof"), ("colour", "hog", "mbh"))


def main(folder: Path, reported: str, root: Path) -> None:
    """Print a line per subset, then a line per class."""
    os.environ.setdefault("OMP_NUM_THREADS", "1")  # one process a core does more; the processes inherit it
    names = list(next(iter(_tables(folder, reported))).values)
    subsets = [subset for k in range(1, len(names) + 1) for subset in combinations(names, k)]
    done = 0

    def advance(n: int) -> None:
        nonlocal done
        done += n
        if n:
            print(f"{done} of {len(subsets)} subsets", file=sys.stderr)

    hits = in_processes(_hits_of, [(folder, reported, subset) for subset in subsets], os.cpu_count() or 1, advance)
    truth = np.concatenate([table.truth for table in _tables(folder, reported)]).sum(axis=0)
    there = truth > 0
    print("| descriptors | global | class average |\n|---|---|---|")
    for subset, own in zip(subsets, hits, strict=True):
        figures = own.sum() / truth.sum(), (own[there] / truth[there]).mean()
        print(f"| {' + '.join(subset)} | {100 * figures[0]:.1f} | {100 * figures[1]:.1f} |")
    four = tuple(name for name in ("colour", "hog", "hof", "mbh") if name in names)
    shown = [subset for subset in (*SHOWN, four) if subset in subsets]
    labels = open_dataset(root.name, root).classes.names
    print(f"\n| class | share of pixels | {' | '.join(' + '.join(subset) for subset in shown)} |")
    print("|---|---" + "|---" * len(shown) + "|")
    for label in np.flatnonzero(there):
        cells = [f"{100 * hits[subsets.index(subset)][label] / truth[label]:.1f}" for subset in shown]
        print(f"| {labels[label]} | {100 * truth[label] / truth.sum():.1f} | {' | '.join(cells)} |")


def _hits_of(folder: Path, reported: str, subset: tuple[str, ...]) -> Float64:
    """Rightly labelled pixels of every class of the reported split."""
    fit, selection, train, test = (_split(folder, split, subset) for split in ("fit", "selection", "train", reported))
    few = np.sort(np.random.default_rng(0).permutation(len(fit[1]))[:MOST])
    fit = [block[few] for block in fit[0]], fit[1][few]
    scores = {}
    for strength, balance in product(STRENGTHS, BALANCES):
        own, truth = evaluate(fit, selection, strength, balance), selection[1].sum(axis=0)
        scores[strength, balance] = own.sum() / truth.sum() + (own / np.maximum(truth, 1))[truth > 0].mean()
    hits = evaluate(train, test, *max(scores, key=lambda choice: scores[choice]))
    advance_parent(1)
    return hits


def evaluate(train: Split, test: Split, strength: float, balance: float) -> Float64:
    """Rightly labelled pixels of every class of `test`."""
    from sklearn.linear_model import LogisticRegression

    truth = train[1]
    kept = truth.sum(axis=1) > 0
    label, weight = truth.argmax(axis=1)[kept], np.sqrt(truth.sum(axis=1)[kept])
    total = np.bincount(label, weight, truth.shape[1])
    weight *= (total.max() / np.maximum(total, 1)[label]) ** balance
    model = LogisticRegression(C=strength, max_iter=100, tol=1e-3)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # a hundred steps are enough, whether or not it says so
        model.fit(_scaled(train[0], train[0])[kept], label, sample_weight=weight / weight.mean())
    found = model.predict(_scaled(train[0], test[0]))
    return np.array([test[1][found == k, k].sum() for k in range(truth.shape[1])], np.float64)


def _scaled(train: list[Float32], values: list[Float32]) -> Float32:
    """Each descriptor centred and divided by the root of its summed variances in training, side by side."""
    pairs = zip(train, values, strict=True)
    return np.concatenate(
        [(own - block.mean(axis=0)) / np.sqrt(block.var(axis=0).sum()) for block, own in pairs], axis=1
    )


def _split(folder: Path, split: str, subset: tuple[str, ...]) -> Split:
    tables = _tables(folder, split)
    values = [np.concatenate([table.values[name] for table in tables]) for name in subset]
    return values, np.concatenate([table.truth for table in tables])


def _tables(folder: Path, split: str) -> list[VideoTable]:
    return [read_table(place) for place in sorted((folder / split).iterdir())]


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3]))
