"""What `budgetseg label` shows of a job of many videos, and how it ends."""

import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

import typer

from budgetseg.cli.console import Rows, print_json, print_table
from budgetseg.cli.options import cores_for
from budgetseg.timing.clock import Clock, WallClock

if TYPE_CHECKING:
    from budgetseg.app.job import Job, Status, Terms
    from budgetseg.app.labeller import Order
    from budgetseg.app.manifest import Row
    from budgetseg.app.model import LoadedModel
    from budgetseg.app.videos import Found
    from budgetseg.app.worker import Setup
    from budgetseg.executors.registry import ExecutorOptions

__all__ = ["find_job", "run_job"]

PRIOR_ONLY = 3
SOME_SKIPPED = 4
"""Exit status where some videos were skipped."""
READY = 5
"""Videos that are tried before the job begins, until one can be read."""
MOST_ROWS = 50
"""Videos that a table lists; the manifest lists all."""


def find_job(order: "Order", shard: tuple[int, int] | None, options: "ExecutorOptions") -> "list[Found]":
    """The videos of a job, or of a part of it; an error where there are none, or where nothing can be written."""
    from budgetseg.app.videos import find_videos, part_of
    from budgetseg.files import check_writable

    order.check_many()
    _ = options.name
    found = find_videos(order.videos)
    check_writable(order.folder)
    return found if shard is None else part_of(found, shard)


def run_job(
    order: "Order",
    found: "list[Found]",
    setup: "Setup",
    terms: "Terms",
    options: "ExecutorOptions",
    model: "LoadedModel",
    stopped: Callable[[], bool],
    as_json: bool,
) -> None:
    """Carry out a job, show how far it is, and exit."""
    from budgetseg.app.job import Job
    from budgetseg.app.worker import kept, look_at
    from budgetseg.executors.registry import open_executor

    setup = replace(setup, digest=model.digest)
    with open_executor(options, cores_for(None)) as executor, kept(setup, model, stopped), shown() as show:
        # What has to be measured once on a machine is not in the budget; the first video that can be read shows it.
        any(looked.outlook for own in found[:READY] for looked in look_at(setup, order, [own.path]))
        clock = WallClock()
        job = Job(order, found, setup, terms, clock=clock, stopped=stopped, show=show)
        rows = job.run(executor)
    end_job(job, rows, stopped(), as_json)


@contextmanager
def shown(clock: Clock | None = None, every_s: float = 10.0) -> Iterator[Callable[["Status"], None]]:
    """A function that shows how far a job is: a live table on a terminal, elsewhere a line every ten seconds."""
    if sys.stderr.isatty():
        from rich.console import Console
        from rich.live import Live

        with Live(console=Console(stderr=True), transient=True, refresh_per_second=4) as live:
            yield lambda status: live.update(_table(status))
        return
    clock = clock or WallClock()
    last_s = clock.now_s()

    def show(status: "Status") -> None:
        nonlocal last_s
        if clock.now_s() - last_s >= every_s:
            last_s = clock.now_s()
            typer.echo(", ".join(f"{value} {name}" for name, value in _facts(status)), err=True)

    yield show


def end_job(job: "Job", rows: "list[Row]", is_stopped: bool, as_json: bool) -> None:
    """Print what became of the videos of a job, and exit: 2 if none can be read, 4 if some were skipped."""
    found = job.rows
    skipped = [row for row in found if row.state == "skipped"]
    done = [row for row in found if row.state == "done"]
    n_left = len(job.videos) - len(found)
    if as_json:
        print_json({"videos": [asdict(row) for row in found], "n_left": n_left, "elsewhere": list(job.elsewhere)})
    else:
        _print(done, skipped, [row for row in rows if row.state == "done"])
    if job.elsewhere:
        typer.echo(f"{len(job.elsewhere)} of {len(job.videos)} videos are in the hands of other machines", err=True)
    if n_left > len(job.elsewhere):
        typer.echo(f"{n_left - len(job.elsewhere)} of {len(job.videos)} videos were not started", err=True)
    if is_stopped:
        raise typer.Exit(128 + signal.SIGINT)
    job.check()
    if skipped:
        raise typer.Exit(SOME_SKIPPED)
    if any(row.is_prior for row in done):
        typer.echo("some budgets were too short to predict a single frame; give a larger --budget", err=True)
        raise typer.Exit(PRIOR_ONLY)


def _print(done: "list[Row]", skipped: "list[Row]", own: "list[Row]") -> None:
    table: Rows = [
        (row.name, _seconds(row.budget_s), _seconds(row.spent_s), _percent(row.expected)) for row in own[:MOST_ROWS]
    ]
    if table:
        print_table(("video", "budget s", "spent s", "expected right"), table)
    if skipped:
        print_table(("skipped", "why"), [(row.name, row.why) for row in skipped[:MOST_ROWS]])
    if len(own) > MOST_ROWS or len(skipped) > MOST_ROWS:
        typer.echo("The manifest lists all videos.")
    known = [row.expected for row in done if row.expected is not None]
    line = f"{len(done)} videos are labelled, {len(done) - len(own)} of them by earlier runs or other machines"
    typer.echo(f"{line}; {len(skipped)} were skipped.")
    if known:
        typer.echo(f"Expected: about {_percent(sum(known) / len(known))} of the pixels right, in the mean over videos.")


def _facts(status: "Status") -> list[tuple[str, Any]]:
    facts: list[tuple[str, Any]] = [
        ("videos", status.n_videos),
        ("looked at", status.looked),
        ("done", status.n_done),
        ("running", len(status.running)),
        ("skipped", status.n_skipped),
        ("elsewhere", status.n_elsewhere),
    ]
    facts = [(name, value) for name, value in facts if value or name in ("videos", "done")]
    if status.left_s is not None:
        facts.append(("s left", round(status.left_s)))
    if status.expected is not None:
        facts.append(("expected right", _percent(status.expected)))
    return facts


def _table(status: "Status") -> Any:
    from rich.table import Table

    table = Table(*(name for name, _ in _facts(status)), caption=", ".join(status.running[:4]))
    table.add_row(*(str(value) for _, value in _facts(status)))
    return table


def _seconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f} %"
