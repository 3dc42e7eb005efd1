"""How the steps of the loop are compiled, so that they can hand a world and a state to each other at no cost."""

from numba import njit

__all__ = ["compiled"]

compiled = njit(cache=True, nogil=True, forceinline=True, _nrt=False)  # type: ignore[call-overload]
"""Compiles a function that allocates no arrays: its caller in Python owns all that it works on.

Numba would count references to every array of a world and a state whenever they are handed on, which takes longer than
most steps do. Without its runtime for memory (NRT) there is nothing to count, and to allocate is an error. As functions
are inlined, some 40 arrays need not be copied to the stack for each call."""
