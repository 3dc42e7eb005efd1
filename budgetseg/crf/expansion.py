"""α-expansion (Boykov, Veksler, Zabih, PAMI 2001) for any tables: the energy never rises.

A move lets every node keep its label or take α; the best move is a minimum cut if every edge is regular:
V(a,b) + V(α,α) ≤ V(a,α) + V(α,b). Where it is not, V(a,α) and V(α,b) are raised until it is: the current labelling
and all nodes taking α keep their exact energy, other moves are over-estimated, so a move that seems to gain does.

What makes it fast: nodes slide to a local minimum first; a label rests until another label has changed something; and
a move starts from the flow that the last move of the same label ended with, cut to what the arcs hold now. The
smallest minimum cut is unique, so that this changes the time and not the result.

Energies are counted in whole numbers, of which a power of two makes one: sums are exact and the end is certain.
"""

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import ArrayLike

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.maxflow import FREE, Search, saturate
from budgetseg.crf.memory import Memory
from budgetseg.crf.problem import Problem, check_labels, energy
from budgetseg.types import Float32, Float64, Int32, Int64

__all__ = ["expand"]

_RANGE = 2.0**58  # no sum of whole-number energies leaves it


class _Terms(NamedTuple):
    """A problem in the order of its arcs; N nodes, E edges, L labels.

    Attributes
    ----------
    unary : (N, L) int64
    tables : (K, L, L) float32
    table_of : (E,) int32
    weight : (E,) float64, times the scale
    """

    unary: Int64
    tables: Float32
    table_of: Int32
    weight: Float64


def expand(problem: Problem, start: ArrayLike | None = None, memory: Memory | None = None) -> Int32:
    """Labels (N,) that no move of any label improves.

    Parameters
    ----------
    problem : what to minimise
    start : labelling (N,) to begin with, which the result is never worse than; else a local minimum near the unaries'
    memory : of an earlier run, which makes this one faster and changes nothing else
    """
    memory = (memory or Memory()).fit(problem)
    first = None if start is None else check_labels(problem, start)
    scale = _scale(problem)
    memory.rescale(scale)
    terms = _terms(problem, memory.arcs, scale)
    labels = _slide(memory.arcs, terms) if first is None else first[memory.arcs.order]
    _expand(memory.arcs, terms, labels, memory.flows, memory.room, memory.excess, memory.search)
    found = np.empty_like(labels)
    found[memory.arcs.order] = labels
    # Whole numbers may call two labellings different that are not: then the start is as good as what was found.
    return found if first is None or energy(problem, found) <= energy(problem, first) else first


def _scale(problem: Problem) -> float:
    """The power of two that makes energies whole numbers as fine as their sum allows."""
    largest = float(np.abs(problem.tables).max(initial=0))
    bound = problem.unary.size * float(np.abs(problem.unary).max())
    bound += 4 * largest * float(np.abs(problem.weight).sum(dtype=np.float64))
    return 2.0 ** math.floor(math.log2(_RANGE / bound)) if bound > 0 else 1.0


def _terms(problem: Problem, arcs: Arcs, scale: float) -> _Terms:
    return _Terms(
        np.rint(problem.unary[arcs.order] * np.float64(scale)).astype(np.int64),
        problem.tables,
        problem.table_of[arcs.edge],
        problem.weight[arcs.edge] * np.float64(scale),
    )


@njit(cache=True, nogil=True, inline="always")
def _pair(k, a, b, terms, flipped):  # type: ignore[no-untyped-def]
    """Energy of edge k if its earlier node has label a and its later one b."""
    if flipped[k]:
        return np.int64(np.rint(terms.weight[k] * terms.tables[terms.table_of[k], b, a]))
    return np.int64(np.rint(terms.weight[k] * terms.tables[terms.table_of[k], a, b]))


