"""Descend to a local minimum: a labelling that no change of a single node improves."""

import numpy as np

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.kernels import inlined, kernel
from budgetseg.crf.terms import BACK, EARLY, LATE, THERE, Terms, add_costs
from budgetseg.types import Int32

__all__ = ["descend"]


def descend(arcs: Arcs, terms: Terms, labels: Int32) -> bool:
    """Change labels (N,) of single nodes, in place, as long as that lowers the energy. Returns whether any changed.

    Nodes are visited in order, then again whenever a neighbour has changed.
    """
    costs = terms.unary.copy()
    n = len(labels)
    _add_edges(arcs, terms, labels, costs)
    return bool(_descend(arcs, terms, labels, costs, np.arange(n, dtype=np.int32), np.ones(n, np.bool_)))


@kernel
def _add_edges(arcs, terms, labels, costs):  # type: ignore[no-untyped-def]
    """Add edges to unaries `costs` (N, L), which become the energy of each label while all other nodes keep theirs."""
    n_labels = costs.shape[1]
    factors = terms.factors
    k = 0
    for i in range(len(labels)):
        a = labels[i]
        for arc in range(arcs.middle[i], arcs.first[i + 1]):
            j = arcs.head[arc]
            weight = terms.weight[k]
            early = terms.place[k, EARLY]
            late = terms.place[k, LATE]
            b = labels[j]
            row = _row(terms.values, terms.place[k, BACK], b, n_labels)
            column = _row(terms.values, terms.place[k, THERE], a, n_labels)
            add_costs(costs[i], weight, row, factors[early : early + n_labels], factors[late + b])
            add_costs(costs[j], weight, column, factors[late : late + n_labels], factors[early + a])
            k += 1


@kernel
def _descend(arcs, terms, labels, costs, queue, queued):  # type: ignore[no-untyped-def]
    n, n_labels = costs.shape
    read = 0
    n_queued = n
    improved = False
    while n_queued > 0:
        i = queue[read]
        read = read + 1 if read + 1 < n else 0
        n_queued -= 1
        queued[i] = False
        best = np.argmin(costs[i])
        old = labels[i]
        if costs[i, best] == costs[i, old]:
            continue
        labels[i] = best
        improved = True
        for arc in range(arcs.first[i], arcs.first[i + 1]):
            j, k = arcs.head[arc], arcs.number[arc]
            table = terms.place[k, BACK]
            receiver = terms.place[k, EARLY]
            other = terms.place[k, LATE]
            if j > i:
                table = terms.place[k, THERE]
                receiver, other = other, receiver
            weight = terms.weight[k]
            factors = terms.factors[receiver : receiver + n_labels]
            new_row = _row(terms.values, table, best, n_labels)
            old_row = _row(terms.values, table, old, n_labels)
            add_costs(costs[j], weight, new_row, factors, terms.factors[other + best])
            add_costs(costs[j], -weight, old_row, factors, terms.factors[other + old])
            if not queued[j]:
                queued[j] = True
                write = read + n_queued
                queue[write if write < n else write - n] = j
                n_queued += 1
    return improved


@inlined
def _row(values, table, label, n_labels):  # type: ignore[no-untyped-def]
    return values[table + label * n_labels : table + (label + 1) * n_labels]
