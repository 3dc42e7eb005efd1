"""`budgetseg train-network`: the networks behind dcnn and dcnn_large, for a dataset."""

from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.errors import UsageError

__all__ = ["train_network"]


def train_network(
    dataset: Annotated[
        str,
        typer.Argument(
            help="A dataset; see 'budgetseg datasets'.", show_default=False, autocompletion=one_of("dataset")
        ),
    ],
    root: Annotated[Path | None, typer.Option(help="The folder that holds the dataset.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the networks.")] = Path("networks"),
    split: Annotated[str, typer.Option(help="The split to learn from.")] = "train",
    folds: Annotated[
        int, typer.Option(min=0, help="Also train so many fold networks, each on all but its part of the frames.")
    ] = 0,
    steps: Annotated[int, typer.Option(min=1, help="Batches of 16 frames.")] = 6000,
    seed: Annotated[int, typer.Option(help="Same seed, same networks; on a GPU up to the rounding of its sums.")] = 0,
    device: Annotated[str, typer.Option(help="'cuda' takes minutes, 'cpu' hours.")] = "cpu",
    int8: Annotated[
        bool,
        typer.Option("--int8", help="Write the large network with 8-bit convolutions: half its time, almost as good."),
    ] = False,
) -> None:
    """Train a small and a large network for a dataset and write them as dcnn.onnx and dcnn_large.onnx.

    Needs PyTorch: pip install 'budgetseg[train]'. A second start goes on after the last finished network.
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
