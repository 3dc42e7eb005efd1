"""A problem in the order of its arcs, counted in whole numbers."""

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
"""What is in `Terms.place`."""
_RANGE = 2.0**50  # no sum of whole-number energies leaves it, so that double precision adds them exactly
_COARSE = 1.5 * 2.0**52
_STEP = 8  # powers of two: a slightly different problem should have the same scale


class Terms(NamedTuple):
    """N nodes, E edges, L labels, K tables, F rows of factors.

    If its earlier node has label a and its later one b, the energy of edge k is, but for rounding,

        weight[k] · values[place[k, THERE] + a · L + b] · factors[place[k, EARLY] + a] · factors[place[k, LATE] + b]

    Attributes
    ----------
    unary : (N, L) float64, whole numbers
    reach : (N,) float64, the most that a node's edges can win by any change of its label
    free : (N,) bool, whether a node might come to take another label than it had at first
    values : (2K·L·L,) float32, the tables of the problem, then the same turned around
    factors : (F·L,) float32, those of the problem
    place : (E, 4) int64, where the table of an edge begins of which rows are labels of the earlier node, where the one
        of which they are labels of the later, and where the factors of the earlier and of the later begin
    weight : (E,) float64, times the scale
    """

    unary: Float64
    reach: Float64
    free: Bool
    values: Float32
    factors: Float32
    place: Int64
    weight: Float64


def scale_of(problem: Problem) -> float:
    """The power of two that makes energies whole numbers, about as fine as their sum allows."""
    bound = problem.unary.size * _largest(problem.unary)
    dearest = _largest(problem.tables) * _largest(problem.factors) ** 2
    bound += 4 * dearest * float(np.abs(problem.weight).sum(dtype=np.float64))
    return 2.0 ** (_STEP * math.floor(math.log2(_RANGE / bound) / _STEP)) if bound > 0 else 1.0


def _largest(values: Float32) -> float:
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def whole_unary(problem: Problem, scale: float) -> Float64:
    """Unaries in whole numbers, (N, L)."""
    found = np.empty(problem.unary.shape)
    _whole(problem.unary, scale, found)
    return found


def make_terms(problem: Problem, nodes: tuple[Float64, Float64, Bool], arcs: Arcs, scale: float) -> Terms:
    """A problem as its moves need it, with unary, reach and free of all nodes, in the order of the problem."""
    place, weight = np.empty((len(arcs.edge), 4), np.int64), np.empty(len(arcs.edge))
    edges = problem.table_of, problem.factor_of, problem.weight
    _place(*edges, arcs.edge, arcs.flipped, problem.tables.shape, scale, place, weight)
    values, factors = both_ways(problem.tables), problem.factors.reshape(-1)
    unary, reach, free = nodes
    own = unary.take(arcs.order, axis=0), reach[arcs.order], free[arcs.order]
    return Terms(*own, values, factors, place, weight)


def both_ways(tables: Float32) -> Float32:
    """Tables (K, L, L) and the same turned around, (2K·L·L,)."""
    return np.concatenate([tables.reshape(-1), tables.transpose(0, 2, 1).reshape(-1)])


def spreads(problem: Problem, scale: float) -> Float64:
    """The most that the energy of an edge changes by, in whole numbers, (E,)."""
    tables = problem.tables.max(axis=(1, 2), initial=0) - problem.tables.min(axis=(1, 2), initial=0)
    found, own = np.empty(len(problem.edges)), (problem.table_of, problem.factor_of, problem.weight)
    _spread(*own, tables, problem.factors, scale, np.zeros(len(problem.factors)), found)
    return found


def reaches(problem: Problem, spread: Float64) -> Float64:
    """Sum of what the energies of a node's edges change by, (N,)."""
    found = np.zeros(problem.n_nodes)
    _sum(problem.edges, spread, found)
    return found


@inlined
def whole(energy):  # type: ignore[no-untyped-def]
    """The nearest whole number: adding rounds where doubles of that size lie one apart; in vector code, unlike rint."""
    return energy + _COARSE - _COARSE


@kernel
def add_costs(costs, weight, row, factors, factor):  # type: ignore[no-untyped-def]
    """Add what an edge charges each label of a node, from its table's row for the label of the other end.

    Parameters
    ----------
    costs : (L,) float64, to which it is added
    weight : of the edge, times the scale
    row : (L,) float32
    factors : (L,) float32, of the node
    factor : of the other end's label
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
        e, turned = edge[k], 1 if flipped[k] else 0
        place[k, THERE] = (table_of[e] + turned * n_tables) * n_labels * n_labels
        place[k, BACK] = (table_of[e] + (1 - turned) * n_tables) * n_labels * n_labels
        place[k, EARLY] = factor_of[e, turned] * n_labels
        place[k, LATE] = factor_of[e, 1 - turned] * n_labels
        scaled[k] = weight[e] * scale


def changed_edges(old: Terms, new: Terms, arcs: Arcs) -> Int64:
    """Edges whose energies differ, or of which an end is free that was not, or is not any more; in order."""
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
