"""Belief propagation: min-sum messages, damped, in a fixed order; for any tables.

Nodes are visited breadth first and back. On the way back every node tells its earlier neighbours what each of their
labels would cost behind it; on the way forth it takes the best label given those that earlier neighbours have just
taken, and tells the later ones. On trees the first round is exact. With loops it need not settle, so the best
labelling of all rounds is kept.
"""

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from budgetseg.crf.memory import Memory
from budgetseg.crf.problem import Problem, check_labels, energy, without_factors
from budgetseg.types import Int32

__all__ = ["propagate"]

_SETTLED = 1e-6  # of the largest energy: messages that change by less have settled


def propagate(
    problem: Problem,
    start: ArrayLike | None = None,
    memory: Memory | None = None,
    enough: Callable[[], bool] = lambda: False,
    rounds: int = 50,
    damping: float = 0.5,
) -> Int32:
    """The best labels (N,) that were met.

    Parameters
    ----------
    problem : what to minimise
    start : labelling (N,) that the result is never worse than
    memory : of an earlier run, which saves the making of arrays and changes nothing else
    enough : asked between rounds; once it is true, the best labels so far are the result, at first those of the unaries
    rounds : after which to stop if messages have not settled by then
    damping : what stays of the message of the round before, 0 to 1
    """
    first = None if start is None else check_labels(problem, start)
    found = problem.unary.argmin(axis=1).astype(np.int32)
    if not enough():
        memory = (memory or Memory()).fit(problem)
        found[memory.arcs.order] = _propagate(without_factors(problem), memory, enough, rounds, damping)
    return found if first is None or energy(problem, found) <= energy(problem, first) else first


def _propagate(problem: Problem, memory: Memory, enough: Callable[[], bool], rounds: int, damping: float) -> Int32:
    """The best labels of all rounds, in the order of the arcs."""
    arcs, inbox = memory.arcs, memory.messages()
    unary, weight = problem.unary[arcs.order].astype(np.float64), problem.weight[arcs.edge].astype(np.float64)
    settled = _SETTLED * max(1e-30, float(np.abs(problem.unary).max()))
    best, labels, lowest = np.empty(len(unary), np.int32), np.empty(len(unary), np.int32), np.inf
    for turn in range(rounds):
        keep = damping if turn > 0 else 0.0
        pairs = problem.tables, problem.table_of[arcs.edge], weight
        total, change = _round(arcs, unary, *pairs, inbox, keep, labels)
        if total < lowest:
            best, labels, lowest = labels, best, total
        if change <= settled or enough():
            break
    return best


@njit(cache=True, nogil=True)
def _round(arcs, unary, tables, table_of, weight, inbox, keep, labels):  # type: ignore[no-untyped-def]
    """Send messages back and forth and take labels on the way; their energy, and how much any message has changed."""
    n, n_labels = unary.shape
    belief, message, change = np.empty(n_labels), np.empty(n_labels), 0.0
    for i in range(n - 1, -1, -1):
        _believe(i, arcs, unary, inbox, belief)
        for arc in range(arcs.first[i], arcs.middle[i]):
            k = arcs.number[arc]
            _tell(tables[table_of[k]], not arcs.flipped[k], weight[k], belief, inbox[arc], message)
            change = max(change, _put(message, inbox[arcs.sister[arc]], keep))
    for i in range(n):
        labels[i] = _decide(i, arcs, unary, tables, table_of, weight, inbox, labels, belief)
        _believe(i, arcs, unary, inbox, belief)
        for arc in range(arcs.middle[i], arcs.first[i + 1]):
            k = arcs.number[arc]
            _tell(tables[table_of[k]], arcs.flipped[k], weight[k], belief, inbox[arc], message)
            change = max(change, _put(message, inbox[arcs.sister[arc]], keep))
    return _total(arcs, unary, tables, table_of, weight, labels), change


@njit(cache=True, nogil=True)
def _believe(i, arcs, unary, inbox, belief):  # type: ignore[no-untyped-def]
    """Unary of a node plus all that its neighbours have told it."""
    belief[:] = unary[i]
    for arc in range(arcs.first[i], arcs.first[i + 1]):
        for label in range(len(belief)):
            belief[label] += inbox[arc, label]


@njit(cache=True, nogil=True)
def _tell(table, flipped, weight, belief, heard, message):  # type: ignore[no-untyped-def]
    """What each label of a neighbour would cost, given what a node believes apart from what it heard from there.

    Rows of the table are labels of the node, or of the neighbour if flipped.
    """
    n_labels = len(belief)
    message[:] = np.inf
    for a in range(n_labels):
        own = belief[a] - heard[a]
        for b in range(n_labels):
            cost = own + weight * (table[b, a] if flipped else table[a, b])
            message[b] = cost if cost < message[b] else message[b]


@njit(cache=True, nogil=True)
def _put(message, place, keep):  # type: ignore[no-untyped-def]
    """Put a message, its least value moved to zero, where its receiver looks; by how much that has changed."""
    lowest, change = message.min(), 0.0
    for b in range(len(message)):
        new = keep * place[b] + (1 - keep) * (message[b] - lowest)
        change = max(change, abs(new - place[b]))
        place[b] = new
    return change


@njit(cache=True, nogil=True)
def _decide(i, arcs, unary, tables, table_of, weight, inbox, labels, costs):  # type: ignore[no-untyped-def]
    """The best label given the labels of earlier nodes and the messages of later ones."""
    costs[:] = unary[i]
    for arc in range(arcs.first[i], arcs.middle[i]):
        k, other = arcs.number[arc], labels[arcs.head[arc]]
        for a in range(len(costs)):
            pair = tables[table_of[k], a, other] if arcs.flipped[k] else tables[table_of[k], other, a]
            costs[a] += weight[k] * pair
    for arc in range(arcs.middle[i], arcs.first[i + 1]):
        for a in range(len(costs)):
            costs[a] += inbox[arc, a]
    return np.argmin(costs)


@njit(cache=True, nogil=True)
def _total(arcs, unary, tables, table_of, weight, labels):  # type: ignore[no-untyped-def]
    total = 0.0
    for i in range(len(labels)):
        total += unary[i, labels[i]]
        for arc in range(arcs.middle[i], arcs.first[i + 1]):
            k, j = arcs.number[arc], arcs.head[arc]
            a, b = (labels[j], labels[i]) if arcs.flipped[k] else (labels[i], labels[j])
            total += weight[k] * tables[table_of[k], a, b]
    return total
