"""Output of commands: progress with an ETA on a terminal, plain lines in a pipe, JSON for programs."""

import json
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from budgetseg.timing.clock import Clock, WallClock

__all__ = ["Advance", "AsJson", "Rows", "print_json", "print_table", "progress", "say", "tell"]

AsJson = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Rows = list[tuple[str, ...]]

Advance = Callable[[int], None]
"""Report how many more units of work are done."""


def print_json(value: Any) -> None:
    """Print one JSON object on standard output."""
    typer.echo(json.dumps(value, indent=2))


def tell(what: str) -> None:
    """Print what takes time now, on a terminal only."""
    if sys.stderr.isatty():
        say(what)


def say(what: str) -> None:
    """Print what takes long now, on standard error, also where that is no terminal."""
    typer.echo(f"{what} ...", err=True)


@contextmanager
def progress(what: str, total: int | None, unit: str = "frames", clock: Clock | None = None) -> Iterator[Advance]:
    """Show progress of long work: a bar with ETA on a terminal, elsewhere a plain line every ten seconds.

    Progress goes to standard error, and results go to standard output. Lines are timed by `clock`; None starts a new
    one.
    """
    if sys.stderr.isatty():
        with _bar(what, total, unit) as advance:
            yield advance
    else:
        yield _lines(what, total, unit, clock or WallClock())


@contextmanager
def _bar(what: str, total: int | None, unit: str) -> Iterator[Advance]:
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

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


def _lines(what: str, total: int | None, unit: str, clock: Clock, every_s: float = 10.0) -> Advance:
    began_s = last_s = clock.now_s()
    done = 0

    def advance(n: int) -> None:
        nonlocal last_s, done
        done += n
        now_s = clock.now_s()
        if now_s - last_s < every_s:
            return
        last_s = now_s
        line = f"{what}: {done} of {total} {unit}" if total else f"{what}: {done} {unit}"
        if total and done:
            line += f", about {(now_s - began_s) * max(total - done, 0) / done:.0f} s left"
        typer.echo(line, err=True)

    return advance


def print_table(header: tuple[str, ...], rows: Rows) -> None:
    """Print a table: drawn on a terminal, columns of plain text in a pipe."""
    if sys.stdout.isatty():
        _draw_table(header, rows)
        return
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    for row in (header, *rows):
        typer.echo("  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip())
    typer.echo()


def _draw_table(header: tuple[str, ...], rows: Rows) -> None:
    from rich.console import Console
    from rich.markup import escape
    from rich.table import Table

    table = Table()
    for title in header:
        table.add_column(title, overflow="fold")  # never cut a path
    for row in rows:
        table.add_row(*map(escape, row))
    Console().print(table)
