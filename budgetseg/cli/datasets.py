"""`budgetseg datasets`: list the datasets that can be read, and check one on disk."""

from dataclasses import asdict

import typer

from budgetseg.cli.console import AsJson, Rows, print_json, print_table, progress
from budgetseg.cli.options import Dataset, Root
from budgetseg.datasets import DATASETS, open_dataset
from budgetseg.datasets.check import CheckReport, check, n_frames

__all__ = ["app"]

app = typer.Typer(help="List the datasets that can be read, and check one on disk.")


@app.callback(invoke_without_command=True)
def datasets(context: typer.Context, as_json: AsJson = False) -> None:
    """List the datasets that can be read, or check one on disk. Without a command: the list."""
    if context.invoked_subcommand is None:
        list_(as_json)


@app.command("list")
def list_(as_json: AsJson = False) -> None:
    """List the datasets that can be read: name, description, and the files expected below the root."""
    if as_json:
        print_json([{"name": name, "what": entry.what, "layout": entry.layout} for name, entry in DATASETS.items()])
        return
    print_table(("name", "what", "layout"), [(name, entry.what, entry.layout) for name, entry in DATASETS.items()])


@app.command("check")
def check_(
    dataset: Dataset,
    root: Root = None,
    as_json: AsJson = False,
) -> None:
    """Read every file of a dataset, and report its contents and its problems.

    A problem is a file that is missing, unreadable, of another size than its frame, or with an unknown index. The exit
    code is 0 without problems and 2 with any.
    """
    found = open_dataset(dataset, root)
    with progress(f"checking {dataset}", n_frames(found)) as advance:
        report = check(found, advance)
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
