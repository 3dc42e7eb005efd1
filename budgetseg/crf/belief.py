"""Belief propagation: min-sum messages, damped, in a fixed order; for any tables.

Nodes are visited in reverse breadth-first order, then in breadth-first order. On the way back every node sends its
earlier neighbours the cost of each of their labels on its side of the graph. On the way forth it takes the best label
given those that earlier neighbours have just taken, and sends messages to the later ones. On trees the first round is
exact. With loops messages need not converge, so the best labelling of all rounds is kept.
"""

from collections.abc import Callable

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from budgetseg.crf.memory import Memory
from budgetseg.crf.problem import Problem, check_labels, energy, without_factors
from budgetseg.types import Int32

__all__ = ["propagate"]

_SETTLED = 1e-6  # share of the largest energy; messages that change by less have converged


def propagate(
    problem: Problem,
    start: ArrayLike | None = None,
    memory: Memory | None = None,
    enough: Callable[[], bool] = lambda: False,
    rounds: int = 50,
    damping: float = 0.5,
) -> Int32:
    """The labels (N,) of least energy over all rounds.

    Parameters
    ----------
    problem : to minimise
    start : labelling (N,) that the result is never worse than
    memory : of an earlier run, which saves allocating arrays and changes nothing else
    enough : called between rounds; once it returns True, the best labels so far are returned, at first those of the
        unaries
    rounds : number of rounds, at most, if messages do not converge before
    damping : share of the message of the round before that is kept, 0 to 1
    """
    first = None if start is None else check_labels(problem, start)
    found = problem.unary.argmin(axis=1).astype(np.int32)
    if not enough():
        memory = (memory or Memory()).fit(problem)
        found[memory.arcs.order] = _propagate(without_factors(problem), memory, enough, rounds, damping)
    return found if first is None or energy(problem, found) <= energy(problem, first) else first


def _propagate(problem: Problem, memory: Memory, enough: Callable[[], bool], rounds: int, damping: float) -> Int32:
    """The best labels of all rounds, in the order of the arcs."""
    arcs = memory.arcs
    inbox = memory.messages()
    unary = problem.unary[arcs.order].astype(np.float64)
    weight = problem.weight[arcs.edge].astype(np.float64)
    settled = _SETTLED * max(1e-30, float(np.abs(problem.unary).max()))
    best = np.empty(len(unary), np.int32)
    labels = np.empty(len(unary), np.int32)
    lowest = np.inf
    for turn in range(rounds):
        keep = damping if turn > 0 else 0.0
        pairs = problem.tables, problem.table_of[arcs.edge], weight
        total, change = _round(arcs, unary, *pairs, inbox, keep, labels)
        if total < lowest:
            best, labels = labels, best  # swapped, so that the next round does not overwrite the best
            lowest = total
        if change <= settled or enough():
            break
    return best


@njit(cache=True, nogil=True)
def _round(arcs, unary, tables, table_of, weight, inbox, keep, labels):  # type: ignore[no-untyped-def]
    """One round of messages, in which labels are taken. Returns their energy, and the largest change of a message."""
    n, n_labels = unary.shape
    belief = np.empty(n_labels)
    message = np.empty(n_labels)
    change = 0.0
    for i in range(n - 1, -1, -1):
        _believe(i, arcs, unary, inbox, belief)
        for arc in range(arcs.first[i], arcs.middle[i]):
            k = arcs.number[arc]
            _message(tables[table_of[k]], not arcs.flipped[k], weight[k], belief, inbox[arc], message)
            change = max(change, _put(message, inbox[arcs.sister[arc]], keep))
    for i in range(n):
        labels[i] = _decide(i, arcs, unary, tables, table_of, weight, inbox, labels, belief)
        _believe(i, arcs, unary, inbox, belief)
        for arc in range(arcs.middle[i], arcs.first[i + 1]):
            k = arcs.number[arc]
            _message(tables[table_of[k]], arcs.flipped[k], weight[k], belief, inbox[arc], message)
            change = max(change, _put(message, inbox[arcs.sister[arc]], keep))
    return _total(arcs, unary, tables, table_of, weight, labels), change


@njit(cache=True, nogil=True)
def _believe(i, arcs, unary, inbox, belief):  # type: ignore[no-untyped-def]
    """Fill in the belief of node i, (L,): its unary plus all messages of its neighbours."""
    belief[:] = unary[i]
    for arc in range(arcs.first[i], arcs.first[i + 1]):
        for label in range(len(belief)):
            belief[label] += inbox[arc, label]


@njit(cache=True, nogil=True)
def _message(table, flipped, weight, belief, received, message):  # type: ignore[no-untyped-def]
    """Fill in the message of a node to a neighbour, (L,): the cost of each of the neighbour's labels.

    It is made from the node's belief without the message `received` from that neighbour. Rows of the table are labels
    of the node, or of the neighbour if flipped.
    """
    n_labels = len(belief)
    message[:] = np.inf
    for a in range(n_labels):
        cavity = belief[a] - received[a]
        for b in range(n_labels):
            cost = cavity + weight * (table[b, a] if flipped else table[a, b])
            message[b] = cost if cost < message[b] else message[b]


@njit(cache=True, nogil=True)
def _put(message, place, keep):  # type: ignore[no-untyped-def]
    """Write a message, shifted to a least value of zero and damped, to `place`. Returns its largest change."""
    lowest = message.min()
    change = 0.0
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
        k = arcs.number[arc]
        other = labels[arcs.head[arc]]
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
