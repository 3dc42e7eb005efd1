"""`budgetseg demo`: label a rendered street, and a clip of yours, within budgets."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from budgetseg.cli.console import Rows, print_table, progress, tell

if TYPE_CHECKING:
    from budgetseg.app.labeller import Labeller
    from budgetseg.evaluation.demo import DemoRow

__all__ = ["demo"]

SEED = 5002
"""A street of the dataset's test split: of its four streets, the one that the model labels best."""


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo"),
    seed: Annotated[
        int, typer.Option(min=0, help="Seed of the rendered street; the model was trained on 0 to 7.")
    ] = SEED,
    clip: Annotated[
        Path | None,
        typer.Option(metavar="VIDEO", help="Real clip to label as well, with the model 'camvid' of road scenes."),
    ] = None,
) -> None:
    """Render a street, label it at three budgets, and print the accuracy and where the time went.

    Writes the street and its true classes as videos, the files of 'budgetseg label', and report.html.
    """
    from budgetseg.app.videos import open_counted
    from budgetseg.datasets.synthetic import render
    from budgetseg.evaluation.demo import CLIP_MS, label_clip, label_street
    from budgetseg.report import write_report

    real = None if clip is None else open_counted(clip)  # refused before the work
    tell("rendering a street")
    video, truth = render(seed)
    rows = label_street(_labeller("synthetic"), video, truth, output)
    size = f"{video.shape[2]}×{video.shape[1]}"
    typer.echo(f"{video.name}: {len(video.frames)} rendered frames of {size}, labelled with the model 'synthetic'.\n")
    _print_accuracy(rows)
    _print_ledgers(rows)
    ready_s = rows[0].ledger["loading_s"]
    typer.echo(f"Not in the budgets: {ready_s:.1f} s to get ready. The first run on a machine takes longer.\n")
    if real is not None:
        _print_clip(label_clip(_labeller("camvid"), real, output), CLIP_MS)
    with progress("report", None) as advance:
        write_report(output, output / "report.html", advance=advance)
    best = rows[-2].budget  # of those that have a bound
    typer.echo(f"Watch {output / 'street' / best / 'overlay.mp4'} beside {output / 'truth.mp4'}")
    typer.echo(f"Open  {output / 'report.html'}")
    if real is None:
        typer.echo("Next: budgetseg label YOUR.mp4 --budget 10s -o out, with the model 'camvid' of road scenes")


def _labeller(model: str) -> "Labeller":
    from budgetseg.app.labeller import Labeller
    from budgetseg.app.model import load
    from budgetseg.evaluation.environment import environment

    tell(f"getting the model '{model}' ready")
    return Labeller(load(model), {"environment": environment()}, progress=progress, tell=tell)


def _print_accuracy(rows: "Sequence[DemoRow]") -> None:
    cells: Rows = []
    for row in rows:
        right, average = (f"{100 * share:.1f} %" for share in (row.accuracy.overall, row.accuracy.class_average))
        cells.append((row.budget, f"{row.ledger['spent_s']:.3f}", right, average))
    print_table(("budget", "spent s", "pixels right", "class average"), cells)
    for row in rows:
        for note in row.ledger["notes"]:
            typer.echo(f"Note, {row.budget}: {note}")


def _print_ledgers(rows: "Sequence[DemoRow]") -> None:
    """Seconds by stage and descriptor at each budget."""
    for title in ("stages", "sources"):
        names = list(dict.fromkeys(name for row in rows for name in row.ledger[title]))
        cells: Rows = [(name, *(_entry(row.ledger[title].get(name), title) for row in rows)) for name in names]
        print_table((f"{'descriptors' if title == 'sources' else title}, s", *(row.budget for row in rows)), cells)


def _entry(entry: Mapping[str, Any] | None, title: str) -> str:
    if entry is None:
        return "-"
    return f"{entry['spent_s']:.3f}" + (f" ({entry['count']:,})" if title == "sources" else "")


def _print_clip(ledger: Mapping[str, Any], ms: int) -> None:
    name, n, (width, height) = ledger["video"].values()
    spent = f"{ledger['spent_s']:.2f} of {ledger['budget_s']:.2f} s, {ms} ms a frame"
    typer.echo(f"{name}: {n} real frames of {width}×{height}, labelled with the model 'camvid' in {spent}.\n")
    cells: Rows = [
        (name, str(own["count"]), f"{own['spent_s']:.3f}")
        for title in ("stages", "sources")
        for name, own in ledger[title].items()
    ]
    print_table(("stage or network", "times", "spent s"), cells)
