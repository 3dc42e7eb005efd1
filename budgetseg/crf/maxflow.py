"""Maximum flow and minimum cut after Boykov and Kolmogorov (PAMI 2004), in whole numbers.

Two trees grow along arcs with room left: nodes that the source still reaches, and nodes that still reach the sink.
Where they touch, flow goes from root to root; nodes cut off by a full arc look for a new parent in their tree, and
leave it if there is none. Timestamps and distances make that search short, as in the paper.

There are two differences to the paper. Flow between neighbours is sent first, without a tree. And if only few nodes
have anything left to send then, there is no tree of the sink: nearly all nodes could drain, and it would cover the
graph for nothing.

Capacities are whole numbers, so nothing is lost to rounding, every path sends something, and the algorithm ends.
The nodes left in the source's tree are the smallest source side of all minimum cuts, which is unique: it does not
depend on the order of the paths, nor on the flow to begin with.
"""

from typing import NamedTuple

import numpy as np

from budgetseg.crf.arcs import Arcs, breadth_first, find_incidence, make_arcs
from budgetseg.crf.kernels import inlined, kernel
from budgetseg.types import Bool, Int32, Int64, UInt8

__all__ = ["SOURCE", "Search", "make_search", "min_cut", "saturate"]

# what a parent can be other than an arc
_ROOT = -1
_ORPHAN = -2
_NONE = -3
_FREE, SOURCE, _SINK = range(3)  # whose tree a node is in
_MANY = 0.1  # share of nodes that have something to send from which two trees are faster than one
_READ, _WRITE, _WAITING, _ORPHANS, _NOW = range(5)  # places in `Search.cursor`


class Search(NamedTuple):
    """Working memory of a search on N nodes. Only `side` is valid after a call.

    Attributes
    ----------
    side : (N,) uint8, the tree that a node is in
    parent : (N,) int32, the arc to the parent in the tree, or one of the codes above
    stamp : (N,) int32, time at which the distance was last known to be right
    distance : (N,) int32, number of nodes between a node and the terminal
    queue : (N,) int32, ring buffer of nodes whose arcs must be visited
    queued : (N,) bool, whether a node is in the queue
    orphans : (N,) int32, a stack
    cursor : (5,) int64, places in queue and stack, and the time
    """

    side: UInt8
    parent: Int32
    stamp: Int32
    distance: Int32
    queue: Int32
    queued: Bool
    orphans: Int32
    cursor: Int64


def make_search(n_nodes: int) -> Search:
    """Working memory for searches on graphs with n_nodes nodes."""
    side = np.zeros(n_nodes, np.uint8)
    queued = np.zeros(n_nodes, np.bool_)
    parent, stamp, distance, queue, orphans = (np.zeros(n_nodes, np.int32) for _ in range(5))
    return Search(side, parent, stamp, distance, queue, queued, orphans, np.zeros(5, np.int64))


def min_cut(edges: Int32, there: Int64, back: Int64, excess: Int64) -> tuple[int, Bool]:
    """Maximum flow, and the smallest source side of a minimum cut, (N,).

    Parameters
    ----------
    edges : (E, 2) int32
    there, back : (E,) int64, capacities from the first end to the second, and from the second to the first
    excess : (N,) int64, capacity from the source where positive, to the sink where negative
    """
    n = len(excess)
    incidence = find_incidence(len(excess), edges)
    arcs = make_arcs(edges, incidence, breadth_first(incidence))
    room = np.empty(2 * len(edges), np.int64)
    room[arcs.arc] = np.where(arcs.flipped, back[arcs.edge], there[arcs.edge])
    room[arcs.sister[arcs.arc]] = np.where(arcs.flipped, there[arcs.edge], back[arcs.edge])
    left = excess[arcs.order].astype(np.int64)
    search = make_search(n)
    saturate(arcs, room, left, search)
    side = np.empty(n, np.bool_)
    side[arcs.order] = search.side == SOURCE
    return int(excess[excess > 0].sum() - left[left > 0].sum()), side


