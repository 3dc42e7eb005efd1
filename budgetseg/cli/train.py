"""`budgetseg train`: learn a model from labelled videos."""

import math
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.console import Advance, progress
from budgetseg.cli.options import Dataset, Descriptors, PerFrame, Root, Threads, Tier, cores_for, parse_names

__all__ = ["train"]


def train(
    dataset: Dataset,
    root: Root = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the model.")] = Path("model"),
    networks: Annotated[
        Path | None,
        typer.Option(
            help="Folder of networks, as 'budgetseg train-network --folds 4' writes it.",
            show_default="train them first",
        ),
    ] = None,
    network_steps: Annotated[
        int, typer.Option(min=1, help="Training steps of each network, in batches of 16 frames.")
    ] = 6000,
    device: Annotated[
        str, typer.Option(help="Device that trains networks: 'cuda' takes minutes for each, 'cpu' a day.")
    ] = "cpu",
    int8: Annotated[
        bool, typer.Option("--int8", help="Write the large network with 8-bit convolutions, which take half the time.")
    ] = False,
    split: Annotated[str, typer.Option(help="Split to learn from.")] = "train",
    descriptors: Descriptors = None,
    per_frame: PerFrame = None,
    tier: Tier = "quality",
    balance: Annotated[
        float,
        typer.Option(
            min=0, max=1, help="What accuracy means: 0 is the share of right pixels, 1 the average over classes."
        ),
    ] = 0.5,
    rounds: Annotated[
        int,
        typer.Option(min=0, help="Rounds of learning the CRF; 0 keeps one price for all pairs of classes."),
    ] = 20,
    plans: Annotated[
        bool, typer.Option(help="Choose static plans, for runs without a learned policy; takes minutes.")
    ] = True,
    policies: Annotated[bool, typer.Option(help="Learn policies; takes minutes for each.")] = True,
    policy_methods: Annotated[
        str, typer.Option(help="Methods to learn policies for, separated by commas.")
    ] = "budget-rndrnk,budget-nhbrnk,budget-wanted",
    policy_costs: Annotated[
        str,
        typer.Option(
            help="Costs to learn policies for, separated by commas; 'label' needs shared, the paper has unshared."
        ),
    ] = "shared,unshared",
    policy_limit: Annotated[
        float, typer.Option(min=1, help="Seconds of computing for each policy. A bound makes training unrepeatable.")
    ] = math.inf,
    seed: Annotated[int, typer.Option(min=0, help="Seed for learning policies.")] = 0,
    work: Annotated[
        Path | None, typer.Option(help="Folder for intermediate files.", show_default="OUTPUT-work")
    ] = None,
    threads: Threads = None,
) -> None:
    """Learn a model from a split: classifiers, CRF, static plans and policies.

    Without --networks, two networks are trained first. This needs PyTorch (pip install 'budgetseg[train]') and, to be
    quick, a GPU. With --descriptors colour,hog,hof,mbh no network is trained. After an interruption, the same command
    continues where it was.
    """
    from budgetseg.baselines.static import PlanRecipe
    from budgetseg.classifiers.fit import ClassifierRecipe
    from budgetseg.crf.learning import CrfRecipe
    from budgetseg.descriptors.describe import Description
    from budgetseg.learning.policies import PolicyRecipe
    from budgetseg.learning.train import TrainRecipe, train_model
    from budgetseg.networks.recipe import NetworkRecipe
    from budgetseg.supervoxels.tiers import tier_named

    names = None if descriptors is None else parse_names(descriptors)
    plan = Description(dataset, root, (split,), names, networks, per_frame, tier_named(tier).name)
    recipe = TrainRecipe(
        classifiers=ClassifierRecipe(balance=balance),
        crf=CrfRecipe(balance=balance, n_rounds=rounds),
        plans=PlanRecipe(balance=balance) if plans else None,
        networks=NetworkRecipe(n_steps=network_steps, device=device, int8=int8),
        policies=PolicyRecipe(
            balance=balance, methods=parse_names(policy_methods), costs=parse_names(policy_costs), seed=seed
        ).within(policy_limit)
        if policies
        else None,
    )
    with ExitStack() as stages:

        def stage(what: str, total: int | None, unit: str) -> Advance:
            stages.close()  # the one before is done
            return stages.enter_context(progress(what, total, unit))

        place = work or output.with_name(f"{output.name}-work")
        report = train_model(plan, output, place, recipe, cores_for(threads), stage, _tell)
    typer.echo(f"Calibration error of H on held-out folds: {100 * report.calibration_error:.1f} %")
    typer.echo(f"The model is in {output}")


def _tell(line: str) -> None:
    """Print a line on standard error."""
    typer.echo(line, err=True)
