"""How the loops of inference are compiled.

Without numba's runtime: it counts references wherever a loop names an array or looks at a part of one, which may take
more time than the loop does. Such functions make no arrays; they write to those that they are given.
"""

from typing import Any

from numba import njit

__all__ = ["inlined", "kernel", "loose"]

_OPTIONS: Any = {"cache": True, "nogil": True, "_nrt": False}

kernel: Any = njit(**_OPTIONS)
"""For most of them."""

inlined: Any = njit(**_OPTIONS, inline="always")
"""For small ones that others call."""

loose: Any = njit(**_OPTIONS, fastmath=True)
"""For those that may add in any order, so that sums become vector code."""
