"""How far motion is held back in H, chosen on selection data.

Usage: python -m benchmarks.choose_classifiers TABLES BALANCE, TABLES with the splits fit and selection, of
'budgetseg describe --split fit --split selection'. Figures are global accuracy / class average of H, before the CRF.
"""

import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import numpy as np

from budgetseg.classifiers import fit
from budgetseg.classifiers.samples import place_of, samples_of
from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.descriptors.table import VideoTable, read_table

SUBSETS = (("colour", "hog"), ("hof", "mbh"), ("colour", "hog", "hof"), ("colour", "hog", "mbh"), HAND_MADE)


def main(tables: Path, balance: float) -> None:
    """Print a line for each strength."""
    known, unseen = _read(tables / "fit"), _read(tables / "selection")
    samples = samples_of(known)
    print(f"| held back | {' | '.join(' + '.join(names) for names in SUBSETS)} |\n|---{'|---' * len(SUBSETS)}|")
    for hold in (1.0, 2.0, 4.0, 8.0):
        with patch.object(fit, "HOLD", hold):
            h = fit.fit_subsets(samples, fit.ClassifierRecipe(balance=balance), cores=2).classifiers
        cells = [_accuracy(h.subset_of(names), h, unseen) for names in SUBSETS]
        print(f"| {hold:g} | {' | '.join(cells)} |", flush=True)


def _read(folder: Path) -> list[VideoTable]:
    """Tables of a split, with the hand-made descriptors alone."""
    found = [read_table(path) for path in sorted(folder.iterdir())]
    return [replace(table, values={name: table.values[name] for name in HAND_MADE}) for table in found]


def _accuracy(subset: int, h: SubsetClassifiers, tables: Sequence[VideoTable]) -> str:
    right = pixels = np.zeros(len(h.prior), np.int64)
    for table in tables:
        subsets = np.full(len(table.truth), subset, np.int32)
        probabilities = h.predict(table.values, place_of(table.graph), subsets).argmax(axis=1)
        right = right + np.where(np.arange(table.truth.shape[1]) == probabilities[:, None], table.truth, 0).sum(axis=0)
        pixels = pixels + table.truth.sum(axis=0)
    there = pixels > 0
    return f"{100 * right.sum() / pixels.sum():.1f} / {100 * (right[there] / pixels[there]).mean():.1f}"


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(Path(sys.argv[1]), float(sys.argv[2]))
