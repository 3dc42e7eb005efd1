"""What is left to decide about at a budget that pays for everything, whoever decides.

Usage: python -m benchmarks.ceiling MODEL TABLES, where TABLES is the folder `table` that `budgetseg evaluate` leaves.

In the end every supervoxel has some subset of the descriptors, and H says one thing for each. Printed are class average
and global accuracy, for the hand-made descriptors and with the network: if all have the same subset, the best one of
all, as hindsight tells; if they have all descriptors; if each has the subset of which H is most confident; if each has
that with which H gives the true class most, as truth tells, which no policy can know; and if each simply has the class
of most of its pixels. The CRF closes all of these but the last.
"""

import os
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from benchmarks.paper import LAYOUTS
from budgetseg.descriptors.table import read_table
from budgetseg.learning.plans import variants_of
from budgetseg.models.bundle import load_model
from budgetseg.simulate import Arena, reward
from budgetseg.types import Float64, Int32, Int64


def main(model_folder: Path, tables: Path) -> None:
    """Print a table for each set of descriptors."""
    model = load_model(model_folder)
    arenas = [Arena.of(model, read_table(card.parent)) for card in sorted(tables.rglob("video.json"))]
    pixels: Int64 = np.sum([arena.truth.sum(axis=0) for arena in arenas], axis=0)
    by = 0 if LAYOUTS[str(model.settings["dataset"])].kind == "class_average" else 1
    h = model.classifiers
    for among in variants_of(h.names):
        allowed = np.array([subset for subset in range(1, h.n_subsets) if not subset & ~h.subset_of(among)], np.int32)
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            right = list(pool.map(lambda subset: _right(arenas, [np.full(len(a), subset) for a in arenas]), allowed))
        alike = [_figures(own, pixels) for own in right]
        best = int(np.argmax([own[by] for own in alike]))
        names = "+".join(name for d, name in enumerate(h.names) if allowed[best] >> d & 1)
        print(f"\n{', '.join(among)}\n\n| every supervoxel has | class average | global |\n|---|---|---|")
        _print(f"the best: {names}", alike[best])
        _print("all of them", alike[-1])
        for name, chosen in (
            ("that of which H is most confident", _surest),
            ("that which is right, if any is", _rightest),
        ):
            _print(name, _figures(_right(arenas, [chosen(arena, allowed) for arena in arenas]), pixels))
        whole = np.sum([np.bincount(a.truth.argmax(axis=1), a.truth.max(axis=1), len(pixels)) for a in arenas], axis=0)
        _print("the class of most of its pixels", _figures(whole, pixels))


def _right(arenas: Sequence[Arena], subsets: Sequence[Int32]) -> Float64:
    """Right pixels of each class, (L,), where the supervoxels of each video have these subsets."""
    total = np.zeros(arenas[0].truth.shape[1])
    for arena, own in zip(arenas, subsets, strict=True):
        state = arena.begin(np.inf, arena.model.classifiers.names).state
        state.subsets[:] = own
        state.probabilities[:] = arena.probabilities[np.arange(len(arena)), own]
        total += reward(arena, state).right
    return total


def _surest(arena: Arena, allowed: Int32) -> Int32:
    best: Int32 = allowed[arena.probabilities[:, allowed].max(axis=2).argmax(axis=1)]
    return best


def _rightest(arena: Arena, allowed: Int32) -> Int32:
    true = arena.truth.argmax(axis=1)
    best: Int32 = allowed[arena.probabilities[np.arange(len(arena))[:, None], allowed, true[:, None]].argmax(axis=1)]
    return best


def _figures(right: Float64, pixels: Int64) -> tuple[float, float]:
    there = pixels > 0
    return float(np.mean(right[there] / pixels[there])), float(right.sum() / pixels.sum())


def _print(name: str, figures: tuple[float, float]) -> None:
    print(f"| {name} | {100 * figures[0]:.1f} | {100 * figures[1]:.1f} |", flush=True)


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    main(*map(Path, sys.argv[1:]))
