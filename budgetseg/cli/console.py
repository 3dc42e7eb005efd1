"""How commands talk: progress with an ETA on a terminal, plain lines in a pipe, JSON for programs."""

import json
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import typer

__all__ = ["Advance", "print_json", "progress"]

Advance = Callable[[int], None]
"""Report that so many more units of work are done."""


def print_json(value: Any) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(value, indent=2))


@contextmanager
def progress(what: str, total: int | None, unit: str = "frames") -> Iterator[Advance]:
    """Show how far some long work is: a bar with ETA on a terminal, a plain line now and then elsewhere.

    Everything goes to standard error, so that standard output stays clean for results.
    """
    if sys.stderr.isatty():
        with _bar(what, total, unit) as advance:
            yield advance
    else:
        yield _lines(what, total, unit)


@contextmanager
def _bar(what: str, total: int | None, unit: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn(unit),
        TimeElapsedColumn(),
        TextColumn("ETA"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(what, total=total)
        yield lambda n: bar.advance(task, n)


def _lines(what: str, total: int | None, unit: str, every_s: float = 10.0) -> Advance:
    started = said = time.monotonic()
    done = 0

    def advance(n: int) -> None:
        nonlocal said, done
        done += n
        now = time.monotonic()
        if now - said < every_s:
            return
        said = now
        if total:
            left_s = (now - started) * max(total - done, 0) / max(done, 1)
            typer.echo(f"{what}: {done} of {total} {unit}, about {left_s:.0f} s left", err=True)
        else:
            typer.echo(f"{what}: {done} {unit}", err=True)

    return advance
