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
from budgetseg.inference.episode import Selection
from budgetseg.inference.label import Earlier, Labelled, Request, label_video
from budgetseg.inference.stages import StageCosts
from budgetseg.inference.warm import calibrate_stages, warm_up
from budgetseg.inference.window import Engine
from budgetseg.labelling.strategy import counted, strategy_of
from budgetseg.machine import cache_folder
from budgetseg.models.bundle import Model
from budgetseg.video import VideoSource, open_video

__all__ = ["Labeller"]


class Labeller:
    """Ready to label: everything is compiled, loaded and priced, so that a clock can start.

    Parameters
    ----------
    model : what it knows
    threads : cores to use
    policy : who decides which descriptors, a name in `POLICIES`; None for the best that the model has
    selection : which supervoxels first; as suits who decides, if None
    """

    def __init__(
        self, model: Model, threads: int = 1, policy: str | None = None, selection: Selection | None = None
    ) -> None:
        strategy = strategy_of(model, policy, selection)  # refuses before the work
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
            strategy,
            str(model.settings["tier"]),
            threads,
            guarded,
            model.classifiers.subset_of(counted(model)),
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
