"""α-expansion (Boykov, Veksler, Zabih, PAMI 2001) for any tables: the energy never rises.

A move lets every node keep its label or take α; the best move is a minimum cut if every edge is regular:
V(a,b) + V(α,α) ≤ V(a,α) + V(α,b). Where it is not, V(a,α) and V(α,b) are raised until it is: the current labelling
and all nodes taking α keep their exact energy, other moves are over-estimated, so a move that seems to gain does. One
that gains may be overlooked: where such edges were met, nodes look for a better label of their own at the end.

What makes it fast: nodes descend to a local minimum first; the graph of each label's move is kept, with its flow, and
only brought up to date, between the turns of a label and between runs on one graph. The smallest minimum cut is
unique, so that this changes the time and not the result.

Energies are counted in whole numbers, of which a power of two makes one: sums are exact and the end is certain.
"""

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.descent import descend
from budgetseg.crf.maxflow import SOURCE, Search, saturate
from budgetseg.crf.memory import Memory
from budgetseg.crf.moves import Moves, update
from budgetseg.crf.problem import Problem, check_labels, energy
from budgetseg.crf.terms import Terms
from budgetseg.types import Int32

__all__ = ["expand"]


def expand(problem: Problem, start: ArrayLike | None = None, memory: Memory | None = None) -> Int32:
    """Labels (N,) that no move of any label improves, nor any node alone.

    Parameters
    ----------
    problem : what to minimise
    start : labelling (N,) to begin with, which the result is never worse than; else a local minimum near the unaries'
    memory : of an earlier run, which makes this one faster and changes nothing else
    """
    first = None if start is None else check_labels(problem, start)
    memory = (memory or Memory()).fit(problem)
    arcs, terms = memory.arcs, memory.take(problem)
    labels = np.argmin(terms.unary, axis=1).astype(np.int32) if first is None else first[arcs.order]
    _expand(arcs, terms, labels, memory.moves, memory.search, first is None)
    found = np.empty_like(labels)
    found[arcs.order] = labels
    # Whole numbers may call two labellings different that are not: then the start is as good as what was found.
    return found if first is None or energy(problem, found) <= energy(problem, first) else first


@njit(cache=True, nogil=True)
def _expand(arcs: Arcs, terms: Terms, labels: Int32, moves: Moves, search: Search, first_descend: bool) -> None:
    """Change labels until no move gains, nor any node alone."""
    if first_descend:
        descend(arcs, terms, labels)
    _move_all(arcs, terms, labels, moves, search)
    while moves.irregular[0] and descend(arcs, terms, labels):
        _move_all(arcs, terms, labels, moves, search)


@njit(cache=True, nogil=True)
def _move_all(arcs, terms, labels, moves, search):  # type: ignore[no-untyped-def]
    """Moves of all labels in turn until none gains."""
    n_labels = terms.unary.shape[1]
    waiting, alpha = n_labels, 0
    while waiting > 0:
        update(alpha, arcs, terms, labels, moves)
        if saturate(arcs, moves.room[alpha], moves.excess[alpha], search) > 0:
            waiting = n_labels  # less this one: what it could gain, it has
            for i in range(len(labels)):
                if search.side[i] == SOURCE:
                    labels[i] = alpha
        waiting -= 1
        alpha = alpha + 1 if alpha + 1 < n_labels else 0
