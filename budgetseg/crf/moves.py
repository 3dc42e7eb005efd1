"""The graph of each label's move, which is updated instead of built anew.

In a move of label α every node keeps its label or takes α. With a and b the present labels of the two ends of an edge,
the edge costs V(a,b) if both keep theirs, V(α,b) or V(a,α) if one takes α, V(α,α) if both do. That is a cut in a graph:
`excess` is what a node gains by taking α, `room` what an edge charges if only one end takes it.

Most nodes would not take α whatever their neighbours did: their unary loses more than all their edges could gain. They
are not in the graph, and their edges only add to the gain of the other end.

After a move the graph keeps its flow. At the next turn of the label, only edges at nodes whose label has changed are
replaced, with as much of their flow as they can hold: any flow is a valid start. Nodes that might take α by now enter
the graph, and no node leaves it.
"""

from typing import NamedTuple

import numpy as np

from budgetseg.crf.arcs import Arcs
from budgetseg.crf.kernels import inlined, kernel
from budgetseg.crf.terms import EARLY, LATE, THERE, Terms, whole
from budgetseg.types import Bool, Int32, Int64, UInt8

__all__ = ["Moves", "make_moves", "revise", "update"]

_OUT, _IN, _ENTERING = range(3)  # whether a node is in a graph


class Moves(NamedTuple):
    """Graphs of L labels on N nodes and E edges.

    Attributes
    ----------
    room : (L, 2E) int64, capacity that is left of each arc
    excess : (L, N) int64, what each node gains by taking the label, less what flows away; 0 for nodes that have it
    part : (L, N) uint8, whether each node is in the graph
    seen : (L, N) int32, labels that the graph was last updated for, -1 if never
    irregular : (1,) bool, whether the cost of any edge had to be raised so far: moves may miss a gain then
    """

    room: Int64
    excess: Int64
    part: UInt8
    seen: Int32
    irregular: Bool


def make_moves(n_labels: int, n_nodes: int, n_edges: int) -> Moves:
    """Graphs without nodes."""
    return Moves(
        np.zeros((n_labels, 2 * n_edges), np.int64),
        np.zeros((n_labels, n_nodes), np.int64),
        np.zeros((n_labels, n_nodes), np.uint8),
        np.full((n_labels, n_nodes), -1, np.int32),
        np.zeros(1, np.bool_),
    )


@kernel
def update(alpha: int, arcs: Arcs, terms: Terms, labels: Int32, moves: Moves) -> None:
    """Update the graph of label alpha to the present labels (N,)."""
    room = moves.room[alpha]
    excess = moves.excess[alpha]
    part = moves.part[alpha]
    seen = moves.seen[alpha]
    if seen[0] >= 0:
        for i in range(len(labels)):
            if seen[i] != labels[i]:
                if part[i] == _IN:
                    excess[i] += np.int64(terms.unary[i, labels[i]] - terms.unary[i, seen[i]])
                moves.irregular[0] |= _tie_around(i, alpha, arcs, terms, labels, room, excess, part, seen)
    for i in range(len(labels)):
        seen[i] = labels[i]
    if _invite(alpha, terms, labels, excess, part):
        moves.irregular[0] |= _enter(alpha, arcs, terms, labels, room, excess, part)


@kernel
def _tie_around(node, alpha, arcs, terms, labels, room, excess, part, seen):  # type: ignore[no-untyped-def]
    """Replace all edges of a node, except those to earlier nodes that have changed too. Whether any is irregular."""
    irregular = False
    for arc in range(arcs.first[node], arcs.first[node + 1]):
        i = node
        j = arcs.head[arc]
        there = arc
        if j < i:
            if seen[j] != labels[j]:
                continue
            i, j, there = j, i, arcs.sister[arc]
        if part[i] != _OUT or part[j] != _OUT:
            old = _charge(arcs.number[arc], i, j, alpha, seen, terms)
            new = _charge(arcs.number[arc], i, j, alpha, labels, terms)
            _tie(there, arcs.sister[there], i, j, old, new, room, excess, part)
            irregular |= new[3]
    return irregular


@kernel
def _invite(alpha, terms, labels, excess, part):  # type: ignore[no-untyped-def]
    """Mark all nodes that might take label alpha and are not in its graph. Returns whether there are any."""
    any_marked = False
    for i in range(len(labels)):
        loss = terms.unary[i, alpha] - terms.unary[i, labels[i]]
        if part[i] == _OUT and loss < terms.reach[i] and labels[i] != alpha:
            part[i] = _ENTERING
            any_marked = True
            excess[i] -= np.int64(loss)
    return any_marked


