"""Down to a labelling that no node alone improves."""

import numpy as np

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.kernels import inlined, kernel
from budgetseg.crf.terms import BACK, EARLY, LATE, THERE, Terms, add_costs
from budgetseg.types import Int32

__all__ = ["descend"]


def descend(arcs: Arcs, terms: Terms, labels: Int32) -> bool:
    """Change labels (N,) of single nodes as long as that improves them; whether it did.

    Nodes are visited in order, then again whenever a neighbour has changed.
    """
    costs, n = terms.unary.copy(), len(labels)
    _add_edges(arcs, terms, labels, costs)
    return bool(_descend(arcs, terms, labels, costs, np.arange(n, dtype=np.int32), np.ones(n, np.bool_)))


@kernel
def _add_edges(arcs, terms, labels, costs):  # type: ignore[no-untyped-def]
    """Make unaries (N, L) the energy of each label of each node while all others keep theirs."""
    n_labels, factors, k = costs.shape[1], terms.factors, 0
    for i in range(len(labels)):
        a = labels[i]
        for arc in range(arcs.middle[i], arcs.first[i + 1]):
            j, weight, early, late = arcs.head[arc], terms.weight[k], terms.place[k, EARLY], terms.place[k, LATE]
            b = labels[j]
            row = _row(terms.values, terms.place[k, BACK], b, n_labels)
            column = _row(terms.values, terms.place[k, THERE], a, n_labels)
            add_costs(costs[i], weight, row, factors[early : early + n_labels], factors[late + b])
            add_costs(costs[j], weight, column, factors[late : late + n_labels], factors[early + a])
            k += 1


@kernel
def _descend(arcs, terms, labels, costs, queue, queued):  # type: ignore[no-untyped-def]
    n, n_labels = costs.shape
    read, n_queued, improved = 0, n, False
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
            table, own, other = terms.place[k, BACK], terms.place[k, EARLY], terms.place[k, LATE]
            if j > i:
                table, own, other = terms.place[k, THERE], other, own
            weight, factors = terms.weight[k], terms.factors[own : own + n_labels]
            new_row, old_row = _row(terms.values, table, best, n_labels), _row(terms.values, table, old, n_labels)
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
