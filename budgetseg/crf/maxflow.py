"""Maximum flow and minimum cut after Boykov and Kolmogorov (PAMI 2004), in whole numbers.

A tree of nodes that the source still reaches grows along arcs with room left. Where it touches a node that can drain
to the sink, flow goes down that path; nodes cut off by a full arc look for a new parent that still leads to the
source, and leave the tree if there is none. Timestamps and distances make that search short, as in the paper.

Two differences. The sink has no tree of its own: in the moves of α-expansion nearly all nodes can drain, few have
anything to send, so a second tree would cover the graph for nothing. And flow between neighbours goes first, without
a tree. Capacities are whole numbers, so nothing is lost to rounding and every path takes something off: the end is
certain. The nodes left in the tree are the smallest source side of all minimum cuts, which is unique: it does not
depend on the order of the paths, nor on the flow to begin with.
"""

from typing import NamedTuple

import numpy as np
from numba import njit

from budgetseg.crf.arcs import Arcs, make_arcs
from budgetseg.types import Bool, Int32, Int64

__all__ = ["FREE", "Search", "make_search", "min_cut", "saturate"]

_ROOT, _ORPHAN = -1, -2
FREE = -3
"""The parent of a node that is not in the tree; the others are arcs, or the two codes above."""
_READ, _WRITE, _WAITING, _ORPHANS, _NOW = range(5)  # places in `Search.cursor`


class Search(NamedTuple):
    """Working memory of a search on N nodes; nothing in it outlives a call except the tree.

    Attributes
    ----------
    parent : (N,) int32, the arc to the parent in the tree, or one of the codes above; a node is in the tree if > FREE
    stamp : (N,) int32, when the distance was last known to be right
    distance : (N,) int32, nodes between here and the source
    queue : (N,) int32, a ring of nodes whose arcs must be looked at
    queued : (N,) bool, what is in it
    orphans : (N,) int32, a stack
    cursor : (5,) int64, places in queue and stack, and the time
    """

    parent: Int32
    stamp: Int32
    distance: Int32
    queue: Int32
    queued: Bool
    orphans: Int32
    cursor: Int64


def make_search(n_nodes: int) -> Search:
    """Memory for searches on graphs with this many nodes."""
    parent, stamp, distance, queue, orphans = (np.zeros(n_nodes, np.int32) for _ in range(5))
    return Search(parent, stamp, distance, queue, np.zeros(n_nodes, np.bool_), orphans, np.zeros(5, np.int64))


def min_cut(edges: Int32, there: Int64, back: Int64, excess: Int64) -> tuple[int, Bool]:
    """Maximum flow, and the smallest source side of a minimum cut, (N,).

    Parameters
    ----------
    edges : (E, 2) int32
    there, back : (E,) int64, capacities from the first end to the second, and from the second to the first
    excess : (N,) int64, capacity from the source where positive, to the sink where negative
    """
    arcs = make_arcs(len(excess), edges)
    n = len(excess)
    room = np.empty(2 * len(edges), np.int64)
    room[arcs.arc] = np.where(arcs.flipped, back[arcs.edge], there[arcs.edge])
    room[arcs.sister[arcs.arc]] = np.where(arcs.flipped, there[arcs.edge], back[arcs.edge])
    left = excess[arcs.order].astype(np.int64)
    search = make_search(n)
    saturate(arcs, room, left, search)
    side = np.empty(n, np.bool_)
    side[arcs.order] = search.parent > FREE
    return int(excess[excess > 0].sum() - left[left > 0].sum()), side


@njit(cache=True, nogil=True)
def saturate(arcs: Arcs, room: Int64, excess: Int64, search: Search) -> int:
    """Send as much as possible through the graph; room (2E,) and excess (N,) become what is left of them.

    Returns what the source could not get rid of. Nodes on its side of the cut have `search.parent` > FREE.
    """
    cursor, queue = search.cursor, search.queue
    n = len(excess)
    _start(arcs, room, excess, search)
    while cursor[_WAITING] > 0:
        node = queue[cursor[_READ]]
        cursor[_READ] = cursor[_READ] + 1 if cursor[_READ] + 1 < n else 0
        cursor[_WAITING] -= 1
        search.queued[node] = False
        if search.parent[node] != FREE:
            _grow(node, arcs, room, excess, search)
    stuck = 0
    for node in range(n):
        if excess[node] > 0:
            stuck += excess[node]
    return stuck


@njit(cache=True, nogil=True)
def _start(arcs, room, excess, search):  # type: ignore[no-untyped-def]
    """An empty tree, flow between neighbours, and as roots the nodes that have more to send."""
    parent, stamp, distance = search.parent, search.stamp, search.distance
    queue, queued, cursor = search.queue, search.queued, search.cursor
    first, head, sister = arcs.first, arcs.head, arcs.sister
    cursor[:] = 0
    parent[:] = FREE
    queued[:] = False
    for node in range(len(excess)):
        if excess[node] > 0:
            _drain(node, first, head, sister, room, excess)
            if excess[node] > 0:
                parent[node], stamp[node], distance[node] = _ROOT, 0, 1
                _wait(node, queue, queued, cursor)


@njit(cache=True, nogil=True, inline="always")
def _drain(node, first, head, sister, room, excess):  # type: ignore[no-untyped-def]
    """Send excess to neighbours that drain to the sink."""
    left = excess[node]
    for arc in range(first[node], first[node + 1]):
        if room[arc] > 0 and excess[head[arc]] < 0:
            flow = min(left, room[arc], -excess[head[arc]])
            room[arc] -= flow
            room[sister[arc]] += flow
            excess[head[arc]] += flow
            left -= flow
            if left == 0:
                break
    excess[node] = left


