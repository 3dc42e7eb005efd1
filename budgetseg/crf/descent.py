"""Down to a labelling that no node alone improves."""

import numpy as np
from numba import njit

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.terms import Terms, whole
from budgetseg.types import Int32

__all__ = ["descend"]


@njit(cache=True, nogil=True)
def descend(arcs: Arcs, terms: Terms, labels: Int32) -> bool:
    """Change labels (N,) of single nodes as long as that improves them; whether it did.

    Nodes are visited in order, then again whenever a neighbour has changed.
    """
    n, costs = len(labels), _costs(arcs, terms, labels)
    queue, queued, read, n_queued = np.arange(n).astype(np.int32), np.ones(n, np.bool_), 0, n
    improved = False
    while n_queued > 0:
        i = queue[read]
        read = read + 1 if read + 1 < n else 0
        n_queued -= 1
        queued[i] = False
        best, old = np.argmin(costs[i]), labels[i]
        if costs[i, best] == costs[i, old]:
            continue
        labels[i], improved = best, True
        for arc in range(arcs.first[i], arcs.first[i + 1]):
            j, k = arcs.head[arc], arcs.number[arc]
            own, others = (terms.row[k], terms.column[k]) if j < i else (terms.column[k], terms.row[k])
            _add(costs, j, terms.weight[k], terms.values, terms.place[k] + best * others, own)
            _add(costs, j, -terms.weight[k], terms.values, terms.place[k] + old * others, own)
            if not queued[j]:
                queued[j] = True
                write = read + n_queued
                queue[write if write < n else write - n] = j
                n_queued += 1
    return improved


@njit(cache=True, nogil=True)
def _costs(arcs, terms, labels):  # type: ignore[no-untyped-def]
    """Energy of each label of each node while all others keep theirs, (N, L)."""
    costs, k = terms.unary.copy(), 0
    for i in range(len(labels)):
        for arc in range(arcs.middle[i], arcs.first[i + 1]):
            j, weight, row, column = arcs.head[arc], terms.weight[k], terms.row[k], terms.column[k]
            _add(costs, i, weight, terms.values, terms.place[k] + labels[j] * column, row)
            _add(costs, j, weight, terms.values, terms.place[k] + labels[i] * row, column)
            k += 1
    return costs


@njit(cache=True, nogil=True, inline="always")
def _add(costs, node, weight, values, place, step):  # type: ignore[no-untyped-def]
    """Add what an edge charges each label of a node: every `step`-th value of its table from `place` on."""
    for label in range(costs.shape[1]):
        costs[node, label] += whole(weight * values[place + label * step])