@kernel
def saturate(arcs: Arcs, room: Int64, excess: Int64, search: Search) -> int:
    """Send as much flow as possible through the graph, in place: room (2E,) and excess (N,) become what is left.

    Returns the excess that could not be sent. Nodes on the source side of the cut have `search.side` SOURCE.
    """
    cursor = search.cursor
    queue = search.queue
    n = len(excess)
    _start(arcs, room, excess, search)
    while cursor[_WAITING] > 0:
        node = queue[cursor[_READ]]
        cursor[_READ] = cursor[_READ] + 1 if cursor[_READ] + 1 < n else 0
        cursor[_WAITING] -= 1
        search.queued[node] = False
        if search.side[node] != _FREE:
            _grow(node, arcs, room, excess, search)
    stuck = 0
    for node in range(n):
        stuck += max(excess[node], 0)
    return stuck


@kernel
def _start(arcs, room, excess, search):  # type: ignore[no-untyped-def]
    """Empty the trees, send flow between neighbours, and plant the roots."""
    search.cursor[:] = 0
    search.side[:] = _FREE
    search.parent[:] = _NONE
    search.queued[:] = False
    for node in range(len(excess)):
        if excess[node] > 0:
            _drain(node, arcs.first, arcs.head, arcs.sister, room, excess)
            if excess[node] > 0:
                _plant(node, SOURCE, search)
    if search.cursor[_WAITING] > _MANY * len(excess):
        for node in range(len(excess)):
            if excess[node] < 0:
                _plant(node, _SINK, search)


@inlined
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


@kernel
def _plant(node, side, search):  # type: ignore[no-untyped-def]
    """Make a node a root."""
    search.side[node] = side
    search.parent[node] = _ROOT
    search.stamp[node] = 0
    search.distance[node] = 1
    _wait(node, search.queue, search.queued, search.cursor)


@inlined
def _wait(node, queue, queued, cursor):  # type: ignore[no-untyped-def]
    """Append a node to the queue unless it is in it."""
    if not queued[node]:
        queued[node] = True
        queue[cursor[_WRITE]] = node
        cursor[_WRITE] = cursor[_WRITE] + 1 if cursor[_WRITE] + 1 < len(queue) else 0
        cursor[_WAITING] += 1


@kernel
def _grow(node, arcs, room, excess, search):  # type: ignore[no-untyped-def]
    """Add the nodes that a node of a tree reaches to the tree, and send flow where they lead to the other terminal."""
    sides = search.side
    parent = search.parent
    stamp = search.stamp
    distance = search.distance
    queue = search.queue
    queued = search.queued
    cursor = search.cursor
    head = arcs.head
    sister = arcs.sister
    arc = arcs.first[node]
    end = arcs.first[node + 1]
    side = sides[node]
    while arc < end:
        outward = arc if side == SOURCE else sister[arc]
        if room[outward] <= 0:
            arc += 1
            continue
        other = head[arc]
        if sides[other] == side:
            if stamp[other] <= stamp[node] and distance[other] > distance[node] + 1:
                parent[other] = sister[arc]
                stamp[other] = stamp[node]
                distance[other] = distance[node] + 1
        elif sides[other] == _FREE and excess[other] >= 0:
            sides[other] = side
            parent[other] = sister[arc]
            stamp[other] = stamp[node]
            distance[other] = distance[node] + 1
            _wait(other, queue, queued, cursor)
        else:  # in the other tree, or free and able to drain where the sink has no tree
            _augment(outward, arcs, room, excess, search)
            _adopt_all(arcs, room, search)
            if sides[node] != side:
                return
            continue  # the arc may have room left, for the node or for flow
        arc += 1


