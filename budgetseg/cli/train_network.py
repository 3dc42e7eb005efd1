"""`budgetseg train-network`: train the networks dcnn and dcnn_large for a dataset."""

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
) -> None:
    """Train a small and a large network for a dataset, and write them as dcnn.onnx and dcnn_large.onnx.

    Needs PyTorch: pip install 'budgetseg[train]'. After an interruption, the same command continues after the last
    finished network.
    """
    from budgetseg.datasets import open_dataset
    from budgetseg.networks.recipe import NetworkRecipe

    try:
        from budgetseg.networks.fit import fit_networks, footage_of
        from budgetseg.networks.training import check_device
    except ImportError as error:
        raise UsageError(f"training needs {error.name}; pip install 'budgetseg[train]'") from error

    check_device(device)
    source = open_dataset(dataset, root)
    footage = footage_of(source.videos(split))
    recipe = NetworkRecipe(n_steps=steps, seed=seed, device=device, int8=int8)
    fit_networks(footage, source.classes, output, recipe, folds, lambda line: typer.echo(line, err=True))
    typer.echo(f"Networks are in {output}")
