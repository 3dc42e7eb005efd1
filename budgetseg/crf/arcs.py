"""Graphs in the form that inference needs: arcs of a node side by side, neighbouring nodes close together in memory."""

from typing import NamedTuple

import numpy as np

from budgetseg.crf.kernels import kernel
from budgetseg.types import Bool, Int32

__all__ = ["Arcs", "Incidence", "breadth_first", "find_incidence", "make_arcs"]


class Arcs(NamedTuple):
    """Both directions of E edges between N nodes, grouped by the node they leave.

    Nodes are numbered breadth first, so that neighbours lie close together in all arrays; `order` leads back. The arcs
    of node i are first[i]..first[i + 1]; those from middle[i] on lead to later nodes. Counted over all nodes, these
    later arcs number the edges anew: the k-th of them is edge k, and was edge[k] before.

    Attributes
    ----------
    order : (N,) int32, the node before renumbering
    first : (N + 1,) int32, where the arcs of each node begin
    middle : (N,) int32, where its arcs to later nodes begin
    head : (2E,) int32, where an arc leads
    sister : (2E,) int32, the same edge in the other direction
    number : (2E,) int32, the edge k of an arc
    arc : (E,) int32, from the earlier to the later node of an edge
    edge : (E,) int32, the edge before renumbering
    flipped : (E,) bool, where the earlier node is the second end of the edge before renumbering
    """

    order: Int32
    first: Int32
    middle: Int32
    head: Int32
    sister: Int32
    number: Int32
    arc: Int32
    edge: Int32
    flipped: Bool


class Incidence(NamedTuple):
    """Edges at each of N nodes: those of node i are at first[i] to first[i + 1].

    Attributes
    ----------
    first : (N + 1,) int32
    edge : (2E,) int32
    other : (2E,) int32, the node at the other end
    """

    first: Int32
    edge: Int32
    other: Int32


def find_incidence(n_nodes: int, edges: Int32) -> Incidence:
    """The edges (E, 2) at each node."""
    incidence = Incidence(np.zeros(n_nodes + 1, np.int32), *np.empty((2, 2 * len(edges)), np.int32))
    _gather(edges, *incidence, np.empty(n_nodes, np.int32))
    return incidence


def breadth_first(incidence: Incidence) -> Int32:
    """All nodes of a graph in breadth-first order, (N,), so that neighbours are close together."""
    n_nodes = len(incidence.first) - 1
    order = np.empty(n_nodes, np.int32)
    _walk(incidence, order, np.zeros(n_nodes, np.bool_))
    return order


def make_arcs(edges: Int32, incidence: Incidence, order: Int32) -> Arcs:
    """The arcs of a graph with edges (E, 2), or of the part of it between the nodes in `order`."""
    first = np.zeros(len(order) + 1, np.int32)
    rank = np.full(len(incidence.first) - 1, -1, np.int32)
    n_edges = _count(incidence, order, rank, first)
    head, sister, number = np.empty((3, 2 * n_edges), np.int32)
    arc, edge = np.empty((2, n_edges), np.int32)
    middle = np.empty(len(order), np.int32)
    flipped = np.empty(n_edges, np.bool_)
    arcs = Arcs(order, first, middle, head, sister, number, arc, edge, flipped)
    _link(edges, incidence, rank, first[:-1].copy(), arcs)
    return arcs


@kernel
def _gather(edges, first, edge, other, at):  # type: ignore[no-untyped-def]
    """Fill in first, edge and other."""
    for e in range(len(edges)):
        first[edges[e, 0] + 1] += 1
        first[edges[e, 1] + 1] += 1
    for i in range(len(at)):
        at[i] = first[i]
        first[i + 1] += first[i]
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        edge[at[i]] = e
        other[at[i]] = j
        at[i] += 1
        edge[at[j]] = e
        other[at[j]] = i
        at[j] += 1


@kernel
def _walk(incidence, order, seen):  # type: ignore[no-untyped-def]
    """Fill in the order."""
    n_seen = 0
    n_done = 0
    for root in range(len(order)):
        if not seen[root]:
            seen[root] = True
            order[n_seen] = root
            n_seen += 1
        while n_done < n_seen:
            here = order[n_done]
            n_done += 1
            for at in range(incidence.first[here], incidence.first[here + 1]):
                other = incidence.other[at]
                if not seen[other]:
                    seen[other] = True
                    order[n_seen] = other
                    n_seen += 1


@kernel
def _count(incidence, order, rank, first):  # type: ignore[no-untyped-def]
    """Fill in rank and first of the nodes in an order. Returns the number of edges between them."""
    for i in range(len(order)):
        rank[order[i]] = i
    for i in range(len(order)):
        n = 0
        for at in range(incidence.first[order[i]], incidence.first[order[i] + 1]):
            n += rank[incidence.other[at]] >= 0
        first[i + 1] = first[i] + n
    return first[len(order)] // 2


@kernel
def _link(edges, incidence, rank, at, arcs):  # type: ignore[no-untyped-def]
    """Fill in the fields of `Arcs` after `first`; `at` is where the next arc of each node goes."""
    k = 0
    for i in range(len(arcs.order)):
        arcs.middle[i] = at[i]  # by now all earlier nodes have put their arcs
        node = arcs.order[i]
        for place in range(incidence.first[node], incidence.first[node + 1]):
            j = rank[incidence.other[place]]
            if j > i:
                there = at[i]
                back = at[j]
                e = incidence.edge[place]
                arcs.head[there] = j
                arcs.head[back] = i
                arcs.sister[there] = back
                arcs.sister[back] = there
                arcs.number[there] = arcs.number[back] = k
                arcs.arc[k] = there
                arcs.edge[k] = e
                arcs.flipped[k] = edges[e, 0] != node
                at[i] += 1
                at[j] += 1
                k += 1
