"""`budgetseg report`: one page that shows results of evaluating and labelling."""

from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.console import progress

__all__ = ["report"]


def report(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="Folder with results of 'evaluate', 'label' or 'bench deadline --json', searched three levels deep.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the page.", show_default="report.html in DIR"),
    ] = None,
    frames: Annotated[int, typer.Option(min=1, help="Largest number of frames per video, evenly spaced.")] = 60,
    width: Annotated[int, typer.Option(min=16, help="Largest width of a frame, in pixels.")] = 480,
) -> None:
    """Write one HTML page that opens from disk: tables, charts, and a player for every labelled video.

    In the player, a slider chooses the budget, and a click on a place shows where its label comes from.

    \b
    budgetseg label drive.mp4 --budget 2s,5s,10s --why -o out
    budgetseg report out
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.report import write_report

    page = output or folder / "report.html"
    with progress("report", None) as advance:
        write_report(folder, page, frames, width, advance)
    typer.echo(f"{page.stat().st_size / 1e6:.1f} MB; open {page}")