@njit(cache=True, nogil=True, inline="always")
def _wait(node, queue, queued, cursor):  # type: ignore[no-untyped-def]
    """Put a node at the end of the queue unless it is in it."""
    if not queued[node]:
        queued[node] = True
        queue[cursor[_WRITE]] = node
        cursor[_WRITE] = cursor[_WRITE] + 1 if cursor[_WRITE] + 1 < len(queue) else 0
        cursor[_WAITING] += 1


@njit(cache=True, nogil=True)
def _grow(node, arcs, room, excess, search):  # type: ignore[no-untyped-def]
    """Take what `node` reaches into the tree, and send flow where that drains."""
    parent, stamp, distance = search.parent, search.stamp, search.distance
    queue, queued, cursor, head, sister = search.queue, search.queued, search.cursor, arcs.head, arcs.sister
    arc, end = arcs.first[node], arcs.first[node + 1]
    while arc < end:
        if room[arc] <= 0:
            arc += 1
            continue
        other = head[arc]
        if parent[other] == FREE:
            if excess[other] < 0:
                _augment(node, arc, arcs, room, excess, search)
                _adopt_all(arcs, room, search)
                if parent[node] == FREE:
                    return
                continue  # the arc may have room left, for the node or for flow
            parent[other], stamp[other], distance[other] = sister[arc], stamp[node], distance[node] + 1
            _wait(other, queue, queued, cursor)
        elif stamp[other] <= stamp[node] and distance[other] > distance[node] + 1:
            parent[other], stamp[other], distance[other] = sister[arc], stamp[node], distance[node] + 1
        arc += 1


@njit(cache=True, nogil=True)
def _augment(node, last, arcs, room, excess, search):  # type: ignore[no-untyped-def]
    """Send what fits from the root through `node` and its arc `last` to the sink; full arcs leave orphans."""
    parent, orphans, cursor, head, sister = search.parent, search.orphans, search.cursor, arcs.head, arcs.sister
    flow, at = min(room[last], -excess[head[last]]), node
    while parent[at] != _ROOT:
        flow = min(flow, room[sister[parent[at]]])
        at = head[parent[at]]
    flow = min(flow, excess[at])
    excess[at] -= flow
    excess[head[last]] += flow
    room[last] -= flow
    room[sister[last]] += flow
    root, at = at, node
    while at != root:
        up = parent[at]
        room[up] += flow
        room[sister[up]] -= flow
        if room[sister[up]] == 0:
            _orphan(at, parent, orphans, cursor)
        at = head[up]
    if excess[root] == 0:
        _orphan(root, parent, orphans, cursor)


@njit(cache=True, nogil=True, inline="always")
def _orphan(node, parent, orphans, cursor):  # type: ignore[no-untyped-def]
    parent[node] = _ORPHAN
    orphans[cursor[_ORPHANS]] = node
    cursor[_ORPHANS] += 1


@njit(cache=True, nogil=True)
def _adopt_all(arcs, room, search):  # type: ignore[no-untyped-def]
    """A new parent for every orphan, or its release from the tree; those nearest to the source first."""
    parent, stamp, distance, cursor = search.parent, search.stamp, search.distance, search.cursor
    first, head, sister, orphans = arcs.first, arcs.head, arcs.sister, search.orphans
    cursor[_NOW] += 1
    while cursor[_ORPHANS] > 0:
        cursor[_ORPHANS] -= 1
        node = orphans[cursor[_ORPHANS]]
        best, nearest = FREE, np.int32(2**31 - 1)
        for arc in range(first[node], first[node + 1]):
            if parent[head[arc]] >= _ROOT and room[sister[arc]] > 0:
                away = _distance(head[arc], head, parent, stamp, distance, cursor[_NOW])
                if 0 <= away < nearest:
                    best, nearest = arc, away
        parent[node] = best
        if best != FREE:
            stamp[node], distance[node] = cursor[_NOW], nearest + 1
        else:
            _release(node, arcs, room, search)


@njit(cache=True, nogil=True)
def _distance(node, head, parent, stamp, distance, now):  # type: ignore[no-untyped-def]
    """Distance to the source, -1 if the way up ends at an orphan; noted for all nodes on the way."""
    at, away = node, 0
    while stamp[at] != now:
        if parent[at] == _ORPHAN:
            return -1
        away += 1
        if parent[at] == _ROOT:
            stamp[at], distance[at] = now, 1
            away -= 1
            break
        at = head[parent[at]]
    away += distance[at]
    at, left = node, away
    while stamp[at] != now:
        stamp[at], distance[at] = now, left
        left -= 1
        at = head[parent[at]]
    return away


@njit(cache=True, nogil=True)
def _release(node, arcs, room, search):  # type: ignore[no-untyped-def]
    """Children of a node that leaves the tree become orphans, and who could take it back looks again."""
    parent, queue, queued, orphans, cursor = search.parent, search.queue, search.queued, search.orphans, search.cursor
    for arc in range(arcs.first[node], arcs.first[node + 1]):
        other = arcs.head[arc]
        if parent[other] != FREE:
            if room[arcs.sister[arc]] > 0:
                _wait(other, queue, queued, cursor)
            if parent[other] == arcs.sister[arc]:
                _orphan(other, parent, orphans, cursor)
