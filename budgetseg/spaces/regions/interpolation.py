"""Class probabilities of supervoxels without descriptors, interpolated from those of their neighbours."""

import numpy as np
from numba import njit

from budgetseg.policy.neighbours import Neighbours, neighbours_of
from budgetseg.types import Bool, Float32, Float64, Graph

__all__ = ["interpolate"]

NOWHERE = -1
"""Layer of a supervoxel that no path connects to a known one."""


def interpolate(probabilities: Float32, known: Bool, graph: Graph | Neighbours, prior: Float64) -> Float32:
    """Probabilities (N, L) of all supervoxels; rows sum to one if the known rows do.

    Known rows stay. The others are weighted means of neighbours, with weights that fall with the distance of centroids.
    They are filled outward in layers, and a layer uses earlier ones alone, so that the order of supervoxels does not
    matter. Supervoxels that no path connects to a known one get the prior.

    Parameters
    ----------
    probabilities : (N, L) float32, of which only known rows are read
    known : (N,) bool
    graph : of the supervoxels, or its `neighbours_of` if they were found already
    prior : (L,) share of each class in training
    """
    neighbours = graph if isinstance(graph, Neighbours) else neighbours_of(graph)
    found = np.ascontiguousarray(probabilities, np.float32).copy()
    queue, layer = _layers(known, neighbours)
    _spread(found, neighbours, queue, layer, prior.astype(np.float32))
    return found


@njit(cache=True, nogil=True)
def _layers(known, neighbours):  # type: ignore[no-untyped-def]
    """Supervoxels that are reached, (n,), in the order of their layers, and the layer of every supervoxel, (N,)."""
    layer = np.full(len(known), NOWHERE, np.int32)
    queue = np.empty(len(known), np.int32)
    n = 0
    for i in range(len(known)):
        if known[i]:
            layer[i] = 0
            queue[n] = i
            n += 1
    done = 0
    while done < n:
        i = queue[done]
        done += 1
        for k in range(neighbours.first[i], neighbours.first[i + 1]):
            j = neighbours.others[k]
            if layer[j] == NOWHERE:
                layer[j] = layer[i] + 1
                queue[n] = j
                n += 1
    return queue[:n], layer


@njit(cache=True, nogil=True)
def _spread(rows, neighbours, queue, layer, prior):  # type: ignore[no-untyped-def]
    """Fill in all rows that are not known, in place."""
    for i in range(len(rows)):
        if layer[i] == NOWHERE:
            rows[i] = prior
    mean = np.empty(rows.shape[1])
    for i in queue:
        if layer[i] == 0:
            continue
        mean[:] = 0
        total = 0.0
        for k in range(neighbours.first[i], neighbours.first[i + 1]):
            j = neighbours.others[k]
            weight = neighbours.weights[k]
            if layer[j] < layer[i]:  # never NOWHERE: all neighbours of a reached supervoxel are reached
                total += weight
                for label in range(rows.shape[1]):
                    mean[label] += weight * rows[j, label]
        for label in range(rows.shape[1]):
            rows[i, label] = mean[label] / total
