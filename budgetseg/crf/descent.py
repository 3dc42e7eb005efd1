"""A labelling to begin with: from that of the unaries down to one that no node alone improves."""

import numpy as np
from numba import njit

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.terms import Terms
from budgetseg.types import Int32

__all__ = ["descend"]

_STEPS_PER_NODE = 100  # far more than it takes; an end for sure, since costs are rounded


@njit(cache=True, nogil=True)
def descend(arcs: Arcs, terms: Terms) -> Int32:
    """Labels (N,). Nodes are visited in order, then again whenever a neighbour has changed."""
    n = len(terms.unary)
    labels, costs = np.empty(n, np.int32), terms.unary.astype(np.float64)
    for i in range(n):
        labels[i] = np.argmin(terms.unary[i])
    for k in range(len(arcs.arc)):
        i, j = arcs.head[arcs.sister[arcs.arc[k]]], arcs.head[arcs.arc[k]]
        _add(k, costs[i], labels[j], terms.weight[k], terms, not terms.flipped[k])
        _add(k, costs[j], labels[i], terms.weight[k], terms, terms.flipped[k])
    queue, queued, read, n_queued = np.arange(n).astype(np.int32), np.ones(n, np.bool_), 0, n
    for _ in range(_STEPS_PER_NODE * n):
        if n_queued == 0:
            break
        i = queue[read]
        read = read + 1 if read + 1 < n else 0
        n_queued -= 1
        queued[i] = False
        best, old = np.argmin(costs[i]), labels[i]
        if costs[i, best] == costs[i, old]:
            continue
        labels[i] = best
        for arc in range(arcs.first[i], arcs.first[i + 1]):
            j, k = arcs.head[arc], arcs.number[arc]
            rows = terms.flipped[k] != (j < i)
            _add(k, costs[j], best, terms.weight[k], terms, rows)
            _add(k, costs[j], old, -terms.weight[k], terms, rows)
            if not queued[j]:
                queued[j] = True
                queue[(read + n_queued) % n] = j
                n_queued += 1
    return labels


@njit(cache=True, nogil=True, inline="always")
def _add(k, costs, other, weight, terms, rows):  # type: ignore[no-untyped-def]
    """Add what edge k charges each label of one end, its row or its column in the table, for the other's label."""
    table = terms.tables[terms.table_of[k]]
    for label in range(len(costs)):
        costs[label] += weight * (table[label, other] if rows else table[other, label])