@kernel
def _enter(alpha, arcs, terms, labels, room, excess, part):  # type: ignore[no-untyped-def]
    """Take all marked nodes into a graph. Returns whether any of their edges is irregular."""
    irregular = False
    for node in range(len(labels)):
        if part[node] == _ENTERING:
            for arc in range(arcs.first[node], arcs.first[node + 1]):
                i = node
                j = arcs.head[arc]
                there = arc
                back = arcs.sister[arc]
                other = part[j]
                if j < i:
                    if other == _ENTERING:  # the edge was added with that node
                        continue
                    i, j, there, back = j, i, back, there
                first, second, total, lifted = _charge(arcs.number[arc], i, j, alpha, labels, terms)
                irregular |= lifted
                if part[i] == _ENTERING:
                    excess[i] += first
                if part[j] == _ENTERING:
                    excess[j] += second
                if other != _OUT:
                    excess[i] += total - (total >> 1)
                    excess[j] += total >> 1
                    room[there] = total - (total >> 1)
                    room[back] = total >> 1
    for i in range(len(labels)):
        part[i] = min(part[i], _IN)
    return irregular


@kernel
def revise(arcs: Arcs, old: Terms, new: Terms, edges: Int64, moves: Moves) -> None:
    """Update the graphs of all labels from one problem to another; `edges` are those that have changed, in order."""
    for alpha in range(len(moves.seen)):
        room = moves.room[alpha]
        excess = moves.excess[alpha]
        part = moves.part[alpha]
        seen = moves.seen[alpha]
        for i in range(len(seen)):
            if part[i] != _OUT:
                more = new.unary[i, seen[i]] - new.unary[i, alpha] - old.unary[i, seen[i]] + old.unary[i, alpha]
                excess[i] += np.int64(more)
        for k in edges:
            there = arcs.arc[k]
            back = arcs.sister[arcs.arc[k]]
            i, j = arcs.head[back], arcs.head[there]
            if part[i] != _OUT or part[j] != _OUT:
                was = _charge(k, i, j, alpha, seen, old)
                now = _charge(k, i, j, alpha, seen, new)
                _tie(there, back, i, j, was, now, room, excess, part)
                moves.irregular[0] |= now[3]


@inlined
def _tie(there, back, i, j, old, new, room, excess, part):  # type: ignore[no-untyped-def]
    """Replace the charges of an edge from i to j, keeping its flow as far as it fits."""
    if part[i] != _OUT:
        excess[i] += new[0] - old[0]
    if part[j] != _OUT:
        excess[j] += new[1] - old[1]
    if part[i] != _OUT and part[j] != _OUT:
        had = old[2]
        total = new[2]
        flow = had - (had >> 1) - room[there]
        kept = min(max(flow, -(total >> 1)), total - (total >> 1))
        excess[i] += total - (total >> 1) - had + (had >> 1) + flow - kept
        excess[j] += (total >> 1) - (had >> 1) + kept - flow
        room[there] = total - (total >> 1) - kept
        room[back] = (total >> 1) + kept


@inlined
def _charge(k, i, j, alpha, labels, terms):  # type: ignore[no-untyped-def]
    """What the earlier and the later node of an edge each gain by taking α alone, and how much more if both do.

    The third value is what the edge charges if only one end takes α, half for either end, if both are in the graph. If
    it would be negative, the cost for one end alone is raised, for the end that is not free if there is one. The last
    value says whether that may hide a gain.
    """
    a = labels[i]
    b = labels[j]
    n_labels = terms.unary.shape[1]
    weight = terms.weight[k]
    values = terms.values
    row = terms.place[k, THERE] + a * n_labels
    row_of_alpha = terms.place[k, THERE] + alpha * n_labels
    stay = weight * values[row + b]
    first = weight * values[row_of_alpha + b]
    second = weight * values[row + alpha]
    both = weight * values[row_of_alpha + alpha]
    early = terms.place[k, EARLY]
    late = terms.place[k, LATE]
    if early + late > 0:  # else all factors are one
        of_a = np.float64(terms.factors[early + a])
        of_b = np.float64(terms.factors[late + b])
        for_first = np.float64(terms.factors[early + alpha])
        for_second = np.float64(terms.factors[late + alpha])
        stay = stay * (of_a * of_b)
        first = first * (for_first * of_b)
        second = second * (of_a * for_second)
        both = both * (for_first * for_second)
    stay = whole(stay)
    first = whole(first)
    second = whole(second)
    both = whole(both)
    gain = np.int64(stay - first)
    other_gain = np.int64(stay - second)
    total = np.int64(first + second - stay - both)
    if total >= 0:
        return gain, other_gain, total, False
    share = total if terms.free[j] else np.int64(0)
    if terms.free[i] == terms.free[j]:
        share = total >> 1
    return gain + share, other_gain + total - share, np.int64(0), terms.free[i] and terms.free[j]
