"""How a long training reports its progress."""

from collections.abc import Callable

__all__ = ["Stage"]

Stage = Callable[[str, int | None, str], Callable[[int], None]]
"""Called at the start of a stage with its name, its amount of work and the unit; returns a function to call with each
amount that was done."""