@njit(cache=True, nogil=True)
def _slide(arcs, terms):  # type: ignore[no-untyped-def]
    """A labelling that no node alone can improve, from that of the unaries, (N,)."""
    n, n_labels = terms.unary.shape
    labels, costs = np.empty(n, np.int32), terms.unary.copy()
    for i in range(n):
        labels[i] = np.argmin(costs[i])
    for i in range(n):
        for arc in range(arcs.first[i], arcs.first[i + 1]):
            j = arcs.head[arc]
            for label in range(n_labels):
                costs[i, label] += _seen_from(i, arc, label, labels[j], arcs, terms)
    queue, queued, read, n_queued = np.arange(n).astype(np.int32), np.ones(n, np.bool_), 0, n
    while n_queued > 0:
        i = queue[read]
        read = read + 1 if read + 1 < n else 0
        n_queued -= 1
        queued[i] = False
        best = np.argmin(costs[i])
        old = labels[i]
        if costs[i, best] == costs[i, old]:
            continue
        labels[i] = best
        for arc in range(arcs.first[i], arcs.first[i + 1]):
            j = arcs.head[arc]
            for label in range(n_labels):
                costs[j, label] += _seen_from(j, arc, label, best, arcs, terms)
                costs[j, label] -= _seen_from(j, arc, label, old, arcs, terms)
            if not queued[j]:
                queued[j] = True
                queue[(read + n_queued) % n] = j
                n_queued += 1
    return labels


@njit(cache=True, nogil=True, inline="always")
def _seen_from(i, arc, own, other, arcs, terms):  # type: ignore[no-untyped-def]
    """Energy of an arc at node i if i has label `own` and the node at the other end `other`."""
    k = arcs.number[arc]
    j = arcs.head[arc] if arcs.head[arc] != i else arcs.head[arcs.sister[arc]]
    return _pair(k, own, other, terms, arcs.flipped) if i < j else _pair(k, other, own, terms, arcs.flipped)


@njit(cache=True, nogil=True)
def _expand(arcs: Arcs, terms: _Terms, labels: Int32, flows: Int64, room: Int64, excess: Int64, search: Search) -> None:
    """Moves of all labels in turn until none gains; `labels` is changed."""
    n_labels = terms.unary.shape[1]
    waiting, alpha = n_labels, 0
    while waiting > 0:  # once the last n_labels moves have changed nothing, none will
        _prepare(alpha, arcs, terms, labels, flows[alpha], room, excess)
        gain = saturate(arcs, room, excess, search)
        _remember(alpha, arcs, labels, flows[alpha], room)
        if gain > 0:
            waiting = n_labels
            for i in range(len(labels)):
                if search.parent[i] != FREE:
                    labels[i] = alpha
        waiting -= 1
        alpha = alpha + 1 if alpha + 1 < n_labels else 0


@njit(cache=True, nogil=True)
def _prepare(alpha, arcs, terms, labels, flow, room, excess):  # type: ignore[no-untyped-def]
    """Capacities of a move: excess is what a node gains by taking α, room what an edge charges for going alone."""
    for i in range(len(labels)):
        excess[i] = terms.unary[i, labels[i]] - terms.unary[i, alpha]
    k = 0
    for i in range(len(labels)):
        a = labels[i]
        for there in range(arcs.middle[i], arcs.first[i + 1]):
            j, back = arcs.head[there], arcs.sister[there]
            b = labels[j]
            both = _pair(k, alpha, alpha, terms, arcs.flipped)
            if a == alpha or b == alpha:
                room[there] = room[back] = 0
                alone = _pair(k, a, b, terms, arcs.flipped) - both
                excess[i] += alone
                excess[j] += alone
            else:
                stay = _pair(k, a, b, terms, arcs.flipped)
                first = _pair(k, alpha, b, terms, arcs.flipped)
                second = _pair(k, a, alpha, terms, arcs.flipped)
                total = first + second - stay - both
                if total < 0:
                    first -= total // 2
                    second -= total - total // 2
                    total = 0
                half = total // 2
                sent = min(max(flow[k], -half), total - half)
                excess[i] -= first - stay - (total - half) + sent
                excess[j] -= second - stay - half - sent
                room[there], room[back] = total - half - sent, half + sent
            k += 1
    for i in range(len(labels)):
        if labels[i] == alpha:
            excess[i] = 0


@njit(cache=True, nogil=True)
def _remember(alpha, arcs, labels, flow, room):  # type: ignore[no-untyped-def]
    """Flow of each edge at the end of a move; edges that were not part of it keep theirs."""
    k = 0
    for i in range(len(labels)):
        for there in range(arcs.middle[i], arcs.first[i + 1]):
            if labels[i] != alpha and labels[arcs.head[there]] != alpha:
                total = room[there] + room[arcs.sister[there]]
                flow[k] = total - total // 2 - room[there]
            k += 1
