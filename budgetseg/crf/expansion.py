"""α-expansion (Boykov, Veksler, Zabih, PAMI 2001) for any tables: the energy never rises.

A move lets every node keep its label or take α. The best move is a minimum cut if every edge is regular:
V(a,b) + V(α,α) ≤ V(a,α) + V(α,b). For an irregular edge, V(a,α) and V(α,b) are raised until it is regular, or only the
one of an end that keeps its label anyway. The current labelling and the one with α everywhere keep their exact energy,
and other moves are over-estimated, so that a move that seems to gain does gain. A move that gains may be missed: if
there were irregular edges, single nodes are changed at the end where that gains.

It is fast for three reasons. Nodes whose label no neighbour can change are left out. Nodes descend to a local minimum
first. The graph of each label's move holds only nodes that might take the label; it is kept with its flow and updated
between the turns of a label and, if most nodes are free, between runs on one graph. The smallest minimum cut is unique,
so that this changes the time and not the result.

Energies are whole numbers, scaled by a power of two: sums are exact, and the algorithm certainly ends.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from budgetseg.crf.arcs import Arcs, make_arcs
from budgetseg.crf.descent import descend
from budgetseg.crf.kernels import kernel
from budgetseg.crf.maxflow import SOURCE, Search, make_search, saturate
from budgetseg.crf.memory import Memory
from budgetseg.crf.moves import Moves, make_moves, update
from budgetseg.crf.problem import Problem, check_labels, energy
from budgetseg.crf.settling import settle
from budgetseg.crf.terms import Terms, make_terms, scale_of
from budgetseg.types import Int32

__all__ = ["expand"]

_LABEL, _WAITING = range(2)  # places in a turn
_UNASKED = 2**16  # nodes and arcs of moves between two calls of `enough`, since calling it takes time, too
_MANY = 0.2  # share of free nodes from which keeping the flow of earlier runs saves more time than leaving nodes out


class _Run(NamedTuple):
    """The arrays of a run; its arcs are between the nodes that may change."""

    arcs: Arcs
    terms: Terms
    moves: Moves
    search: Search


def expand(
    problem: Problem,
    start: ArrayLike | None = None,
    memory: Memory | None = None,
    enough: Callable[[], bool] = lambda: False,
) -> Int32:
    """Labels (N,) whose energy no expansion move and no change of a single node lowers.

    Parameters
    ----------
    problem : to minimise
    start : labelling (N,) to begin with, which the result is never worse than; None for a local minimum near the labels
        of the unaries
    memory : of an earlier run, which makes this one faster and changes nothing else
    enough : called between moves, at the same places for the same problem and start, whatever is in memory; once it
        returns True, the best labelling so far is returned, not worse than the start or the labels of the unaries
    """
    first = None if start is None else check_labels(problem, start)
    labels = _likeliest(problem) if first is None else first.copy()
    if enough():
        return labels if first is None else _best(problem, [first, _likeliest(problem)])
    run = _prepare(problem, labels, memory)
    free_labels = labels[run.arcs.order]
    if first is None:
        if enough():
            return labels
        descend(run.arcs, run.terms, free_labels)
    is_done = _minimise(run, free_labels, enough)
    labels[run.arcs.order] = free_labels
    # Rounding to whole numbers may prefer one of two labellings with the same energy: then the start is as good.
    others = [] if first is None else [first]
    return _best(problem, [labels, *others] if is_done else [labels, *others, _likeliest(problem)])


def _likeliest(problem: Problem) -> Int32:
    """The labels (N,) of the unaries alone."""
    return np.asarray(problem.unary.argmin(axis=1), np.int32)


def _best(problem: Problem, labellings: Sequence[Int32]) -> Int32:
    """The labelling with the least energy; of equals, the first."""
    if len(labellings) == 1:
        return labellings[0]
    return min(labellings, key=lambda labels: energy(problem, labels))


def _prepare(problem: Problem, labels: Int32, memory: Memory | None) -> _Run:
    """Make a run of free nodes alone, or, if there is a memory and many nodes are free, of all nodes."""
    known = (memory or Memory()).fit(problem)
    scale = scale_of(problem)
    free, unary, reach = settle(problem, labels, known.incidence, scale)
    if memory is not None and free.sum() > _MANY * problem.n_nodes:
        terms = memory.take(problem, free, scale)
        return _Run(memory.arcs, terms, memory.moves, memory.search)
    arcs = make_arcs(problem.edges, known.incidence, known.order[free[known.order]])
    moves = make_moves(problem.n_labels, len(arcs.order), len(arcs.edge))
    return _Run(arcs, make_terms(problem, (unary, reach, free), arcs, scale), moves, make_search(len(arcs.order)))


def _minimise(run: _Run, labels: Int32, enough: Callable[[], bool]) -> bool:
    """Change labels until no move and no single node gains, or `enough` is True. Returns whether it converged."""
    arcs, terms, moves, search = run
    n_moves = 1 + _UNASKED // (1 + len(labels) + len(arcs.head))
    turn = np.array([0, terms.unary.shape[1]])
    while turn[_WAITING] > 0 and not enough():
        _move(arcs, terms, labels, moves, search, turn, n_moves)
        if turn[_WAITING] == 0 and moves.irregular[0] and descend(arcs, terms, labels):
            turn[:] = 0, terms.unary.shape[1]
    return bool(turn[_WAITING] == 0)


@kernel
def _move(arcs, terms, labels, moves, search, turn, n_moves):  # type: ignore[no-untyped-def]
    """Make moves of one label after the other until none gains, or n_moves were made.

    `turn` holds the next label, and the number of labels that must be tried before it is certain that none gains.
    """
    n_labels = terms.unary.shape[1]
    alpha = turn[_LABEL]
    waiting = turn[_WAITING]
    while waiting > 0 and n_moves > 0:
        update(alpha, arcs, terms, labels, moves)
        if saturate(arcs, moves.room[alpha], moves.excess[alpha], search) > 0:
            waiting = n_labels  # the line below takes this label off: right after its move it cannot gain more
            for i in range(len(labels)):
                if search.side[i] == SOURCE:
                    labels[i] = alpha
        waiting -= 1
        n_moves -= 1
        alpha = alpha + 1 if alpha + 1 < n_labels else 0
    turn[_LABEL] = alpha
    turn[_WAITING] = waiting
