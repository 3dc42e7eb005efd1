"""Who touches a supervoxel, and how much each of them has to say about it."""

from typing import NamedTuple

import numpy as np
from numba import njit

from budgetseg.types import Float64, Graph, Int32

__all__ = ["Neighbours", "neighbours_of"]

LEAST = 1e-6  # voxels; where two centroids coincide, their weight is large and not infinite


class Neighbours(NamedTuple):
    """The neighbours of all supervoxels, side by side: those of i are at first[i] to first[i + 1], in rising order.

    Attributes
    ----------
    first : (N + 1,) int32
    others : (2E,) int32, the neighbours
    weights : (2E,) float64, inverse distances of the centroids, not normalised
    """

    first: Int32
    others: Int32
    weights: Float64


def neighbours_of(graph: Graph) -> Neighbours:
    """The neighbours in a graph; to be kept, if they are needed more than once."""
    return Neighbours(*_gather(graph.edges, graph.centroids))


@njit(cache=True, nogil=True)
def _gather(edges, centroids):  # type: ignore[no-untyped-def]
    """Edges are in lexicographic order, first < second, so that each supervoxel meets its neighbours in order."""
    first = np.zeros(len(centroids) + 1, np.int32)
    for e in range(len(edges)):
        first[edges[e, 0] + 1] += 1
        first[edges[e, 1] + 1] += 1
    for i in range(len(centroids)):
        first[i + 1] += first[i]
    at = first[:-1].copy()
    others, weights = np.empty(2 * len(edges), np.int32), np.empty(2 * len(edges))
    for e in range(len(edges)):
        i, j = edges[e]
        squared = 0.0
        for axis in range(3):
            squared += (centroids[i, axis] - centroids[j, axis]) ** 2
        weight = 1 / max(np.sqrt(squared), LEAST)
        others[at[i]], weights[at[i]] = j, weight
        others[at[j]], weights[at[j]] = i, weight
        at[i] += 1
        at[j] += 1
    return first, others, weights
