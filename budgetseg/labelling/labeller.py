"""A model at work: videos in, labels out, within a budget."""

import atexit
import gc
import time
from collections.abc import Callable
from pathlib import Path

from budgetseg.descriptors.calibrate import known_costs, save_costs
from budgetseg.descriptors.calibrate import warm_up as warm_up_descriptors
from budgetseg.descriptors.core import Descriptor
from budgetseg.descriptors.network.descriptor import NetworkDescriptor
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.errors import UsageError
from budgetseg.inference.episode import Chooser, Selection
from budgetseg.inference.label import Earlier, Labelled, Request, label_video
from budgetseg.inference.stages import StageCosts
from budgetseg.inference.warm import calibrate_stages, warm_up
from budgetseg.inference.window import Engine, Strategy
from budgetseg.machine import cache_folder
from budgetseg.models.bundle import Model
from budgetseg.policy import plan_policy
from budgetseg.policy.static import nearest_plan
from budgetseg.video import VideoSource, open_video

__all__ = ["Labeller"]


class Labeller:
    """Ready to label: everything is compiled, loaded and priced, so that a clock can start.

    Parameters
    ----------
    model : what it knows
    threads : cores to use
    policy : which descriptors; the model's plan for the budget if None
    selection : which supervoxels first; as the plan says, or any, if None
    """

    def __init__(
        self, model: Model, threads: int = 1, policy: Chooser | None = None, selection: Selection | None = None
    ) -> None:
        descriptors = open_descriptors(model.classifiers.names, model.networks)
        warm_up_descriptors(descriptors)
        costs = known_costs(descriptors)
        guarded = [descriptor.name for descriptor in descriptors if _is_foreign(descriptor)]
        self.model = model
        self.engine = Engine(
            model.classifiers,
            model.crf,
            descriptors,
            costs,
            StageCosts.load(),
            _strategy(model, policy, selection),
            str(model.settings["tier"]),
            threads,
            guarded,
            model.classifiers.subset_of(_counted(model)),
        )
        warm_up(self.engine)
        calibrate_stages(self.engine)
        gc.collect()
        gc.freeze()  # what is loaded stays: to look through it for garbage takes a tenth of a second each time
        atexit.register(self.remember, cache_folder())  # not in `label`: no user should wait for it

    def label(
        self,
        video: str | Path | VideoSource,
        request: Request,
        stopped: Callable[[], bool] = lambda: False,
        earlier: Earlier | None = None,
    ) -> Labelled:
        """Labels of a video."""
        started = time.perf_counter()
        source = video if isinstance(video, VideoSource) else open_video(video)
        return label_video(self.engine, source, request, stopped, earlier, started)

    def remember(self, folder: Path) -> None:
        """Keep what was learned of this machine's speed for the next time; done at the end of the program."""
        if folder.is_dir():
            save_costs(self.engine.costs, folder)
            self.engine.stages.save(folder)


def _is_foreign(descriptor: Descriptor) -> bool:
    """Whether it comes from another package."""
    return descriptor.name not in BUILT_IN and not isinstance(descriptor, NetworkDescriptor)


def _strategy(model: Model, policy: Chooser | None, selection: Selection | None) -> Strategy:
    """The plan that the model has for about such a share, where nothing else is asked for."""
    h = model.classifiers
    usual = policy or _plan(model)

    def strategy(share: float) -> tuple[Chooser, Selection]:
        plan = None if policy else nearest_plan(model.plans, share, _counted(model))
        if plan is None:
            return usual, selection or Selection()
        return plan.policy(h.names, h.n_labels), selection or plan.selection

    return strategy


def _counted(model: Model) -> list[str]:
    """Descriptors that make up the full cost: the large network is for whoever has time to spare."""
    return [name for name in model.classifiers.names if name != "dcnn_large"]


def _plan(model: Model) -> Chooser:
    """Colour, texture and the network, as far as the model has them."""
    h = model.classifiers
    wanted = [d for d, name in enumerate(h.names) if name in ("colour", "hog", "dcnn")] or list(range(len(h.names)))
    if not wanted:
        raise UsageError(f"model '{model.name}' has no descriptor to compute")
    return plan_policy(wanted, len(h.names), h.n_labels)
