"""`budgetseg adapt`: measure on videos without labels what networks are worth."""

from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import Advance, AsJson, Rows, print_json, print_table, progress
from budgetseg.cli.options import Threads, cores_for, parse_budgets
from budgetseg.errors import OutputError, UsageError

if TYPE_CHECKING:
    from budgetseg.learning.adapt import Adapted
    from budgetseg.models.bundle import AnyModel

__all__ = ["adapt"]

DEFAULT_MODEL = "camvid"


def adapt(
    videos: Annotated[
        list[Path],
        typer.Argument(
            metavar="VIDEO",
            help="Video files, folders of PNG or JPEG frames (each folder is one video), or folders of videos. No "
            "labels are needed.",
            show_default=False,
        ),
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Folder for the model; must not be there yet.", show_default=False)
    ],
    model: Annotated[
        str | None,
        typer.Option(
            help="Name of a bundled model, or folder of another one.",
            show_default=DEFAULT_MODEL,
            autocompletion=one_of("model"),
        ),
    ] = None,
    network: Annotated[
        list[Path] | None,
        typer.Option(
            help="ONNX file of a segmentation network, or its TOML card, in place of a model; give two or more.",
            show_default=False,
        ),
    ] = None,
    time: Annotated[
        str, typer.Option(help="Time to spend on the videos: 30s, 5m. Frames are taken from all over them.")
    ] = "5m",
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Measure on your videos what each network is worth, without labels.

    Every network predicts frames from all over the videos. From that it is measured how much the dearer networks add to
    the cheapest. The model that is written has these figures, and 'budgetseg label --model FOLDER' begins with them.

    The truth is what the dearest network predicts, as far as it is sure of it. Nobody knows how often it is right, so
    nothing is learned about that.

    \b
    budgetseg adapt drive1.mp4 drive2.mp4 -o mine
    budgetseg adapt videos/ --network big.onnx --network small.onnx --time 2m -o mine
    budgetseg label drive3.mp4 --model mine --budget 10s -o out
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.app.videos import find_videos
    from budgetseg.files import check_writable
    from budgetseg.learning.adapt import AdaptRecipe, adapt_model
    from budgetseg.models.bundle import save_model

    limit_s = _seconds(time)
    if output.exists():
        raise OutputError(f"'{output}' is there already; give another folder with -o")
    check_writable(output)
    own = _model(model, network or [], output.name)
    sources = [task.source for task in find_videos(videos, output)]
    with ExitStack() as stages:

        def stage(what: str, total: int | None, unit: str) -> Advance:
            return stages.enter_context(progress(what, total, unit))

        done = adapt_model(own, sources, AdaptRecipe(limit_s=limit_s), cores_for(threads), stage)
    save_model(done.model, output)
    if as_json:
        print_json({"model": str(output), **done.as_dict()})
    else:
        _print(done, output)


def _seconds(text: str) -> float:
    """Seconds from a text like 30s; UsageError for anything else."""
    budgets = parse_budgets(text)
    if len(budgets) > 1 or budgets[0].is_share:
        raise UsageError(f"--time must be a time. Got '{text}'; for example 30s, 5m")
    return budgets[0].amount


def _model(model: str | None, networks: list[Path], name: str) -> "AnyModel":
    """The model to adapt, under its new name."""
    from budgetseg.models.bundle import load_any
    from budgetseg.models.find import find_model
    from budgetseg.models.networks import networks_alone

    if not networks:
        return replace(load_any(find_model(model or DEFAULT_MODEL)), name=name)
    if model is not None:
        raise UsageError("--network and --model cannot be combined; give one of them")
    return networks_alone(networks, name)


def _print(done: "Adapted", output: Path) -> None:
    gains = done.model.gains
    rows: Rows = [(name, f"{1000 * seconds:.1f}", f"{gains[name]:+.1f}") for name, seconds in done.network_s.items()]
    print_table(("network", "ms a frame", "points over the cheapest"), rows)
    dearest = list(done.network_s)[-1]
    typer.echo(f"Points are of mean IoU. The truth was '{dearest}' on {done.n_asked} of {done.n_frames} frames.")
    typer.echo(f"The model is in {output}")
