"""`budgetseg export`: labels in formats that other programs read."""

from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import print_table, progress

__all__ = ["export"]


def export(
    folder: Annotated[
        Path | None,
        typer.Argument(
            metavar="[DIR]",
            help="Folder that 'budgetseg label' wrote, with one run or several. Without it, formats are listed.",
            show_default=False,
        ),
    ] = None,
    form: Annotated[
        str,
        typer.Option(
            "--to",
            "--format",
            help="Name of the format; 'budgetseg export' lists them. --format is an alias.",
            autocompletion=one_of("format"),
        ),
    ] = "png",
    budget: Annotated[
        str | None, typer.Option(help="Budget whose labels are exported, such as 5s.", show_default="the largest")
    ] = None,
    video: Annotated[
        Path | None,
        typer.Option(
            help="The video that was labelled, for formats with images. Without it, images are restored from the "
            "overlay, which costs detail.",
            show_default="none",
        ),
    ] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the files.")] = Path("exported"),
) -> None:
    """Write the labels of a video in a format that other programs read.

    \b
    budgetseg export                                        # lists the formats, and what each is for
    budgetseg export out --to coco -o coco
    budgetseg export out --to cvat --video drive.mp4 -o cvat
    budgetseg export out --to cityscapes --budget 5s -o ids
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.app.export.formats import FORMATS
    from budgetseg.app.export.formats import export as write

    if folder is None:
        print_table(("format", "what for"), [(name, own.purpose) for name, own in FORMATS.items()])
        typer.echo("The tinted video with a legend, overlay.mp4, is in the folder of the run.")
        return
    with progress(f"export {form}", None) as advance:
        notes = write(folder, form, output, budget, advance, video)
    for note in notes:
        typer.echo(f"Note: {note}")
    typer.echo(f"Labels are in {output}")
