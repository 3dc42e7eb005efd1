"""A problem in the order of its arcs, counted in whole numbers."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.problem import Problem
from budgetseg.types import Float32, Float64, Int64

__all__ = ["Terms", "changed_edges", "make_terms", "scale_of", "whole"]

_RANGE = 2.0**58  # no sum of whole-number energies leaves it
_STEP = 8  # powers of two: a slightly different problem should have the same scale


class Terms(NamedTuple):
    """N nodes, E edges, L labels, K tables.

    If its earlier node has label a and its later one b, the energy of edge k is

        weight[k] · values[place[k] + a · row[k] + b · column[k]]

    Attributes
    ----------
    unary : (N, L) int64
    values : (K·L·L,) float32, the tables of the problem
    place : (E,) int64, where the table of each edge begins
    row, column : (E,) int64, L and 1, or 1 and L where the earlier node is the second end
    weight : (E,) float64, times the scale
    """

    unary: Int64
    values: Float32
    place: Int64
    row: Int64
    column: Int64
    weight: Float64


def scale_of(problem: Problem) -> float:
    """The power of two that makes energies whole numbers, about as fine as their sum allows."""
    bound = problem.unary.size * _largest(problem.unary)
    bound += 4 * _largest(problem.tables) * float(np.abs(problem.weight).sum(dtype=np.float64))
    return 2.0 ** (_STEP * math.floor(math.log2(_RANGE / bound) / _STEP)) if bound > 0 else 1.0


def _largest(values: Float32) -> float:
    return max(float(values.max(initial=0)), -float(values.min(initial=0)))


def make_terms(problem: Problem, arcs: Arcs, scale: float) -> Terms:
    """A problem as its moves need it."""
    n_labels = problem.n_labels
    return Terms(
        _reordered(problem.unary, arcs.order, scale),
        problem.tables.reshape(-1),
        problem.table_of[arcs.edge] * np.int64(n_labels * n_labels),
        np.where(arcs.flipped, 1, n_labels),
        np.where(arcs.flipped, n_labels, 1),
        problem.weight[arcs.edge] * np.float64(scale),
    )


@njit(cache=True, nogil=True, inline="always")
def whole(energy):  # type: ignore[no-untyped-def]
    """The nearest whole number."""
    return np.int64(np.rint(energy))


@njit(cache=True, nogil=True)
def _reordered(unary, order, scale):  # type: ignore[no-untyped-def]
    """Unaries in another order and in whole numbers."""
    found = np.empty(unary.shape, np.int64)
    for i in range(len(order)):
        for label in range(unary.shape[1]):
            found[i, label] = whole(unary[order[i], label] * scale)
    return found


def changed_edges(old: Terms, new: Terms) -> Int64:
    """Edges whose energies differ, in order."""
    if old.values.shape != new.values.shape:
        return np.arange(len(new.place))
    size = new.unary.shape[1] ** 2
    differ = _differ(old.values.reshape(-1, size), new.values.reshape(-1, size))
    return np.flatnonzero((old.weight != new.weight) | (old.place != new.place) | differ[new.place // size])


@njit(cache=True, nogil=True)
def _differ(old, new):  # type: ignore[no-untyped-def]
    """Tables that are not equal, (K,)."""
    different = np.zeros(len(old), np.bool_)
    for k in range(len(old)):
        unequal = False
        for place in range(old.shape[1]):
            unequal |= old[k, place] != new[k, place]
        different[k] = unequal
    return different
