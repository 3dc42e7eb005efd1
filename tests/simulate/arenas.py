"""Arenas of models that nobody trained and tables that nobody computed."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from budgetseg.descriptors.table import Costs, VideoTable
from budgetseg.simulate import Arena
from tests.models.made import HAND_MADE, random_model, random_table

FULL = {**HAND_MADE, "dcnn": 3}
NAMES = tuple(FULL)
MODEL = random_model(FULL)


def table_with_needs(n: int = 40, seed: int = 0, n_resources: int = 6) -> VideoTable:
    """A table in which each descriptor of each supervoxel needs some of the resources."""
    rng, d = np.random.default_rng(seed), len(FULL)
    counts = rng.integers(0, 4, n * d)
    needed = np.concatenate([rng.permutation(n_resources)[:count] for count in counts]).astype(np.int32)
    first = np.cumsum([0, *counts], dtype=np.int64)
    costs = Costs(rng.random((n, d)), 5 * rng.random(n_resources), first, needed, {"flow": n_resources})
    return replace(random_table(FULL, f"street{seed}", n, seed), costs=costs)


def random_arena(n: int = 40, seed: int = 0, costs: str = "shared") -> Arena:
    return Arena.of(MODEL, table_with_needs(n, seed), costs)


def told_truth(arena: Arena, by: Sequence[int]) -> Arena:
    """The same with classifiers that say the truth with some subsets of descriptors, and lie with all others."""
    truth = np.eye(3, dtype=np.float32)[arena.truth.argmax(axis=1)]
    probabilities = np.stack([truth if subset in by else np.roll(truth, 1, axis=1) for subset in range(32)], axis=1)
    return replace(arena, probabilities=np.ascontiguousarray(probabilities))
