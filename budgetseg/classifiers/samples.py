"""What H learns from: the supervoxels of several videos in one table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from budgetseg.descriptors.table import VideoTable
from budgetseg.folds import assign_folds
from budgetseg.types import Float32, Float64, Graph, Int32, Int64

__all__ = ["N_PLACE", "Samples", "place_of", "samples_of"]

KNOTS = np.linspace(0, 1, 9)
"""Centres of the soft bins of height and width, as shares of the frame."""
REACH = 0.12
"""Width of a soft bin: the distance at which its value has fallen to 1/e. It is about the distance of two centres."""

N_PLACE = 2 * len(KNOTS) + 2
"""Length of the place vector of a supervoxel."""


@dataclass(frozen=True, eq=False)
class Samples:
    """Supervoxels to learn from.

    Attributes
    ----------
    values : descriptors by name, (N, length) float32 each
    place : (N, N_PLACE) float32, `place_of` each supervoxel
    truth : (N, L) number of labelled pixels of each class
    fold : (N,) int32; predictions out of fold are by classifiers that have not seen the supervoxel's fold
    video : (N,) int32, index of the video of each supervoxel
    """

    values: Mapping[str, Float32]
    place: Float32
    truth: Int64
    fold: Int32
    video: Int32

    def __len__(self) -> int:
        return len(self.truth)


def samples_of(tables: Sequence[VideoTable], n_folds: int = 4) -> Samples:
    """The supervoxels of all tables. Folds are whole videos, or blocks of time if videos share few classes."""
    truth = np.concatenate([table.truth for table in tables])
    # By rank: long-lived supervoxels mostly have their centre in the middle of the video, and would share a block.
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
    """Place and relative size of each supervoxel, (N, N_PLACE) float32, which cost no time beside the graph.

    The vector has soft bins of height and of width, the distance from the middle column, and the logarithm of the
    pixels per frame, relative to other supervoxels. It does not have the absolute size and the lifetime: these depend
    on the frame rate and the number of supervoxels, which may differ from training.
    """
    boxes = graph.boxes
    centroids = graph.centroids
    high, wide = (centroids[:, axis] / boxes[:, 2 * axis + 1].max() for axis in (1, 2))
    bins = [np.exp(-(((side[:, None] - KNOTS) / REACH) ** 2)) for side in (high, wide)]
    covers = np.log(graph.sizes / (boxes[:, 1] - boxes[:, 0]))
    plain = [np.abs(wide - 0.5), covers - covers.mean()]
    return np.concatenate([*bins, np.stack(plain, axis=1)], axis=1).astype(np.float32)
