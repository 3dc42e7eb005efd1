"""A problem in the order of its arcs, with energies in whole numbers."""

import math
from typing import NamedTuple

import numpy as np

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.kernels import inlined, kernel
from budgetseg.crf.problem import Problem
from budgetseg.types import Bool, Float32, Float64, Int64

__all__ = [
    "BACK",
    "EARLY",
    "LATE",
    "THERE",
    "Terms",
    "add_costs",
    "both_ways",
    "changed_edges",
    "make_terms",
    "reaches",
    "scale_of",
    "spreads",
    "whole",
    "whole_unary",
]

THERE, BACK, EARLY, LATE = range(4)
"""Columns of `Terms.place`."""
_RANGE = 2.0**50  # bound of all sums of whole-number energies, so that double precision adds them exactly
_COARSE = 1.5 * 2.0**52  # doubles of this size are 1 apart: adding and subtracting it rounds to a whole number
_STEP = 8  # scales are powers of 2 ** this: a slightly different problem should have the same scale


class Terms(NamedTuple):
    """A problem of N nodes, E edges, L labels, K tables, F rows of factors.

    If the earlier node of edge k has label a and the later one b, the energy of the edge is, except for rounding,

        weight[k] · values[place[k, THERE] + a · L + b] · factors[place[k, EARLY] + a] · factors[place[k, LATE] + b]

    Attributes
    ----------
    unary : (N, L) float64, whole numbers
    reach : (N,) float64, the most that a node's edges can gain by any change of its label
    free : (N,) bool, whether a node might take another label than its first one
    values : (2K·L·L,) float32, the tables of the problem, then the same tables transposed
    factors : (F·L,) float32, the factors of the problem
    place : (E, 4) int64, for each edge, where four things begin: the table whose rows are labels of the earlier node,
        the table whose rows are labels of the later one, and the factors of the earlier and of the later node
    weight : (E,) float64, weights times the scale
    """

    unary: Float64
    reach: Float64
    free: Bool
    values: Float32
    factors: Float32
    place: Int64
    weight: Float64


def scale_of(problem: Problem) -> float:
    """The power of two that energies are multiplied with before rounding, about as large as their sum allows."""
    bound = problem.unary.size * _largest(problem.unary)
    dearest = _largest(problem.tables) * _largest(problem.factors) ** 2
    bound += 4 * dearest * float(np.abs(problem.weight).sum(dtype=np.float64))
    return 2.0 ** (_STEP * math.floor(math.log2(_RANGE / bound) / _STEP)) if bound > 0 else 1.0


def _largest(values: Float32) -> float:
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def whole_unary(problem: Problem, scale: float) -> Float64:
    """Unaries times the scale, rounded to whole numbers, (N, L) float64."""
    found = np.empty(problem.unary.shape)
    _whole(problem.unary, scale, found)
    return found


def make_terms(problem: Problem, nodes: tuple[Float64, Float64, Bool], arcs: Arcs, scale: float) -> Terms:
    """The terms of a problem.

    Parameters
    ----------
    problem : to minimise
    nodes : unary, reach and free of all nodes, in the order of the problem
    arcs : of the nodes that take part
    scale : of energies
    """
    place = np.empty((len(arcs.edge), 4), np.int64)
    weight = np.empty(len(arcs.edge))
    edges = problem.table_of, problem.factor_of, problem.weight
    _place(*edges, arcs.edge, arcs.flipped, problem.tables.shape, scale, place, weight)
    values = both_ways(problem.tables)
    factors = problem.factors.reshape(-1)
    unary, reach, free = nodes
    ordered = unary.take(arcs.order, axis=0), reach[arcs.order], free[arcs.order]
    return Terms(*ordered, values, factors, place, weight)


def both_ways(tables: Float32) -> Float32:
    """Tables (K, L, L), followed by the same tables transposed, (2K·L·L,)."""
    return np.concatenate([tables.reshape(-1), tables.transpose(0, 2, 1).reshape(-1)])


def spreads(problem: Problem, scale: float) -> Float64:
    """The most that the energy of each edge can change, in whole numbers, (E,) float64."""
    tables = problem.tables.max(axis=(1, 2), initial=0) - problem.tables.min(axis=(1, 2), initial=0)
    found = np.empty(len(problem.edges))
    edges = problem.table_of, problem.factor_of, problem.weight
    _spread(*edges, tables, problem.factors, scale, np.zeros(len(problem.factors)), found)
    return found


