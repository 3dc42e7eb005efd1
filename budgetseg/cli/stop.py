"""Ctrl-C that is meant kindly the first time."""

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer

__all__ = ["ended_by_ctrl_c"]


@contextmanager
def ended_by_ctrl_c(message: str) -> Iterator[Callable[[], bool]]:
    """Give a question whether the user has pressed Ctrl-C within the block; the second time it raises, as always."""
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
