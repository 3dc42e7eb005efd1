"""`budgetseg network`: what is understood of a segmentation network of your own."""

from pathlib import Path
from textwrap import shorten
from typing import Annotated

import typer

from budgetseg.cli.console import AsJson, Rows, print_json, print_table, tell
from budgetseg.errors import OutputError

__all__ = ["app"]

WIDTH = 80
"""Characters of a fact that are shown: the card has all names of classes."""
LEAST = 0.01
"""Share of the street that a class must have to be named."""

app = typer.Typer(help="Look at a segmentation network of your own.")


@app.callback()
def network() -> None:
    """Look at a segmentation network of your own."""


@app.command()
def inspect(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="FILE", help="An ONNX file, or the TOML card beside one; NAME.toml is read with NAME.onnx."
        ),
    ],
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="File for the card.", show_default="NAME.toml beside the ONNX file"),
    ] = None,
    overwrite: Annotated[
        bool, typer.Option("--overwrite", help="Replace a card that is there; else it is kept as it is.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Print what was understood of a network, and write a card to edit.

    The network is run on a rendered street. Each line says where it comes from: the file, its metadata, the card, a
    trial, or a default. 'budgetseg label --network FILE' reads the card when it lies beside the ONNX file. Edit it, and
    look again.

    \b
    budgetseg network inspect big.onnx
    budgetseg network inspect big.onnx --overwrite --json
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.evaluation.network import inspect_network

    target = output or file.with_suffix(".toml")
    if output is not None and output.exists() and not overwrite:
        raise OutputError(f"'{output}' is there already; give --overwrite, or another file with -o")
    tell("trying the network")
    found = inspect_network(file, target, overwrite)
    if as_json:
        print_json(found.as_dict())
        return
    rows: Rows = [(fact.what, shorten(fact.value, WIDTH, placeholder=" …"), fact.source) for fact in found.facts]
    print_table(("what", "understood", "from"), rows)
    shown = [f"{name} {100 * share:.0f} %" for name, share in found.shares.items() if share >= LEAST]
    rest = len(found.shares) - len(shown)
    more = f", and {rest} with less than 1 %" if rest else ""
    typer.echo(f"A rendered street took {1000 * found.seconds:.0f} ms: {', '.join(shown)}{more}.")
    typer.echo(f"The card is {found.card}{'' if found.is_new else ', as it was'}")
