"""Videos without labels: what a model says of them with all descriptors stands for their truth.

A policy is to come close to that with fewer, so that it can be learned from any video, at the frame rate that it will
meet; what costs are shared depends on that. Classifiers and the CRF learn nothing from them.
"""

from dataclasses import replace

import numpy as np

from budgetseg.crf import expand
from budgetseg.crf.potentials import Evidence, make_potentials
from budgetseg.descriptors.table import VideoTable
from budgetseg.models.bundle import Model
from budgetseg.simulation import Arena

__all__ = ["with_opinion"]


def with_opinion(model: Model, table: VideoTable) -> VideoTable:
    """The table with the labels that the model gives to it, without a bound on time, for truth."""
    arena, h = Arena.of(model, table), model.classifiers
    subsets = np.full(len(arena), h.n_subsets - 1, np.int32)
    evidence = Evidence(np.ascontiguousarray(arena.said[:, -1]), arena.inputs, subsets, h.starts)
    labels = expand(make_potentials(model.crf, evidence, table.graph))
    truth = np.zeros_like(table.truth)
    truth[np.arange(len(arena)), labels] = table.graph.sizes
    return replace(table, truth=truth)
