"""The candidates of a state by rank, lowest first: heaps that know where each of them stands. Compiled.

There is a heap for each descriptor, in a row of its own; orders that rank supervoxels have the first row alone. Each
place has four below it, and ranks are kept by place: what is compared lies side by side in memory.
"""

from budgetseg.policy.compiled import compiled

__all__ = ["NOWHERE", "move", "push", "remove"]

NOWHERE = -1
"""Where one stands that is no candidate."""

BELOW = 4


@compiled
def push(state, row, i, rank):  # type: ignore[no-untyped-def]
    """Let one join the candidates."""
    at = state.waiting[row]
    state.waiting[row] += 1
    _rise(state.heap[row], state.where[row], state.rank[row], i, rank, at)


@compiled
def move(state, row, i, rank):  # type: ignore[no-untyped-def]
    """Give a candidate another rank."""
    at = state.where[row, i]
    if rank < state.rank[row, at]:
        _rise(state.heap[row], state.where[row], state.rank[row], i, rank, at)
    elif rank > state.rank[row, at]:
        _sink(state.heap[row], state.where[row], state.rank[row], state.waiting[row], i, rank, at)


@compiled
def remove(state, i):  # type: ignore[no-untyped-def]
    """Take one from the candidates."""
    for row in range(len(state.waiting)):
        at = state.where[row, i]
        if at == NOWHERE:
            continue
        state.where[row, i] = NOWHERE
        state.waiting[row] -= 1
        end = state.waiting[row]
        if at == end:
            continue
        last, rank = state.heap[row, end], state.rank[row, end]
        if rank < state.rank[row, at]:
            _rise(state.heap[row], state.where[row], state.rank[row], last, rank, at)
        else:
            _sink(state.heap[row], state.where[row], state.rank[row], end, last, rank, at)


@compiled
def _rise(heap, where, ranks, i, rank, at):  # type: ignore[no-untyped-def]
    while at > 0:
        above = (at - 1) // BELOW
        if ranks[above] <= rank:
            break
        heap[at], ranks[at] = heap[above], ranks[above]
        where[heap[at]] = at
        at = above
    heap[at], ranks[at], where[i] = i, rank, at


@compiled
def _sink(heap, where, ranks, n, i, rank, at):  # type: ignore[no-untyped-def]
    while True:
        first, best = BELOW * at + 1, at
        lowest = rank
        for below in range(first, min(first + BELOW, n)):
            if ranks[below] < lowest:
                best, lowest = below, ranks[below]
        if best == at:
            break
        heap[at], ranks[at] = heap[best], lowest
        where[heap[at]] = at
        at = best
    heap[at], ranks[at], where[i] = i, rank, at
