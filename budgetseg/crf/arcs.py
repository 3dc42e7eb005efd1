"""A graph as inference walks it: the arcs of each node side by side, nodes that are near each other near in memory."""

from typing import NamedTuple

import numpy as np
from numba import njit

from budgetseg.types import Bool, Int32

__all__ = ["Arcs", "make_arcs"]


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


def make_arcs(n_nodes: int, edges: Int32) -> Arcs:
    """The arcs of a graph with edges (E, 2)."""
    first, incident = _incidence(n_nodes, edges)
    order = _breadth_first(n_nodes, edges, first, incident)
    new_first, middle, head, sister, number, arc, edge = _link(edges, order, first, incident)
    return Arcs(order, new_first, middle, head, sister, number, arc, edge, edges[edge, 0] != order[head[sister[arc]]])


@njit(cache=True, nogil=True)
def _incidence(n_nodes, edges):  # type: ignore[no-untyped-def]
    """Edges at each node: where they begin, (N + 1,), and which, (2E,)."""
    first = np.zeros(n_nodes + 1, np.int32)
    for e in range(len(edges)):
        first[edges[e, 0] + 1] += 1
        first[edges[e, 1] + 1] += 1
    for i in range(n_nodes):
        first[i + 1] += first[i]
    at, incident = first[:-1].copy(), np.empty(2 * len(edges), np.int32)
    for e in range(len(edges)):
        for side in range(2):
            incident[at[edges[e, side]]] = e
            at[edges[e, side]] += 1
    return first, incident


@njit(cache=True, nogil=True)
def _breadth_first(n_nodes, edges, first, incident):  # type: ignore[no-untyped-def]
    seen, order, n_seen, n_done = np.zeros(n_nodes, np.bool_), np.empty(n_nodes, np.int32), 0, 0
    for root in range(n_nodes):
        if not seen[root]:
            seen[root] = True
            order[n_seen] = root
            n_seen += 1
        while n_done < n_seen:
            here = order[n_done]
            n_done += 1
            for e in incident[first[here] : first[here + 1]]:
                other = edges[e, 0] + edges[e, 1] - here
                if not seen[other]:
                    seen[other] = True
                    order[n_seen] = other
                    n_seen += 1
    return order


@njit(cache=True, nogil=True)
def _link(edges, order, incident_first, incident):  # type: ignore[no-untyped-def]
    """first, middle, head, sister, number, arc and edge of nodes in another order."""
    n_nodes, n_edges = len(order), len(edges)
    rank, first = np.empty(n_nodes, np.int32), np.zeros(n_nodes + 1, np.int32)
    for i in range(n_nodes):
        rank[order[i]] = i
        first[i + 1] = first[i] + incident_first[order[i] + 1] - incident_first[order[i]]
    at, middle = first[:-1].copy(), np.empty(n_nodes, np.int32)
    head, sister, number = np.empty((3, 2 * n_edges), np.int32)
    arc, edge, k = np.empty(n_edges, np.int32), np.empty(n_edges, np.int32), 0
    for i in range(n_nodes):
        middle[i] = at[i]  # by now all earlier nodes have put their arcs
        for e in incident[incident_first[order[i]] : incident_first[order[i] + 1]]:
            j = rank[edges[e, 0] + edges[e, 1] - order[i]]
            if j > i:
                there, back = at[i], at[j]
                head[there], head[back], sister[there], sister[back] = j, i, back, there
                number[there] = number[back] = k
                arc[k], edge[k] = there, e
                at[i] += 1
                at[j] += 1
                k += 1
    return first, middle, head, sister, number, arc, edge
