"""The `budgetseg` program: its commands, and how an error becomes one line and exit code 2."""

import sys
from typing import Annotated

import typer

from budgetseg import __version__
from budgetseg.cli import datasets, demo, supervoxels
from budgetseg.cli.bench import bench
from budgetseg.errors import BudgetsegError

__all__ = ["app", "main"]

app = typer.Typer(
    help="Label every pixel of a video within a time budget.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(demo.demo)
app.command()(supervoxels.supervoxels)
app.add_typer(datasets.app, name="datasets")
app.add_typer(bench, name="bench")


def _print_version(asked: bool) -> None:
    if asked:
        typer.echo(f"budgetseg {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Label every pixel of a video within a time budget."""


def main() -> None:
    """Run the program; an expected error prints one line and exits with code 2."""
    try:
        app()
    except BudgetsegError as error:
        typer.echo(f"budgetseg: {error}", err=True)
        sys.exit(2)
