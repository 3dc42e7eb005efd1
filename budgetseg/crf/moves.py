"""The graph of each label's move, kept up to date instead of built anew.

In a move of label α every node stays or takes α. With a and b the labels that the two ends of an edge have now, the
edge costs V(a,b) if both stay, V(α,b) or V(a,α) if one goes, V(α,α) if both do. That is a cut in a graph: `excess` is
what a node gains by going, `room` what an edge charges for going alone.

After a move the graph is as the flow has left it. When the label's turn comes again, only edges at nodes with another
label than then are tied anew, keeping as much of their flow as they can hold: any flow is a fair start.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.terms import Terms, whole
from budgetseg.types import Bool, Int32, Int64

__all__ = ["Moves", "make_moves", "revise", "update"]


class Moves(NamedTuple):
    """Graphs of L labels on N nodes and E edges.

    Attributes
    ----------
    room : (L, 2E) int64, what each arc can still take
    excess : (L, N) int64, what each node gains by taking the label, less what flows away; 0 for nodes that have it
    seen : (L, N) int32, labels that the graph was last tied for, -1 if never
    irregular : (1,) bool, whether any edge had to be made dearer so far: moves may overlook a gain then
    """

    room: Int64
    excess: Int64
    seen: Int32
    irregular: Bool


def make_moves(n_labels: int, n_nodes: int, n_edges: int) -> Moves:
    """Graphs that were never tied."""
    return Moves(
        np.zeros((n_labels, 2 * n_edges), np.int64),
        np.zeros((n_labels, n_nodes), np.int64),
        np.full((n_labels, n_nodes), -1, np.int32),
        np.zeros(1, np.bool_),
    )


@njit(cache=True, nogil=True)
def update(alpha: int, arcs: Arcs, terms: Terms, labels: Int32, moves: Moves) -> None:
    """Tie the graph of a label for the labels (N,) of now."""
    room, excess, seen = moves.room[alpha], moves.excess[alpha], moves.seen[alpha]
    if seen[0] < 0:
        moves.irregular[0] |= _tie_all(alpha, arcs, terms, labels, room, excess)
    else:
        for i in range(len(labels)):
            if seen[i] != labels[i]:
                excess[i] += terms.unary[i, labels[i]] - terms.unary[i, seen[i]]
                moves.irregular[0] |= _tie_around(i, alpha, arcs, terms, labels, room, excess, seen)
    seen[:] = labels


@njit(cache=True, nogil=True)
def _tie_all(alpha, arcs, terms, labels, room, excess):  # type: ignore[no-untyped-def]
    """Tie all edges for the first time; whether any is irregular."""
    irregular = False
    for i in range(len(labels)):
        excess[i] = terms.unary[i, labels[i]] - terms.unary[i, alpha]
    k, middle, end, head, sister = 0, arcs.middle, arcs.first[1:], arcs.head, arcs.sister
    for i in range(len(labels)):
        gain, a = excess[i], labels[i]
        for there in range(middle[i], end[i]):
            j = head[there]
            first, second, total, lifted = _charge(k, alpha, a, labels[j], terms)
            irregular |= lifted
            gain += first
            excess[j] += second
            room[there], room[sister[there]] = total - (total >> 1), total >> 1
            k += 1
        excess[i] = gain
    return irregular


@njit(cache=True, nogil=True)
def _tie_around(node, alpha, arcs, terms, labels, room, excess, seen):  # type: ignore[no-untyped-def]
    """Tie all edges of a node anew, less those of earlier nodes that have changed too; whether any is irregular."""
    irregular = False
    for arc in range(arcs.first[node], arcs.first[node + 1]):
        i, j, there = node, arcs.head[arc], arc
        if j < i:
            if seen[j] != labels[j]:
                continue
            i, j, there = j, i, arcs.sister[arc]
        k = arcs.number[arc]
        old = _charge(k, alpha, seen[i], seen[j], terms)
        new = _charge(k, alpha, labels[i], labels[j], terms)
        _tie(there, arcs.sister[there], i, j, old, new, room, excess)
        irregular |= new[3]
    return irregular


@njit(cache=True, nogil=True)
def revise(arcs: Arcs, old: Terms, new: Terms, edges: Int64, moves: Moves) -> None:
    """Bring the graphs of all labels from one problem to another; `edges` are those that have changed, in order."""
    for alpha in range(len(moves.seen)):
        room, excess, seen = moves.room[alpha], moves.excess[alpha], moves.seen[alpha]
        if seen[0] < 0:
            continue
        for i in range(len(seen)):
            excess[i] += new.unary[i, seen[i]] - new.unary[i, alpha] - old.unary[i, seen[i]] + old.unary[i, alpha]
        for k in edges:
            there, back = arcs.arc[k], arcs.sister[arcs.arc[k]]
            i, j = arcs.head[back], arcs.head[there]
            was, now = _charge(k, alpha, seen[i], seen[j], old), _charge(k, alpha, seen[i], seen[j], new)
            _tie(there, back, i, j, was, now, room, excess)
            moves.irregular[0] |= now[3]


@njit(cache=True, nogil=True, inline="always")
def _tie(there, back, i, j, old, new, room, excess):  # type: ignore[no-untyped-def]
    """Replace what an edge from i to j charges, keeping its flow as far as it fits."""
    had, total = old[2], new[2]
    flow = had - (had >> 1) - room[there]
    kept = min(max(flow, -(total >> 1)), total - (total >> 1))
    excess[i] += new[0] - old[0] + flow - kept
    excess[j] += new[1] - old[1] + kept - flow
    room[there], room[back] = total - (total >> 1) - kept, (total >> 1) + kept


@njit(cache=True, nogil=True, inline="always")
def _charge(k, alpha, a, b, terms):  # type: ignore[no-untyped-def]
    """What the earlier and the later node gain by taking α, and what the edge charges in all for going alone.

    The charge is one half for either of them going. Where it would be negative, going alone is made dearer; the last
    value says so.
    """
    weight, values, row, column = terms.weight[k], terms.values, terms.row[k], terms.column[k]
    start = terms.place[k]
    both = whole(weight * values[start + alpha * (row + column)])
    stay = whole(weight * values[start + a * row + b * column])
    if a == alpha or b == alpha:
        gain = stay - both
        return (np.int64(0) if a == alpha else gain), (np.int64(0) if b == alpha else gain), np.int64(0), False
    first = whole(weight * values[start + alpha * row + b * column])
    second = whole(weight * values[start + a * row + alpha * column])
    total = first + second - stay - both
    lifted = total < 0
    if lifted:
        first -= total >> 1
        second -= total - (total >> 1)
        total = np.int64(0)
    return stay - first + total - (total >> 1), stay - second + (total >> 1), total, lifted
