"""Videos so simple that scores can be told by hand: no edges, and labels are what H says."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from budgetseg.descriptors.table import Costs, VideoTable
from budgetseg.models.bundle import Model
from budgetseg.simulate import Arena
from budgetseg.types import Float32, Int64
from tests.graphs import graph_of
from tests.models.made import random_model

NAMES = ("colour", "hog", "hof", "mbh")
N_LABELS = 3

_made = random_model(dict.fromkeys(NAMES, 1))
MODEL: Model = replace(
    _made,
    crf=replace(
        _made.crf, unary_weight=np.ones(3, np.float32), unary_bias=np.zeros(3, np.float32), pair=0 * _made.crf.pair
    ),
    classifiers=replace(_made.classifiers, prior=np.array([0.5, 0.3, 0.2])),
)
"""Everything is of the first class for whoever knows nothing."""


def toy_arena(
    labels: Sequence[int],
    knows: Sequence[int],
    costs_s: Sequence[float] = (1, 1, 1, 1),
    sizes: Sequence[int] | None = None,
    name: str = "toy",
) -> Arena:
    """A video in which H is right about supervoxel i if it has any of the descriptors `knows[i]`, as bits.

    Else it says the first class, with as little doubt. A descriptor costs the same for all; each is `sizes` pixels.
    """
    n, pixels = len(labels), np.ones(len(labels), np.int64) if sizes is None else np.asarray(sizes, np.int64)
    truth = np.zeros((n, N_LABELS), np.int64)
    truth[np.arange(n), labels] = pixels
    return Arena.of(MODEL, _table(name, truth, pixels, costs_s), probabilities=_probabilities(labels, knows))


def _probabilities(labels: Sequence[int], knows: Sequence[int]) -> Float32:
    probabilities = np.full((len(labels), 16, N_LABELS), 0.1, np.float32)
    for i, (label, known) in enumerate(zip(labels, knows, strict=True)):
        for subset in range(16):
            probabilities[i, subset, label if subset & known else 0] = 0.8
    return probabilities


def _table(name: str, truth: Int64, sizes: Int64, costs_s: Sequence[float]) -> VideoTable:
    n, d = len(truth), len(NAMES)
    places = np.stack([np.arange(n), np.zeros(n), np.zeros(n)], axis=1)
    costs = Costs(
        np.tile(np.array(costs_s, np.float64), (n, 1)),
        np.zeros(0),
        np.zeros(n * d + 1, np.int64),
        np.zeros(0, np.int32),
        {},
    )
    values = {own: np.zeros((n, 1), np.float32) for own in NAMES}
    return VideoTable(name, n, replace(graph_of([], places), sizes=sizes), truth, values, costs, {})
