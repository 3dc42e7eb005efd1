"""`budgetseg train`: a model from labelled videos."""

import math
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import Advance, progress
from budgetseg.cli.options import cores_for, parse_names

__all__ = ["train"]


def train(
    dataset: Annotated[
        str,
        typer.Argument(
            help="A dataset; see 'budgetseg datasets'.", show_default=False, autocompletion=one_of("dataset")
        ),
    ],
    root: Annotated[Path | None, typer.Option(help="The folder that holds the dataset.")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the model.")] = Path("model"),
    networks: Annotated[
        Path | None,
        typer.Option(
            help="Folder of networks, as 'budgetseg train-network --folds 4' writes it.", show_default="train them"
        ),
    ] = None,
    network_steps: Annotated[
        int, typer.Option(min=1, help="Batches of 16 frames for each network to be trained.")
    ] = 6000,
    device: Annotated[
        str, typer.Option(help="For networks to be trained: 'cuda' takes minutes each, 'cpu' a day.")
    ] = "cpu",
    int8: Annotated[
        bool, typer.Option("--int8", help="Large networks to be trained get 8-bit convolutions: half the time.")
    ] = False,
    split: Annotated[str, typer.Option(help="The split to learn from.")] = "train",
    descriptors: Annotated[
        str | None, typer.Option(help="Names with commas between them.", show_default="all, networks included")
    ] = None,
    per_frame: Annotated[
        int | None, typer.Option(min=1, help="Supervoxels a frame.", show_default="25 to 200, by size and frame rate")
    ] = None,
    tier: Annotated[
        str, typer.Option(help="Supervoxels: 'quality' or 'fast'.", autocompletion=one_of("tier"))
    ] = "quality",
    balance: Annotated[
        float, typer.Option(min=0, max=1, help="0 for most pixels right, 1 for all classes equally right.")
    ] = 0.5,
    rounds: Annotated[
        int,
        typer.Option(min=0, help="Of learning the CRF's prices; 0 keeps one hand-set price for all pairs of classes."),
    ] = 20,
    plans: Annotated[
        bool, typer.Option(help="Choose static plans at the end, for runs without a learned policy; takes minutes.")
    ] = True,
    policies: Annotated[
        bool, typer.Option(help="Learn policies at the end, for every budget; takes minutes each, a line a round.")
    ] = True,
    policy_methods: Annotated[
        str, typer.Option(help="Which of them: budget-rndrnk, budget-nhbrnk, budget-wanted; with commas.")
    ] = "budget-rndrnk,budget-nhbrnk,budget-wanted",
    policy_costs: Annotated[
        str, typer.Option(help="For which costs: shared, what 'label' needs, or as in the paper unshared; with commas.")
    ] = "shared,unshared",
    policy_limit: Annotated[
        float, typer.Option(min=1, help="Seconds of computing for each policy; then it is not the same twice.")
    ] = math.inf,
    seed: Annotated[int, typer.Option(min=0, help="Of learning policies.")] = 0,
    work: Annotated[
        Path | None, typer.Option(help="Folder for what is in the making.", show_default="OUTPUT-work")
    ] = None,
    threads: Annotated[int | None, typer.Option(min=1, help="Cores to use.", show_default="all")] = None,
) -> None:
    """Describe all videos of a split, learn classifiers, CRF and policies, choose static plans, and write a model.

    Without --networks they are trained first, which needs PyTorch, pip install 'budgetseg[train]', and had better have
    a GPU; --descriptors colour,hog,hof,mbh does without them. After an interruption, the same command goes on where it
    was.
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
    typer.echo(f"Calibration error of H on unseen folds: {100 * report.calibration_error:.1f} %")
    typer.echo(f"The model is in {output}")


def _tell(line: str) -> None:
    """To the terminal, beside the answer."""
    typer.echo(line, err=True)
