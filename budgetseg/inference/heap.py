"""The candidates of a state by rank, lowest first: a binary heap that knows where each of them stands. Compiled."""

from numba import njit

from budgetseg.inference.handle import inlined
from budgetseg.inference.state import N_HEAP

__all__ = ["move", "push", "remove"]

NOWHERE = -1
"""Where one stands that is no candidate."""


@inlined
def push(state, i, rank):  # type: ignore[no-untyped-def]
    """Let one join the candidates."""
    at = state.counts[N_HEAP]
    state.counts[N_HEAP] += 1
    state.rank[i] = rank
    _rise(state.heap, state.where, state.rank, i, at)


@inlined
def move(state, i, rank):  # type: ignore[no-untyped-def]
    """Give a candidate another rank."""
    before = state.rank[i]
    state.rank[i] = rank
    if rank < before:
        _rise(state.heap, state.where, state.rank, i, state.where[i])
    else:
        _sink(state.heap, state.where, state.rank, state.counts[N_HEAP], i, state.where[i])


@inlined
def remove(state, i):  # type: ignore[no-untyped-def]
    """Take one from the candidates."""
    at = state.where[i]
    state.where[i] = NOWHERE
    state.counts[N_HEAP] -= 1
    last = state.heap[state.counts[N_HEAP]]
    if last != i:
        if state.rank[last] < state.rank[i]:
            _rise(state.heap, state.where, state.rank, last, at)
        else:
            _sink(state.heap, state.where, state.rank, state.counts[N_HEAP], last, at)


@njit(cache=True, nogil=True)
def _rise(heap, where, rank, i, at):  # type: ignore[no-untyped-def]
    while at > 0:
        above = heap[(at - 1) // 2]
        if rank[above] <= rank[i]:
            break
        heap[at], where[above] = above, at
        at = (at - 1) // 2
    heap[at], where[i] = i, at


@njit(cache=True, nogil=True)
def _sink(heap, where, rank, n, i, at):  # type: ignore[no-untyped-def]
    while True:
        below = 2 * at + 1
        if below >= n:
            break
        if below + 1 < n and rank[heap[below + 1]] < rank[heap[below]]:
            below += 1
        child = heap[below]
        if rank[child] >= rank[i]:
            break
        heap[at], where[child] = child, at
        at = below
    heap[at], where[i] = i, at