@kernel
def _augment(bridge, arcs, room, excess, search):  # type: ignore[no-untyped-def]
    """Send as much flow as fits from root to root over an arc between the trees; full arcs leave orphans."""
    parent = search.parent
    head = arcs.head
    sister = arcs.sister
    flow = room[bridge]
    source = head[sister[bridge]]
    sink = head[bridge]
    while parent[source] >= 0:
        flow = min(flow, room[sister[parent[source]]])
        source = head[parent[source]]
    while parent[sink] >= 0:
        flow = min(flow, room[parent[sink]])
        sink = head[parent[sink]]
    flow = min(flow, excess[source], -excess[sink])
    room[bridge] -= flow
    room[sister[bridge]] += flow
    _send(head[sister[bridge]], flow, SOURCE, arcs, room, search)
    _send(head[bridge], flow, _SINK, arcs, room, search)
    excess[source] -= flow
    excess[sink] += flow
    if excess[source] == 0:
        _orphan(source, parent, search.orphans, search.cursor)
    if excess[sink] == 0 and parent[sink] == _ROOT:
        _orphan(sink, parent, search.orphans, search.cursor)


@inlined
def _send(node, flow, side, arcs, room, search):  # type: ignore[no-untyped-def]
    """Send flow along the path between a node and its root."""
    parent = search.parent
    head = arcs.head
    sister = arcs.sister
    while parent[node] >= 0:
        up = parent[node]
        along = sister[up] if side == SOURCE else up
        room[along] -= flow
        room[sister[along]] += flow
        if room[along] == 0:
            _orphan(node, parent, search.orphans, search.cursor)
        node = head[up]


@inlined
def _orphan(node, parent, orphans, cursor):  # type: ignore[no-untyped-def]
    parent[node] = _ORPHAN
    orphans[cursor[_ORPHANS]] = node
    cursor[_ORPHANS] += 1


@kernel
def _adopt_all(arcs, room, search):  # type: ignore[no-untyped-def]
    """Find a new parent for every orphan, or release it from its tree; those nearest to the terminals first."""
    sides = search.side
    parent = search.parent
    stamp = search.stamp
    distance = search.distance
    first = arcs.first
    head = arcs.head
    sister = arcs.sister
    orphans = search.orphans
    cursor = search.cursor
    cursor[_NOW] += 1
    while cursor[_ORPHANS] > 0:
        cursor[_ORPHANS] -= 1
        node = orphans[cursor[_ORPHANS]]
        side = sides[node]
        best = _NONE
        nearest = np.int32(2**31 - 1)
        for arc in range(first[node], first[node + 1]):
            inward = sister[arc] if side == SOURCE else arc
            if sides[head[arc]] == side and room[inward] > 0:
                away = _distance(head[arc], head, parent, stamp, distance, cursor[_NOW])
                if 0 <= away < nearest:
                    best = arc
                    nearest = away
        parent[node] = best
        if best != _NONE:
            stamp[node] = cursor[_NOW]
            distance[node] = nearest + 1
        else:
            _release(node, arcs, room, search)


@kernel
def _distance(node, head, parent, stamp, distance, now):  # type: ignore[no-untyped-def]
    """Distance to the terminal, -1 if the path ends at an orphan; it is stored for all nodes on the path."""
    at = node
    away = 0
    while stamp[at] != now:
        if parent[at] == _ORPHAN:
            return -1
        away += 1
        if parent[at] == _ROOT:
            stamp[at] = now
            distance[at] = 1
            away -= 1
            break
        at = head[parent[at]]
    away += distance[at]
    at = node
    left = away
    while stamp[at] != now:
        stamp[at] = now
        distance[at] = left
        left -= 1
        at = head[parent[at]]
    return away


@kernel
def _release(node, arcs, room, search):  # type: ignore[no-untyped-def]
    """Take a node out of its tree: its children become orphans, and nodes that could reach it are queued."""
    sides = search.side
    parent = search.parent
    queue = search.queue
    queued = search.queued
    orphans = search.orphans
    cursor = search.cursor
    for arc in range(arcs.first[node], arcs.first[node + 1]):
        other = arcs.head[arc]
        if sides[other] == sides[node]:
            if room[arcs.sister[arc] if sides[node] == SOURCE else arc] > 0:
                _wait(other, queue, queued, cursor)
            if parent[other] == arcs.sister[arc]:
                _orphan(other, parent, orphans, cursor)
    sides[node] = _FREE
