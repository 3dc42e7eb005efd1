"""Train networks for a dataset if a training needs some and has none."""

from dataclasses import replace
from pathlib import Path

from threadpoolctl import threadpool_limits

from budgetseg.datasets import open_dataset
from budgetseg.descriptors.describe import Description
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.errors import UsageError
from budgetseg.learning.stages import Stage
from budgetseg.networks import NAMES
from budgetseg.networks.recipe import NetworkRecipe

__all__ = ["with_networks"]


def with_networks(
    plan: Description, folder: Path, recipe: NetworkRecipe, cores: int, stage: Stage, n_folds: int = 4
) -> Description:
    """The plan with networks: its own, or networks trained on its dataset if it asks for any.

    Parameters
    ----------
    plan : what is to be described, and with which descriptors
    folder : for trained networks; those that are there already are not trained again
    recipe : settings of the training
    cores : to train with
    stage : reports progress
    n_folds : number of networks that are each trained without a part of the videos, and describe that part
    """
    asked = NAMES if plan.descriptors is None else plan.descriptors
    if plan.networks is not None or not set(NAMES) & set(asked):
        return plan
    open_descriptors([name for name in asked if name not in NAMES])  # raises for unknown names before the training
    try:
        from budgetseg.networks.fit import fit_networks, footage_of
        from budgetseg.networks.training import check_device
    except ImportError as error:
        raise UsageError(
            f"training networks needs {error.name}; pip install 'budgetseg[train]', or give --networks, "
            "or use no network: --descriptors colour,hog,hof,mbh"
        ) from error
    check_device(recipe.device)
    dataset = open_dataset(plan.dataset, plan.root)
    footage = footage_of(video for split in dict.fromkeys(plan.splits) for video in dataset.videos(split))
    advance = stage("networks", (1 + n_folds) * recipe.n_steps * len(recipe.parts()), "steps")
    with threadpool_limits(cores):
        fit_networks(footage, dataset.classes, folder, recipe, n_folds, lambda _: None, advance)
    return replace(plan, networks=folder)
