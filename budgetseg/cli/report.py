"""`budgetseg report`: one page that shows what came of evaluating and labelling."""

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
            help="Holds results.json of 'evaluate', folders of 'label', JSON of 'bench deadline', in itself or below.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="The page.", show_default="report.html in DIR"),
    ] = None,
    frames: Annotated[int, typer.Option(min=1, help="Frames of a video that the page shows at most.")] = 60,
    width: Annotated[int, typer.Option(min=16, help="Their width in pixels, at most.")] = 480,
) -> None:
    """Write one HTML page that opens from disk: tables, charts, and a player for every labelled video.

    In the player, a slider goes through the budgets, and a click on a region tells what was computed for it.

    \b
    budgetseg label drive.mp4 --budget 2s,5s,10s --why -o out
    budgetseg report out
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.report import write_report

    page = output or folder / "report.html"
    with progress("report", None) as advance:
        write_report(folder, page, frames, width, advance)
    typer.echo(f"{page.stat().st_size / 1e6:.1f} MB; open {page}")
