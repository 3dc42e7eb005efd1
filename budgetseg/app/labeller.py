"""A model at work: videos in, labels out, within a budget."""

import atexit
import gc
import logging
from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from budgetseg.app.ahead import compiled_ahead
from budgetseg.app.engines import AUTO, FRAMES, SUPERVOXELS, choose_engine, is_possible
from budgetseg.app.strategy import counted, strategy_of
from budgetseg.descriptors.calibrate import calibrate_new
from budgetseg.descriptors.calibrate import warm_up as warm_up_descriptors
from budgetseg.descriptors.core import Descriptor
from budgetseg.descriptors.network.descriptor import NetworkDescriptor
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors, open_networks
from budgetseg.engine.labelled import Earlier, Labelled
from budgetseg.engine.request import Request
from budgetseg.frames.engine import FrameEngine, fitting
from budgetseg.frames.label import ByFrames, WindowTrace, label_frames
from budgetseg.frames.warm import calibrate_frames, warm_up_frames
from budgetseg.inference.stages import StageCosts
from budgetseg.machine import cache_folder
from budgetseg.models.bundle import Model
from budgetseg.policy.episode import Selection
from budgetseg.spaces.regions.label import label_video
from budgetseg.spaces.regions.space import Engine
from budgetseg.spaces.regions.warm_up import calibrate_stages, warm_up
from budgetseg.timing.clock import WallClock
from budgetseg.timing.prices import Prices
from budgetseg.video import VideoSource, open_video

__all__ = ["Labeller"]

_log = logging.getLogger(__name__)


class Labeller:
    """Ready to label: everything is compiled, loaded and priced, so that a clock can start.

    Parameters
    ----------
    model : what it knows
    threads : cores to use
    policy : who decides which descriptors, a name in `POLICIES`; None for the best that the model has
    selection : which supervoxels first; as suits who decides, if None
    engine : that is made ready now; the other is when it is first asked for
    """

    def __init__(
        self,
        model: Model,
        threads: int = 1,
        policy: str | None = None,
        selection: Selection | None = None,
        engine: str = SUPERVOXELS,
    ) -> None:
        self.model, self.threads = model, threads
        self._strategy = strategy_of(model, policy, selection)  # refuses before the work
        self._stages = StageCosts.load()
        self.prices = Prices.load()
        self._measured: Prices | None = None
        self.choose(engine)
        atexit.register(self.remember, cache_folder())  # not in `label`: no user should wait for it

    @cached_property
    def engine(self) -> Engine:
        """That labels supervoxels."""
        model = self.model
        _log.info(
            "supervoxels are made ready: code is compiled where it is not in the cache, costs are read or measured"
        )
        descriptors = open_descriptors(model.classifiers.names, model.networks)
        with compiled_ahead():
            warm_up_descriptors(descriptors)
        is_new = calibrate_new(descriptors, self.prices)
        guarded = [descriptor.name for descriptor in descriptors if _is_foreign(descriptor)]
        engine = Engine(
            model.classifiers,
            model.crf,
            descriptors,
            self.prices,
            self._strategy,
            str(model.settings["tier"]),
            self.threads,
            guarded,
            model.classifiers.subset_of(counted(model)),
        )
        for tier in engine.tiers:  # any may label, by the budget
            own = engine.of_tier(tier)
            warm_up(own)
            is_new |= calibrate_stages(own)
        if is_new:
            self.prices.save()  # who is killed need not measure again
        self._measured = self.prices.freeze()
        _forget_garbage()
        return engine

    @cached_property
    def frames(self) -> FrameEngine | None:
        """That labels frames; None where the model has no network that can."""
        networks = fitting(open_networks(self.model.classifiers.names, self.model.networks), self.model.classes)
        if not networks:
            return None
        _log.info("frames are made ready for %s: code is compiled where it is not in the cache", ", ".join(networks))
        prior = self.model.classifiers.prior.astype(np.float32)
        engine = FrameEngine(networks, prior, self._stages, self.threads)
        warm_up_frames(engine)
        if calibrate_frames(engine):
            self._stages.save()
        _forget_garbage()
        return engine

    def choose(self, wanted: str = AUTO, needs: Sequence[str] = ()) -> str:
        """The engine that labels, ready: `frames` or `supervoxels`; `needs` are options that take supervoxels."""
        has_network = is_possible(wanted, needs) and self.frames is not None
        name = choose_engine(wanted, needs, has_network)
        if name == SUPERVOXELS:
            _ = self.engine
        return name

    def label(
        self,
        video: str | Path | VideoSource,
        request: Request,
        stopped: Callable[[], bool] = lambda: False,
        earlier: Earlier | None = None,
    ) -> Labelled:
        """Labels of a video by its supervoxels."""
        engine, clock = self.engine, WallClock()
        source = video if isinstance(video, VideoSource) else open_video(video)
        return label_video(engine, source, request, stopped, earlier, clock)

    def label_frames(
        self,
        video: str | Path | VideoSource,
        request: Request,
        stopped: Callable[[], bool] = lambda: False,
        earlier: Sequence[WindowTrace] = (),
    ) -> ByFrames:
        """Labels of a video by whole frames."""
        self.choose(FRAMES)
        engine = self.frames
        assert engine is not None
        source = video if isinstance(video, VideoSource) else open_video(video)
        return label_frames(engine, source, request, stopped, earlier)

    def remember(self, folder: Path) -> None:
        """Keep what was learned of stages for the next time; done at the end of the program.

        Costs of descriptors begin anew, as they were measured at first: hours of runs beside other programs had left
        them three times too low, and shares of the full cost with them.
        """
        if folder.is_dir():
            self._stages.save(folder)
            if self._measured is not None:
                self.prices.forget_calls(self._measured)
                self.prices.save(folder)


def _forget_garbage() -> None:
    """What is loaded stays: to look through it for garbage takes a tenth of a second each time."""
    gc.collect()
    gc.freeze()


def _is_foreign(descriptor: Descriptor) -> bool:
    """Whether it comes from another package."""
    return descriptor.name not in BUILT_IN and not isinstance(descriptor, NetworkDescriptor)
