"""Networks for a dataset, trained where a training needs some and has none."""

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

__all__ = ["N_FOLDS", "with_networks"]

N_FOLDS = 4
"""Fold networks, which describe the frames that the others have learned from."""


def with_networks(plan: Description, folder: Path, recipe: NetworkRecipe, cores: int, stage: Stage) -> Description:
    """The plan with networks: its own, or those of its dataset, trained into `folder` if it asks for any.

    Networks that are there already are not trained again.
    """
    asked = NAMES if plan.descriptors is None else plan.descriptors
    if plan.networks is not None or not set(NAMES) & set(asked):
        return plan
    open_descriptors([name for name in asked if name not in NAMES])  # what is unknown is told before the work
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
    advance = stage("networks", (1 + N_FOLDS) * recipe.n_steps, "steps")
    with threadpool_limits(cores):
        fit_networks(footage, dataset.classes, folder, recipe, N_FOLDS, lambda _: None, advance)
    return replace(plan, networks=folder)
