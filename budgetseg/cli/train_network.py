"""`budgetseg train-network`: train networks for a dataset."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.options import Dataset, Root
from budgetseg.errors import UsageError

__all__ = ["train_network"]


def train_network(
    dataset: Dataset,
    root: Root = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the networks.")] = Path("networks"),
    split: Annotated[str, typer.Option(help="Split to learn from.")] = "train",
    folds: Annotated[
        int, typer.Option(min=0, help="Number of fold networks, each trained on all but its part of the frames.")
    ] = 0,
    steps: Annotated[int, typer.Option(min=1, help="Training steps of each network, in batches of 16 frames.")] = 6000,
    seed: Annotated[
        int, typer.Option(help="Seed of training. The same seed gives the same networks, but for rounding on a GPU.")
    ] = 0,
    device: Annotated[str, typer.Option(help="Device that trains: 'cuda' takes minutes, 'cpu' hours.")] = "cpu",
    int8: Annotated[
        bool,
        typer.Option("--int8", help="Write the large network with 8-bit convolutions, which take half the time."),
    ] = False,
    recipe: Annotated[
        str, typer.Option(help="'scratch': a small and a large network. 'ladder': three from ImageNet weights.")
    ] = "scratch",
    time_limit: Annotated[
        float, typer.Option(min=1, help="Seconds of training for each network. A bound makes training unrepeatable.")
    ] = float("inf"),
    distil: Annotated[
        bool, typer.Option("--distil", help="With 'ladder': larger networks teach the smaller ones.")
    ] = False,
) -> None:
    """Train networks for a dataset, and write them as dcnn.onnx, dcnn_large.onnx and, with a ladder, dcnn_medium.onnx.

    Needs PyTorch: pip install 'budgetseg[train]'. After an interruption, the same command continues after the last
    finished network.
    """
    from budgetseg.datasets import open_dataset
    from budgetseg.networks.recipe import LADDER, NetworkRecipe

    try:
        from budgetseg.networks.architecture import check_backbones
        from budgetseg.networks.fit import fit_networks, footage_of
        from budgetseg.networks.training import check_device
    except ImportError as error:
        raise UsageError(f"training needs {error.name}; pip install 'budgetseg[train]'") from error

    recipes = {"scratch": NetworkRecipe(), "ladder": LADDER}
    if recipe not in recipes:
        raise UsageError(f"no recipe '{recipe}'; choose from {', '.join(recipes)}")
    if distil and recipe != "ladder":
        raise UsageError("--distil is for --recipe ladder; the other recipe always distils")
    settings = replace(recipes[recipe], n_steps=steps, seed=seed, device=device, int8=int8, time_limit_s=time_limit)
    if distil:
        settings = replace(settings, distil=1.0)
    check_device(device)
    check_backbones(settings)
    source = open_dataset(dataset, root)
    footage = footage_of(source.videos(split))
    fit_networks(footage, source.classes, output, settings, folds, lambda line: typer.echo(line, err=True))
    typer.echo(f"Networks are in {output}")
