"""`budgetseg datasets`: which datasets can be read, and is the one on this disk sound."""

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import AsJson, Rows, print_json, print_table, progress
from budgetseg.datasets import DATASETS, open_dataset
from budgetseg.datasets.check import CheckReport, check, n_frames

__all__ = ["app"]

app = typer.Typer(help="What datasets there are, and whether yours is sound.")


@app.callback(invoke_without_command=True)
def datasets(context: typer.Context, as_json: AsJson = False) -> None:
    """What datasets there are, and whether yours is sound. Without a command: the list."""
    if context.invoked_subcommand is None:
        list_(as_json)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the datasets that can be read: name, what it is, and the files expected below its root."""
    if as_json:
        print_json([{"name": name, "what": entry.what, "layout": entry.layout} for name, entry in DATASETS.items()])
        return
    print_table(("name", "what", "layout"), [(name, entry.what, entry.layout) for name, entry in DATASETS.items()])


@app.command("check")
def check_(
    name: Annotated[str, typer.Argument(help=f"One of {', '.join(DATASETS)}.", autocompletion=one_of("dataset"))],
    root: Annotated[Path | None, typer.Option("--root", help="The folder that holds the dataset.")] = None,
    as_json: AsJson = False,
) -> None:
    """Read every file of a dataset and say what is there and what is wrong.

    The exit code is 0 when it is sound, and 2 when any file is missing, unreadable, of another size, or has an unknown
    index; each is named.
    """
    dataset = open_dataset(name, root)
    with progress(f"checking {name}", n_frames(dataset)) as advance:
        report = check(dataset, advance)
    if as_json:
        print_json({**asdict(report), "sound": report.sound})
    else:
        _print_report(report)
    if not report.sound:
        raise typer.Exit(2)


def _print_report(report: CheckReport) -> None:
    print_table(("split", "videos", "frames", "labelled"), _split_rows(report))
    print_table(("pixels, %", *(split.split for split in report.splits)), _class_rows(report))
    for problem in report.problems:
        typer.echo(problem.message)
    n = len(report.problems)
    typer.echo(f"{report.dataset} is sound" if report.sound else f"{report.dataset}: {n} problem{'s' * (n > 1)}")


def _split_rows(report: CheckReport) -> Rows:
    return [(row.split, str(row.n_videos), str(row.n_frames), str(row.n_labelled)) for row in report.splits]


def _class_rows(report: CheckReport) -> Rows:
    """The share of each class in the labelled pixels of each split."""
    columns = [{**row.pixels, "(ignored)": row.n_ignored} for row in report.splits]
    totals = [max(sum(column.values()), 1) for column in columns]
    return [
        (name, *(f"{100 * column[name] / total:.2f}" for column, total in zip(columns, totals, strict=True)))
        for name in (columns[0] if columns else ())
    ]
