"""Nodes whose label is settled before any search: by another their unary loses more than all their edges could win."""

import numpy as np

from budgetseg.crf.arcs import Incidence
from budgetseg.crf.kernels import kernel
from budgetseg.crf.problem import Problem
from budgetseg.crf.terms import add_costs, both_ways, reaches, spreads, whole_unary
from budgetseg.types import Bool, Float64, Int32

__all__ = ["settle"]


def settle(problem: Problem, labels: Int32, incidence: Incidence, scale: float) -> tuple[Bool, Float64, Float64]:
    """Which nodes are free: they might come to take another label than (N,) the one they have.

    Settled neighbours are taken at their word, which settles more nodes in turn.

    Returns
    -------
    free : (N,)
    unary : (N, L) whole numbers, with what edges to settled nodes charge
    reach : (N,) the most that edges to other free nodes can win by any change of a label
    """
    spread, unary = spreads(problem, scale), whole_unary(problem, scale)
    reach, free = reaches(problem, spread), np.ones(problem.n_nodes, np.bool_)
    edges = problem.edges, spread, problem.table_of, problem.factor_of, problem.weight * np.float64(scale)
    tables = both_ways(problem.tables).reshape(2, *problem.tables.shape)
    work = np.empty(problem.n_nodes, np.int32), np.zeros(problem.n_nodes, np.bool_)
    _settle(labels, incidence, *edges, tables, problem.factors, free, unary, reach, *work)
    return free, unary, reach


@kernel
def _settle(  # type: ignore[no-untyped-def]
    labels, incidence, edges, spread, table_of, factor_of, weight, tables, factors, free, unary, reach, queue, touched
):
    n_queued, n_done = _test(labels, free, free, unary, reach, queue, 0), 0
    while n_done < n_queued:
        for place in range(n_done, n_queued):
            i = queue[place]
            for at in range(incidence.first[i], incidence.first[i + 1]):
                j, e = incidence.other[at], incidence.edge[at]
                if free[j]:
                    end = 1 if edges[e, 0] == i else 0  # which one j is
                    row, factor = tables[1 - end, table_of[e], labels[i]], factors[factor_of[e, 1 - end], labels[i]]
                    add_costs(unary[j], weight[e], row, factors[factor_of[e, end]], factor)
                    reach[j] -= spread[e]
                    touched[j] = True
        n_done, n_queued = n_queued, _test(labels, touched, free, unary, reach, queue, n_queued)


@kernel
def _test(labels, asked, free, unary, reach, queue, n_queued):  # type: ignore[no-untyped-def]
    """Free no more, but queued, are those of the asked that turn out to be settled; how many are in the queue then."""
    for i in range(len(labels)):
        if asked[i] and free[i]:
            lowest = np.inf
            for label in range(unary.shape[1]):
                if label != labels[i]:
                    lowest = min(lowest, unary[i, label])
            if lowest - unary[i, labels[i]] >= reach[i]:
                free[i], queue[n_queued] = False, i
                n_queued += 1
    return n_queued
