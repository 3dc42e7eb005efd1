"""`budgetseg describe`: every descriptor of every supervoxel of a dataset, with its cost, on disk."""

from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import progress
from budgetseg.cli.options import cores_for, parse_names

__all__ = ["describe"]


def describe(
    dataset: Annotated[
        str,
        typer.Argument(
            help="A dataset; see 'budgetseg datasets'.", show_default=False, autocompletion=one_of("dataset")
        ),
    ],
    root: Annotated[Path | None, typer.Option(help="The folder that holds the dataset.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the tables.")] = Path("table"),
    split: Annotated[list[str] | None, typer.Option(help="A split; may be repeated.", show_default="train")] = None,
    networks: Annotated[
        Path | None, typer.Option(help="Folder of networks, as 'budgetseg train-network --folds 4' writes it.")
    ] = None,
    descriptors: Annotated[
        str | None, typer.Option(help="Names with commas between them.", show_default="all, networks included")
    ] = None,
    per_frame: Annotated[
        int | None, typer.Option(min=1, help="Supervoxels a frame.", show_default="25 to 200, by size and frame rate")
    ] = None,
    tier: Annotated[
        str, typer.Option(help="Supervoxels: 'quality' or 'fast'.", autocompletion=one_of("tier"))
    ] = "quality",
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Processes, one a video; threads where videos are few.", show_default="all cores"),
    ] = None,
) -> None:
    """Compute all descriptors of all supervoxels and measure what each of them costs.

    A network is never asked about a frame that it was trained on: fold networks speak there. After an interruption,
    the same command goes on with the videos that are missing.
    """
    from budgetseg.descriptors.describe import Description, count_frames, describe_dataset
    from budgetseg.supervoxels.tiers import tier_named

    names = None if descriptors is None else parse_names(descriptors)
    plan = Description(dataset, root, tuple(split or ["train"]), names, networks, per_frame, tier_named(tier).name)
    with progress("describe", count_frames(plan)) as advance:
        folders = describe_dataset(plan, output, cores_for(threads), advance)
    typer.echo(f"Videos described: {len(folders)}, in {output}")
