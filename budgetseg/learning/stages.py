"""How a long training tells how far it is."""

from collections.abc import Callable

__all__ = ["Stage"]

Stage = Callable[[str, int | None, str], Callable[[int], None]]
"""Told of a stage, how much it is and in which units; what it returns is told of progress."""
