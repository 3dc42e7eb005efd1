"""Decorators that compile the loops of inference.

They compile without numba's runtime, which counts references wherever a loop names an array or takes a part of one.
That may take more time than the loop itself. Such functions cannot allocate arrays; they write to those that they are
given.
"""

from typing import Any

from numba import njit

__all__ = ["inlined", "kernel", "loose"]

_OPTIONS: Any = {"cache": True, "nogil": True, "_nrt": False}

kernel: Any = njit(**_OPTIONS)
"""For most functions."""

inlined: Any = njit(**_OPTIONS, inline="always")
"""For small functions that others call."""

loose: Any = njit(**_OPTIONS, fastmath=True)
"""For functions that may add in any order, so that sums become vector code."""
