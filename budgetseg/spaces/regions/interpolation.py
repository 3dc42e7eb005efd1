"""Class probabilities of supervoxels that nothing was computed for, from those of their neighbours."""

import numpy as np
from numba import njit

from budgetseg.policy.neighbours import Neighbours, neighbours_of
from budgetseg.types import Bool, Float32, Float64, Graph

__all__ = ["interpolate"]

NOWHERE = -1


def interpolate(probabilities: Float32, known: Bool, graph: Graph | Neighbours, prior: Float64) -> Float32:
    """Probabilities (N, L) of all supervoxels; rows sum to one if those that are known do.

    Rows that are known stay. The others are sums over the neighbours that have a row, with weights that fall with the
    distance of the centroids and sum to one, outward in layers: a layer looks at earlier ones alone, so that the order
    of supervoxels plays no part. Where no path leads to a row that is known, there is the prior.

    Parameters
    ----------
    probabilities : (N, L), of which only known rows are looked at
    known : (N,)
    graph : of the supervoxels, or its `neighbours_of` if they are at hand
    prior : (L,) share of each class in training
    """
    neighbours = graph if isinstance(graph, Neighbours) else neighbours_of(graph)
    found = np.ascontiguousarray(probabilities, np.float32).copy()
    queue, layer = _layers(known, neighbours)
    _spread(found, neighbours, queue, layer, prior.astype(np.float32))
    return found


@njit(cache=True, nogil=True)
def _layers(known, neighbours):  # type: ignore[no-untyped-def]
    """Supervoxels in the order of their layer, as many as are reached, and the layer of each."""
    layer, queue, n = np.full(len(known), NOWHERE, np.int32), np.empty(len(known), np.int32), 0
    for i in range(len(known)):
        if known[i]:
            layer[i], queue[n] = 0, i
            n += 1
    done = 0
    while done < n:
        i = queue[done]
        done += 1
        for k in range(neighbours.first[i], neighbours.first[i + 1]):
            j = neighbours.others[k]
            if layer[j] == NOWHERE:
                layer[j], queue[n] = layer[i] + 1, j
                n += 1
    return queue[:n], layer


@njit(cache=True, nogil=True)
def _spread(rows, neighbours, queue, layer, prior):  # type: ignore[no-untyped-def]
    """Fill in all rows that are not known."""
    for i in range(len(rows)):
        if layer[i] == NOWHERE:
            rows[i] = prior
    mean = np.empty(rows.shape[1])
    for i in queue:
        if layer[i] == 0:
            continue
        mean[:], total = 0, 0.0
        for k in range(neighbours.first[i], neighbours.first[i + 1]):
            j, weight = neighbours.others[k], neighbours.weights[k]
            if layer[j] < layer[i]:  # a neighbour of one that is reached is reached
                total += weight
                for label in range(rows.shape[1]):
                    mean[label] += weight * rows[j, label]
        for label in range(rows.shape[1]):
            rows[i, label] = mean[label] / total
