"""α-expansion (Boykov, Veksler, Zabih, PAMI 2001) for any tables: the energy never rises.

A move lets every node keep its label or take α; the best move is a minimum cut if every edge is regular:
V(a,b) + V(α,α) ≤ V(a,α) + V(α,b). Where it is not, V(a,α) and V(α,b) are raised until it is, or the one of an end that
stays anyway: the current labelling and all nodes taking α keep their exact energy, other moves are over-estimated, so a
move that seems to gain does. One that gains may be overlooked: where such edges were met, nodes look for a better label
of their own at the end.

What makes it fast: nodes whose label no neighbour can change are left out; nodes descend to a local minimum first; the
graph of each label's move holds only nodes that might take it, is kept, with its flow, and only brought up to date,
between the turns of a label and, where most nodes are in doubt, between runs on one graph. The smallest minimum cut is
unique, so that this changes the time and not the result.

Energies are counted in whole numbers, of which a power of two makes one: sums are exact and the end is certain.
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
_UNASKED = 2**16  # nodes and arcs of the graphs of moves after which `enough` is asked: asking takes time, too
_MANY = 0.2  # of all nodes are free: from there on the flow that a memory has kept saves more than fewer nodes do


class _Run(NamedTuple):
    """What a run works on; the nodes of the arcs are those that may change."""

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
    """Labels (N,) that no move of any label improves, nor any node alone.

    Parameters
    ----------
    problem : what to minimise
    start : labelling (N,) to begin with, which the result is never worse than; else a local minimum near the unaries'
    memory : of an earlier run, which makes this one faster and changes nothing else
    enough : asked between moves, at the same places for the same problem and start, whatever is remembered; once it is
        true, the result is the best labelling so far, not worse than the start or the labels of the unaries
    """
    first = None if start is None else check_labels(problem, start)
    labels = _likeliest(problem) if first is None else first.copy()
    if enough():
        return labels if first is None else _best(problem, [first, _likeliest(problem)])
    run = _prepare(problem, labels, memory)
    own = labels[run.arcs.order]
    if first is None:
        if enough():
            return labels
        descend(run.arcs, run.terms, own)
    is_done = _minimise(run, own, enough)
    labels[run.arcs.order] = own
    # Whole numbers may call two labellings different that are not: then the start is as good as what was found.
    others = [] if first is None else [first]
    return _best(problem, [labels, *others] if is_done else [labels, *others, _likeliest(problem)])


def _likeliest(problem: Problem) -> Int32:
    """What nodes would take if they were alone."""
    return np.asarray(problem.unary.argmin(axis=1), np.int32)


def _best(problem: Problem, labellings: Sequence[Int32]) -> Int32:
    """The first with the least energy."""
    if len(labellings) == 1:
        return labellings[0]
    return min(labellings, key=lambda labels: energy(problem, labels))


def _prepare(problem: Problem, labels: Int32, memory: Memory | None) -> _Run:
    """Free nodes alone; with a memory all of them, where many are free."""
    known, scale = (memory or Memory()).fit(problem), scale_of(problem)
    free, unary, reach = settle(problem, labels, known.incidence, scale)
    if memory is not None and free.sum() > _MANY * problem.n_nodes:
        terms = memory.take(problem, free, scale)
        return _Run(memory.arcs, terms, memory.moves, memory.search)
    arcs = make_arcs(problem.edges, known.incidence, known.order[free[known.order]])
    moves = make_moves(problem.n_labels, len(arcs.order), len(arcs.edge))
    return _Run(arcs, make_terms(problem, (unary, reach, free), arcs, scale), moves, make_search(len(arcs.order)))


def _minimise(run: _Run, labels: Int32, enough: Callable[[], bool]) -> bool:
    """Change labels until no move gains, nor any node alone, or it is enough; whether it was the former."""
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
    """Moves of labels in turn until none gains, or as many as allowed.

    `turn` says whose turn it is and how many labels have to be tried before it is clear that none gains.
    """
    n_labels, alpha, waiting = terms.unary.shape[1], turn[_LABEL], turn[_WAITING]
    while waiting > 0 and n_moves > 0:
        update(alpha, arcs, terms, labels, moves)
        if saturate(arcs, moves.room[alpha], moves.excess[alpha], search) > 0:
            waiting = n_labels  # less this one: what it could gain, it has
            for i in range(len(labels)):
                if search.side[i] == SOURCE:
                    labels[i] = alpha
        waiting -= 1
        n_moves -= 1
        alpha = alpha + 1 if alpha + 1 < n_labels else 0
    turn[_LABEL], turn[_WAITING] = alpha, waiting