def reaches(problem: Problem, spread: Float64) -> Float64:
    """The most that the energies of all edges of a node can change together, (N,) float64."""
    found = np.zeros(problem.n_nodes)
    _sum(problem.edges, spread, found)
    return found


@inlined
def whole(energy):  # type: ignore[no-untyped-def]
    """The nearest whole number: a sum near _COARSE is rounded to one. Unlike rint, this becomes vector code."""
    return energy + _COARSE - _COARSE


@kernel
def add_costs(costs, weight, row, factors, factor):  # type: ignore[no-untyped-def]
    """Add the energy of an edge for each label of a node to `costs`, in place.

    Parameters
    ----------
    costs : (L,) float64
    weight : of the edge, times the scale
    row : (L,) float32, of the edge's table, for the label of the other end
    factors : (L,) float32, of the node
    factor : of the label of the other end
    """
    for label in range(len(costs)):
        costs[label] += whole(weight * row[label] * (np.float64(factors[label]) * np.float64(factor)))


@kernel
def _whole(energies, scale, found):  # type: ignore[no-untyped-def]
    for i in range(energies.shape[0]):
        for label in range(energies.shape[1]):
            found[i, label] = whole(energies[i, label] * scale)


@kernel
def _spread(table_of, factor_of, weight, tables, factors, scale, largest, found):  # type: ignore[no-untyped-def]
    for row in range(len(factors)):
        for label in range(factors.shape[1]):
            largest[row] = max(largest[row], factors[row, label])
    for e in range(len(found)):
        factor = largest[factor_of[e, 0]] * largest[factor_of[e, 1]]
        found[e] = np.ceil(abs(weight[e]) * scale * tables[table_of[e]] * factor) + 2  # energies are rounded


@kernel
def _sum(edges, values, found):  # type: ignore[no-untyped-def]
    for e in range(len(edges)):
        found[edges[e, 0]] += values[e]
        found[edges[e, 1]] += values[e]


@kernel
def _place(table_of, factor_of, weight, edge, flipped, shape, scale, place, scaled):  # type: ignore[no-untyped-def]
    n_tables, n_labels, _ = shape
    for k in range(len(edge)):
        e = edge[k]
        turned = 1 if flipped[k] else 0
        place[k, THERE] = (table_of[e] + turned * n_tables) * n_labels * n_labels
        place[k, BACK] = (table_of[e] + (1 - turned) * n_tables) * n_labels * n_labels
        place[k, EARLY] = factor_of[e, turned] * n_labels
        place[k, LATE] = factor_of[e, 1 - turned] * n_labels
        scaled[k] = weight[e] * scale


def changed_edges(old: Terms, new: Terms, arcs: Arcs) -> Int64:
    """Numbers of the edges whose energies differ, or of which an end is free in one problem only; in order."""
    if len(old.values) != len(new.values) or len(old.factors) != len(new.factors):
        return np.arange(len(new.weight))
    n_labels = new.unary.shape[1]
    tables, factors = (
        (before.reshape(-1, size) != after.reshape(-1, size)).any(axis=1)
        for before, after, size in ((old.values, new.values, n_labels**2), (old.factors, new.factors, n_labels))
    )
    found = np.empty(len(new.weight), np.bool_)
    _compare(old.place, new.place, old.weight, new.weight, tables, factors, n_labels, found)
    freed = old.free != new.free
    if freed.any():
        found |= freed[arcs.head[arcs.arc]] | freed[arcs.head[arcs.sister[arcs.arc]]]
    return np.flatnonzero(found)


@kernel
def _compare(old_place, place, old_weight, weight, tables, factors, n_labels, found):  # type: ignore[no-untyped-def]
    for k in range(len(found)):
        found[k] = old_weight[k] != weight[k] or tables[place[k, THERE] // (n_labels * n_labels)]
        for at in range(4):
            found[k] |= old_place[k, at] != place[k, at]
        found[k] |= factors[place[k, EARLY] // n_labels] | factors[place[k, LATE] // n_labels]
