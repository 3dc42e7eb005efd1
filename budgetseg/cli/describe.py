"""`budgetseg describe`: write every descriptor of every supervoxel of a dataset, with its cost."""

from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.console import progress
from budgetseg.cli.options import Dataset, Descriptors, Networks, PerFrame, Root, Tier, cores_for, parse_names

__all__ = ["describe"]


def describe(
    dataset: Dataset,
    root: Root = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the tables.")] = Path("table"),
    split: Annotated[
        list[str] | None, typer.Option(help="Split to describe; may be repeated.", show_default="train")
    ] = None,
    networks: Networks = None,
    descriptors: Descriptors = None,
    per_frame: PerFrame = None,
    tier: Tier = "quality",
    threads: Annotated[
        int | None,
        typer.Option(
            min=1, help="Number of processes, one for each video; threads if videos are few.", show_default="all cores"
        ),
    ] = None,
) -> None:
    """Compute all descriptors of all supervoxels of a dataset, and measure the cost of each.

    No network runs on a frame that it was trained on; a fold network takes its place there. After an interruption, the
    same command continues with the videos that are missing.
    """
    from budgetseg.descriptors.describe import Description, count_frames, describe_dataset
    from budgetseg.supervoxels.tiers import tier_named

    names = None if descriptors is None else parse_names(descriptors)
    plan = Description(dataset, root, tuple(split or ["train"]), names, networks, per_frame, tier_named(tier).name)
    with progress("describe", count_frames(plan)) as advance:
        folders = describe_dataset(plan, output, cores_for(threads), advance)
    typer.echo(f"Videos described: {len(folders)}, in {output}")
