"""`budgetseg export`: labels in formats that other programs read."""

from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import progress

__all__ = ["export"]


def export(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR", help="Folder that 'budgetseg label' wrote, with one run or several.", show_default=False
        ),
    ],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            help="'png', class indices with the palette of VOC; 'cityscapes', its label ids; 'coco', masks in JSON.",
            autocompletion=one_of("format"),
        ),
    ] = "png",
    budget: Annotated[
        str | None, typer.Option(help="Budget whose labels are exported, such as 5s.", show_default="the largest")
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")] = Path("exported"),
) -> None:
    """Write the labels of a video in a format that other programs read.

    \b
    budgetseg export out --format coco -o coco
    budgetseg export out --format cityscapes --budget 5s -o ids
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.app.export.formats import export as write

    with progress(f"export {form}", None) as advance:
        notes = write(folder, form, output, budget, advance)
    for note in notes:
        typer.echo(f"Note: {note}")
    typer.echo(f"Labels are in {output}")
