"""What H learns from: the supervoxels of several videos, side by side."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from budgetseg.descriptors.table import VideoTable
from budgetseg.folds import assign_folds
from budgetseg.types import Float32, Float64, Graph, Int32, Int64

__all__ = ["N_PLACE", "Samples", "place_of", "samples_of"]

KNOTS = np.linspace(0, 1, 9)
REACH = 0.12

N_PLACE = 2 * len(KNOTS) + 2
"""Length of the vector that says where a supervoxel lies."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Supervoxels to learn from.

    Attributes
    ----------
    values : (N, length) float32 of each descriptor, by name
    place : (N, N_PLACE) float32, `place_of` each
    truth : (N, L) labelled pixels of each class
    fold : (N,) int32; those of one fold are judged by classifiers that have not seen them
    video : (N,) int32, index of the video that each belongs to
    """

    values: Mapping[str, Float32]
    place: Float32
    truth: Int64
    fold: Int32
    video: Int32

    def __len__(self) -> int:
        return len(self.truth)


def samples_of(tables: Sequence[VideoTable], n_folds: int = 4) -> Samples:
    """The supervoxels of all tables; folds are whole videos, or blocks of time where videos share few classes."""
    truth = np.concatenate([table.truth for table in tables])
    # By rank: most of what lives long has its middle in the middle, and would all be in the same block.
    times = [(_ranks(table.graph.centroids[:, 0]) + 0.5) / len(table.graph) for table in tables]
    presence = np.array([table.truth.sum(axis=0) > 0 for table in tables])
    lengths = [table.n_frames for table in tables]
    return Samples(
        {name: np.concatenate([table.values[name] for table in tables]) for name in tables[0].values},
        np.concatenate([place_of(table.graph) for table in tables]),
        truth,
        np.concatenate(assign_folds(presence, lengths, times, n_folds)),
        np.repeat(np.arange(len(tables), dtype=np.int32), [len(table.truth) for table in tables]),
    )


def _ranks(values: Float64) -> Int64:
    ranks = np.empty(len(values), np.int64)
    ranks[np.argsort(values, kind="stable")] = np.arange(len(values))
    return ranks


def place_of(graph: Graph) -> Float32:
    """Where each supervoxel lies and how large it is, (N, N_PLACE): free of cost, since the graph is there anyway.

    Soft bins of height and of width, the distance from the middle column, and the logarithm of what it covers of a
    frame, relative to the others. Not how long it lives, nor its size as such: these depend on the frame rate and on
    how many supervoxels were asked for, which may be others than in training.
    """
    boxes, centroids = graph.boxes, graph.centroids
    high, wide = (centroids[:, axis] / boxes[:, 2 * axis + 1].max() for axis in (1, 2))
    bins = [np.exp(-(((side[:, None] - KNOTS) / REACH) ** 2)) for side in (high, wide)]
    covers = np.log(graph.sizes / (boxes[:, 1] - boxes[:, 0]))
    plain = [np.abs(wide - 0.5), covers - covers.mean()]
    return np.concatenate([*bins, np.stack(plain, axis=1)], axis=1).astype(np.float32)
