"""Ctrl-C that ends the spending of a run first, and the program second."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

__all__ = ["ended_by_ctrl_c"]


@contextmanager
def ended_by_ctrl_c(message: str) -> Iterator[Callable[[], bool]]:
    """Yield a function that tells whether Ctrl-C was pressed; pressed again, it raises KeyboardInterrupt."""
    n_pressed = 0

    def press(*_: object) -> None:
        nonlocal n_pressed
        n_pressed += 1
        if n_pressed > 1:
            raise KeyboardInterrupt
        typer.echo(message, err=True)

    before = signal.signal(signal.SIGINT, press)
    try:
        yield lambda: n_pressed > 0
    finally:
        signal.signal(signal.SIGINT, before)
