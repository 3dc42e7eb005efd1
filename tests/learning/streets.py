"""Rendered streets with descriptors at fixed prices, and what classifiers have learned from some of them.

Classes that only texture tells apart are one here; cars and people are told apart by whether they move, and by nothing
else. The camera stands, so that whatever moves is moving.
"""

from collections.abc import Iterable

import numpy as np

from budgetseg.classifiers.fit import ClassifierRecipe, fit_subsets
from budgetseg.classifiers.samples import samples_of
from budgetseg.crf.learning import potts
from budgetseg.crf.potentials import expected_inputs
from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.registry import HAND_MADE, open_descriptors
from budgetseg.descriptors.table import Costs, VideoTable
from budgetseg.learning.plans import Learned
from budgetseg.models.bundle import Model
from budgetseg.supervoxels import segment
from budgetseg.supervoxels.truth import count_labels
from budgetseg.types import Classes, Graph

N_FRAMES, SIZE, PER_FRAME = 8, (160, 120), 40

TRAIN = (0, 1, 6, 8, 12, 15, 16, 18, 19, 20, 22, 23)
TEST = (5001, 5002, 5004, 5005, 5007, 5012, 5013, 5015)
"""Seeds of streets that are seen from a stand."""

MERGED = {
    "sky": ("sky",),
    "wall": ("building", "fence"),
    "ground": ("road", "sidewalk"),
    "green": ("tree", "hedge"),
    "sign": ("sign",),
    "moving": ("moving car", "walking person"),
    "still": ("parked car", "standing person"),
}
NAMES = tuple(MERGED)
MOVING, STILL = NAMES.index("moving"), NAMES.index("still")

OWN_S = {"colour": 8e-6, "hog": 2e-5, "hof": 1e-5, "mbh": 1e-5}
SHARED_S = {"flow": 8e-4, "tracks": 3e-5, "hog cells": 2e-4, "hof cells": 1.6e-4, "mbh cells": 5.5e-4}
"""About what was measured once: prices that a busy machine does not change."""


def street_table(seed: int) -> VideoTable:
    """A rendered street of 320 supervoxels with the hand-made descriptors."""
    video, truth = render(seed, N_FRAMES, SIZE)
    supervoxels = segment(video.frames, PER_FRAME * N_FRAMES, "fast")
    counts = count_labels(supervoxels.ids, truth.labels, len(CLASSES), tuple(range(N_FRAMES)))
    values, costs = measure(Scene.of(video.frames, supervoxels), open_descriptors(HAND_MADE, None))
    graph = supervoxels.graph
    merged = [counts[:, [CLASSES.names.index(name) for name in names]].sum(axis=1) for names in MERGED.values()]
    return VideoTable(video.name, N_FRAMES, graph, np.stack(merged, axis=1), values, priced(costs, graph), {})


def priced(costs: Costs, graph: Graph) -> Costs:
    """Hand-made descriptors at fixed prices: larger supervoxels cost more."""
    own_s = np.outer(0.5 + 0.5 * graph.sizes / graph.sizes.mean(), list(OWN_S.values()))
    shared_s = np.concatenate([np.full(n, SHARED_S[kind]) for kind, n in costs.kinds.items()])
    return Costs(own_s, shared_s, costs.first, costs.needed, costs.kinds)


def learn_streets(seeds: Iterable[int], cores: int = 2) -> Learned:
    """H, out of fold too, and a Potts model."""
    tables = [street_table(seed) for seed in seeds]
    samples = samples_of(tables)
    fitted = fit_subsets(samples, ClassifierRecipe((1e-5,)), cores)
    crf = potts(expected_inputs(fitted.classifiers.scaled(samples.values), samples.truth))
    classes = Classes(NAMES, CLASSES.colours[[CLASSES.names.index(names[0]) for names in MERGED.values()]])
    model = Model("streets", classes, fitted.classifiers, crf, None, {"tier": "fast"})
    return Learned(model, tables, fitted.out_of_fold)
