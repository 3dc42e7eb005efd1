"""Find nodes whose label is settled before any search: for any other, the unary loses more than edges could gain."""

import numpy as np

from budgetseg.crf.arcs import Incidence
from budgetseg.crf.kernels import kernel
from budgetseg.crf.problem import Problem
from budgetseg.crf.terms import add_costs, both_ways, reaches, spreads, whole_unary
from budgetseg.types import Bool, Float64, Int32

__all__ = ["settle"]


def settle(problem: Problem, labels: Int32, incidence: Incidence, scale: float) -> tuple[Bool, Float64, Float64]:
    """Find the free nodes, which might take another label than their present one in `labels` (N,).

    Labels of settled neighbours are taken as fixed, which may settle more nodes in turn.

    Returns
    -------
    free : (N,) bool
    unary : (N, L) float64, whole numbers, with the energy of edges to settled nodes added
    reach : (N,) float64, the most that edges to other free nodes can gain by any change of a label
    """
    spread = spreads(problem, scale)
    unary = whole_unary(problem, scale)
    reach = reaches(problem, spread)
    free = np.ones(problem.n_nodes, np.bool_)
    edges = problem.edges, spread, problem.table_of, problem.factor_of, problem.weight * np.float64(scale)
    tables = both_ways(problem.tables).reshape(2, *problem.tables.shape)
    work = np.empty(problem.n_nodes, np.int32), np.zeros(problem.n_nodes, np.bool_)
    _settle(labels, incidence, *edges, tables, problem.factors, free, unary, reach, *work)
    return free, unary, reach


@kernel
def _settle(  # type: ignore[no-untyped-def]
    labels, incidence, edges, spread, table_of, factor_of, weight, tables, factors, free, unary, reach, queue, touched
):
    n_queued = _test(labels, free, free, unary, reach, queue, 0)
    n_done = 0
    while n_done < n_queued:
        for place in range(n_done, n_queued):
            i = queue[place]
            for at in range(incidence.first[i], incidence.first[i + 1]):
                j = incidence.other[at]
                e = incidence.edge[at]
                if free[j]:
                    end = 1 if edges[e, 0] == i else 0  # which one j is
                    row = tables[1 - end, table_of[e], labels[i]]
                    factor = factors[factor_of[e, 1 - end], labels[i]]
                    add_costs(unary[j], weight[e], row, factors[factor_of[e, end]], factor)
                    reach[j] -= spread[e]
                    touched[j] = True
        n_done = n_queued
        n_queued = _test(labels, touched, free, unary, reach, queue, n_queued)


@kernel
def _test(labels, is_tested, free, unary, reach, queue, n_queued):  # type: ignore[no-untyped-def]
    """Test which nodes are settled, and append these to the queue. Returns the length of the queue."""
    for i in range(len(labels)):
        if is_tested[i] and free[i]:
            lowest = np.inf
            for label in range(unary.shape[1]):
                if label != labels[i]:
                    lowest = min(lowest, unary[i, label])
            if lowest - unary[i, labels[i]] >= reach[i]:
                free[i] = False
                queue[n_queued] = i
                n_queued += 1
    return n_queued
