"""A problem in the order of its arcs, counted in whole numbers."""

import math
from typing import NamedTuple

import numpy as np
from numba import njit

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.problem import Problem
from budgetseg.types import Bool, Float32, Float64, Int32, Int64

__all__ = ["Terms", "changed_edges", "make_terms", "pair", "scale_of"]

_RANGE = 2.0**58  # no sum of whole-number energies leaves it
_STEP = 8  # powers of two: a slightly different problem should have the same scale


class Terms(NamedTuple):
    """N nodes, E edges, L labels, K tables.

    Attributes
    ----------
    unary : (N, L) int64
    tables : (K, L, L) float32, those of the problem
    table_of : (E,) int32
    weight : (E,) float64, times the scale
    flipped : (E,) bool, that of the arcs: where the columns of a table belong to the earlier node
    """

    unary: Int64
    tables: Float32
    table_of: Int32
    weight: Float64
    flipped: Bool


def scale_of(problem: Problem) -> float:
    """The power of two that makes energies whole numbers, about as fine as their sum allows."""
    largest = float(np.abs(problem.tables).max(initial=0))
    bound = problem.unary.size * float(np.abs(problem.unary).max())
    bound += 4 * largest * float(np.abs(problem.weight).sum(dtype=np.float64))
    return 2.0 ** (_STEP * math.floor(math.log2(_RANGE / bound) / _STEP)) if bound > 0 else 1.0


def make_terms(problem: Problem, arcs: Arcs, scale: float) -> Terms:
    """A problem as its moves need it."""
    return Terms(
        np.rint(problem.unary[arcs.order] * np.float64(scale)).astype(np.int64),
        problem.tables,
        problem.table_of[arcs.edge],
        problem.weight[arcs.edge] * np.float64(scale),
        arcs.flipped,
    )


@njit(cache=True, nogil=True, inline="always")
def pair(k, a, b, terms):  # type: ignore[no-untyped-def]
    """Energy of edge k if its earlier node has label a and its later one b."""
    if terms.flipped[k]:
        return np.int64(np.rint(terms.weight[k] * terms.tables[terms.table_of[k], b, a]))
    return np.int64(np.rint(terms.weight[k] * terms.tables[terms.table_of[k], a, b]))


def changed_edges(old: Terms, new: Terms) -> Int64:
    """Edges whose energies differ; tables that are the same array are taken to be the same."""
    changed = (old.weight != new.weight) | (old.table_of != new.table_of)
    if old.tables is not new.tables:
        if old.tables.shape != new.tables.shape:
            return np.arange(len(changed))
        changed |= _differ(old.tables, new.tables)[new.table_of]
    return np.flatnonzero(changed)


@njit(cache=True, nogil=True)
def _differ(old, new):  # type: ignore[no-untyped-def]
    """Tables that are not equal, (K,)."""
    different = np.zeros(len(old), np.bool_)
    for k in range(len(old)):
        unequal = False
        for a in range(old.shape[1]):
            for b in range(old.shape[2]):
                unequal |= old[k, a, b] != new[k, a, b]
        different[k] = unequal
    return different
