"""The graph of each label's move, kept up to date instead of built anew.

In a move of label α every node stays or takes α. With a and b the labels that the two ends of an edge have now, the
edge costs V(a,b) if both stay, V(α,b) or V(a,α) if one goes, V(α,α) if both do. That is a cut in a graph: `excess` is
what a node gains by going, `room` what an edge charges for going alone.

Most nodes would not take α whatever their neighbours did: their unary loses more than all their edges could win. They
stay out of the graph, and their edges only add to what the other end gains.

After a move the graph is as the flow has left it. When the label's turn comes again, only edges at nodes with another
label than then are tied anew, keeping as much of their flow as they can hold: any flow is a fair start. Who might take
α by now enters the graph, and nobody leaves it.
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
    room : (L, 2E) int64, what each arc can still take
    excess : (L, N) int64, what each node gains by taking the label, less what flows away; 0 for nodes that have it
    part : (L, N) uint8, whether each node is in the graph
    seen : (L, N) int32, labels that the graph was last tied for, -1 if never
    irregular : (1,) bool, whether any edge had to be made dearer so far: moves may overlook a gain then
    """

    room: Int64
    excess: Int64
    part: UInt8
    seen: Int32
    irregular: Bool


def make_moves(n_labels: int, n_nodes: int, n_edges: int) -> Moves:
    """Graphs that nobody is in."""
    return Moves(
        np.zeros((n_labels, 2 * n_edges), np.int64),
        np.zeros((n_labels, n_nodes), np.int64),
        np.zeros((n_labels, n_nodes), np.uint8),
        np.full((n_labels, n_nodes), -1, np.int32),
        np.zeros(1, np.bool_),
    )


@kernel
def update(alpha: int, arcs: Arcs, terms: Terms, labels: Int32, moves: Moves) -> None:
    """Tie the graph of a label for the labels (N,) of now."""
    room, excess, part, seen = moves.room[alpha], moves.excess[alpha], moves.part[alpha], moves.seen[alpha]
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
    """Tie all edges of a node anew, less those of earlier nodes that have changed too; whether any is irregular."""
    irregular = False
    for arc in range(arcs.first[node], arcs.first[node + 1]):
        i, j, there = node, arcs.head[arc], arc
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
    """Mark all nodes that might take a label by now and are not in its graph; whether there are any."""
    any_marked = False
    for i in range(len(labels)):
        loss = terms.unary[i, alpha] - terms.unary[i, labels[i]]
        if part[i] == _OUT and loss < terms.reach[i] and labels[i] != alpha:
            part[i], any_marked = _ENTERING, True
            excess[i] -= np.int64(loss)
    return any_marked


@kernel
def _enter(alpha, arcs, terms, labels, room, excess, part):  # type: ignore[no-untyped-def]
    """Take all nodes into a graph that are marked; whether any of their edges is irregular."""
    irregular = False
    for node in range(len(labels)):
        if part[node] == _ENTERING:
            for arc in range(arcs.first[node], arcs.first[node + 1]):
                i, j, there, back = node, arcs.head[arc], arc, arcs.sister[arc]
                other = part[j]
                if j < i:
                    if other == _ENTERING:  # it has looked at this edge already
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
                    room[there], room[back] = total - (total >> 1), total >> 1
    for i in range(len(labels)):
        part[i] = min(part[i], _IN)
    return irregular


@kernel
def revise(arcs: Arcs, old: Terms, new: Terms, edges: Int64, moves: Moves) -> None:
    """Bring the graphs of all labels from one problem to another; `edges` are those that have changed, in order."""
    for alpha in range(len(moves.seen)):
        room, excess, part, seen = moves.room[alpha], moves.excess[alpha], moves.part[alpha], moves.seen[alpha]
        for i in range(len(seen)):
            if part[i] != _OUT:
                more = new.unary[i, seen[i]] - new.unary[i, alpha] - old.unary[i, seen[i]] + old.unary[i, alpha]
                excess[i] += np.int64(more)
        for k in edges:
            there, back = arcs.arc[k], arcs.sister[arcs.arc[k]]
            i, j = arcs.head[back], arcs.head[there]
            if part[i] != _OUT or part[j] != _OUT:
                was, now = _charge(k, i, j, alpha, seen, old), _charge(k, i, j, alpha, seen, new)
                _tie(there, back, i, j, was, now, room, excess, part)
                moves.irregular[0] |= now[3]


@inlined
def _tie(there, back, i, j, old, new, room, excess, part):  # type: ignore[no-untyped-def]
    """Replace what an edge from i to j charges, keeping its flow as far as it fits."""
    if part[i] != _OUT:
        excess[i] += new[0] - old[0]
    if part[j] != _OUT:
        excess[j] += new[1] - old[1]
    if part[i] != _OUT and part[j] != _OUT:
        had, total = old[2], new[2]
        flow = had - (had >> 1) - room[there]
        kept = min(max(flow, -(total >> 1)), total - (total >> 1))
        excess[i] += total - (total >> 1) - had + (had >> 1) + flow - kept
        excess[j] += (total >> 1) - (had >> 1) + kept - flow
        room[there], room[back] = total - (total >> 1) - kept, (total >> 1) + kept


@inlined
def _charge(k, i, j, alpha, labels, terms):  # type: ignore[no-untyped-def]
    """What the earlier and the later node of an edge gain by taking α alone, and how much more if both do.

    The last is what the edge charges for going alone, one half for either of them going, where both are in the graph.
    Where it would be negative, going alone is made dearer, for the end that is not free if there is one; the last value
    says whether that may hide a gain.
    """
    a, b, n_labels, weight, values = labels[i], labels[j], terms.unary.shape[1], terms.weight[k], terms.values
    row, row_of_alpha = terms.place[k, THERE] + a * n_labels, terms.place[k, THERE] + alpha * n_labels
    stay, first = weight * values[row + b], weight * values[row_of_alpha + b]
    second, both = weight * values[row + alpha], weight * values[row_of_alpha + alpha]
    early, late = terms.place[k, EARLY], terms.place[k, LATE]
    if early + late > 0:  # else all factors are one
        of_a, of_b = np.float64(terms.factors[early + a]), np.float64(terms.factors[late + b])
        for_first, for_second = np.float64(terms.factors[early + alpha]), np.float64(terms.factors[late + alpha])
        stay, first = stay * (of_a * of_b), first * (for_first * of_b)
        second, both = second * (of_a * for_second), both * (for_first * for_second)
    stay, first, second, both = whole(stay), whole(first), whole(second), whole(both)
    gain, other_gain, total = np.int64(stay - first), np.int64(stay - second), np.int64(first + second - stay - both)
    if total >= 0:
        return gain, other_gain, total, False
    share = total if terms.free[j] else np.int64(0)
    if terms.free[i] == terms.free[j]:
        share = total >> 1
    return gain + share, other_gain + total - share, np.int64(0), terms.free[i] and terms.free[j]
