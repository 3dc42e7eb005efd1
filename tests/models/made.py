"""Models and tables that nobody trained or computed."""

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from budgetseg.classifiers import SubsetClassifiers
from budgetseg.classifiers.samples import N_PLACE
from budgetseg.classifiers.subsets import columns_of
from budgetseg.crf.potentials import Crf
from budgetseg.descriptors.table import Costs, VideoTable
from budgetseg.models.bundle import Model
from budgetseg.types import Classes
from tests.graphs import random_graph

HAND_MADE = {"colour": 5, "hog": 3, "hof": 4, "mbh": 2}
"""Lengths of descriptors, by name."""

CLASSES = Classes(("road", "sky", "tree"), np.array([[128, 64, 128], [70, 130, 180], [0, 90, 0]], np.uint8))


def random_model(
    lengths: Mapping[str, int], classes: Classes = CLASSES, networks: Path | None = None, seed: int = 0
) -> Model:
    """A model that knows these descriptors and nothing about the world."""
    rng, every = np.random.default_rng(seed), (N_PLACE, *lengths.values())
    n_subsets, n_inputs, n_labels = 1 << len(lengths), sum(every), len(classes)
    weights = rng.normal(size=(n_subsets, n_inputs, n_labels)) / np.sqrt(n_inputs)
    for subset in range(n_subsets):
        weights[subset, ~columns_of(subset, every)] = 0
    centre, scale = rng.normal(size=n_inputs), np.repeat(rng.uniform(0.5, 2, len(every)), every)
    h = SubsetClassifiers(
        tuple(lengths),
        every,
        centre.astype(np.float32),
        scale.astype(np.float32),
        weights.astype(np.float32),
        rng.normal(size=(n_subsets, n_labels)).astype(np.float32),
        rng.dirichlet(np.ones(n_labels)),
        np.zeros((n_subsets, n_labels), np.float32),
    )
    pair = np.triu(rng.uniform(0.2, 1, (n_labels, n_labels)), 1)
    crf = Crf(
        rng.uniform(0.5, 2, n_labels).astype(np.float32),
        (rng.normal(size=n_labels) / 5).astype(np.float32),
        (pair + pair.T).astype(np.float32),
        0.1,
        rng.normal(size=(n_inputs - N_PLACE, n_labels)).astype(np.float32),
    )
    return Model("made", classes, h, crf, networks, {"dataset": "folder", "tier": "fast", "per_frame": None})


def random_table(lengths: Mapping[str, int], name: str = "street", n: int = 40, seed: int = 0) -> VideoTable:
    """A video of n supervoxels with such descriptors, labelled with the three classes above."""
    rng, d = np.random.default_rng(seed), len(lengths)
    values = {own: rng.normal(size=(n, length)).astype(np.float32) for own, length in lengths.items()}
    truth = rng.integers(0, 50, (n, 3)) * (rng.random((n, 1)) < 0.8)
    # Every cell needs the one resource there is.
    first, needed = np.arange(n * d + 1, dtype=np.int64), np.zeros(n * d, np.int32)
    costs = Costs(rng.random((n, d)), rng.random(1), first, needed, {"flow": 1})
    return VideoTable(name, 10, random_graph(n, 3 * n, seed), truth, values, costs, {})
