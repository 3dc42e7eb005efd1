"""Steps by the handle of a world and its state: each is compiled once, for Python and for loops that are compiled."""

from numba import njit

from budgetseg.policy import steps
from budgetseg.policy.handle import attach

__all__ = ["begin", "cost_of", "finish", "give_up", "receive", "receive_all", "refill", "select", "withdraw"]


@njit(cache=True, nogil=True)
def select(handle, order, reopen):  # type: ignore[no-untyped-def]
    """See `steps.select`."""
    world, state = attach(handle)
    return steps.select(world, state, order, reopen)


@njit(cache=True, nogil=True)
def refill(handle, order, reopen):  # type: ignore[no-untyped-def]
    """See `steps.refill`."""
    world, state = attach(handle)
    return steps.refill(world, state, order, reopen)


@njit(cache=True, nogil=True)
def cost_of(handle, region, descriptor):  # type: ignore[no-untyped-def]
    """See `steps.cost_of`."""
    world, state = attach(handle)
    return steps.cost_of(world, state, region, descriptor)


@njit(cache=True, nogil=True)
def finish(handle, order, region):  # type: ignore[no-untyped-def]
    """See `steps.finish`."""
    world, state = attach(handle)
    steps.finish(world, state, order, region)


@njit(cache=True, nogil=True)
def begin(handle, order, region, descriptor):  # type: ignore[no-untyped-def]
    """See `steps.begin`."""
    world, state = attach(handle)
    return steps.begin(world, state, order, region, descriptor)


@njit(cache=True, nogil=True)
def receive(handle, order, region, descriptor, probabilities, spent_s):  # type: ignore[no-untyped-def]
    """See `steps.receive`."""
    world, state = attach(handle)
    steps.receive(world, state, order, region, descriptor, probabilities, spent_s)


@njit(cache=True, nogil=True)
def receive_all(handle, order, regions, descriptors, probabilities, spent_s):  # type: ignore[no-untyped-def]
    """The same for a batch of K: regions, descriptors and spent_s are (K,), probabilities (K, L)."""
    for k in range(len(regions)):
        receive(handle, order, regions[k], descriptors[k], probabilities[k], spent_s[k])


@njit(cache=True, nogil=True)
def withdraw(handle, region):  # type: ignore[no-untyped-def]
    """See `steps.withdraw`."""
    _, state = attach(handle)
    steps.withdraw(state, region)


@njit(cache=True, nogil=True)
def give_up(handle, order, region):  # type: ignore[no-untyped-def]
    """See `steps.give_up`."""
    world, state = attach(handle)
    steps.give_up(world, state, order, region)
