"""The public face: `model = budgetseg.load("camvid")`, `result = model.label("drive.mp4", budget_s=10)`."""

import atexit
import gc
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import overload

import numpy as np

from budgetseg.app.ahead import compiled_ahead, is_compiled
from budgetseg.app.expect import budget_of
from budgetseg.app.marks import ModelMark, mark_of
from budgetseg.app.sources import Footage, source_of
from budgetseg.app.spaces import AUTO, REGIONS, choose_space, needs_regions, space_named
from budgetseg.app.strategy import counted, strategy_of
from budgetseg.crf.moves import update
from budgetseg.descriptors.calibrate import calibrate_new
from budgetseg.descriptors.calibrate import warm_up as warm_up_descriptors
from budgetseg.descriptors.core import Descriptor
from budgetseg.descriptors.network_output import NetworkDescriptor
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors, open_networks
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import Earlier, replay, run
from budgetseg.errors import UsageError
from budgetseg.machine import cache_folder
from budgetseg.models.bundle import Model, load_model
from budgetseg.models.find import bundled_models, find_model
from budgetseg.networks.run import OnnxNetwork
from budgetseg.policy.episode import Selection
from budgetseg.propagate.paint import paint
from budgetseg.spaces.frames import warm_up as frames_warm_up
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.regions import warm_up as regions_warm_up
from budgetseg.spaces.regions.space import Regions
from budgetseg.timing.clock import Clock, WallClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget, Classes
from budgetseg.video import VideoSource, open_video

__all__ = ["LoadedModel", "load"]

_log = logging.getLogger(__name__)


class LoadedModel:
    """A model that is ready to label: loaded, compiled, and priced on this machine, so that a clock can start.

    Parameters
    ----------
    model : the model bundle
    threads : cores to use
    policy : name of the policy that decides about descriptors; None for the best that the model has
    select : name of the order in which supervoxels are considered; None for that of the policy
    space : the space to load now, a name in `SPACES`; the other is loaded on first use
    mark : identifies the model in traces; None if nothing is written to disk
    tell : called with a line on what takes long while it gets ready, once on a machine

    Attributes
    ----------
    prices : what work costs on this machine
    loading_s : seconds that loading took
    """

    def __init__(
        self,
        model: Model,
        threads: int = 1,
        policy: str | None = None,
        select: str | None = None,
        space: str = AUTO,
        mark: ModelMark | None = None,
        tell: Callable[[str], None] = lambda _: None,
    ) -> None:
        clock = WallClock()
        self.model = model
        self.threads = threads
        self.policy = policy
        self.select = select
        self.mark = mark
        self._tell = tell
        self.prices = Prices.load()
        self._strategy = strategy_of(model, policy, None if select is None else Selection(select))
        self._measured: Prices | None = None
        self.choose(space)
        self.loading_s = clock.now_s()
        atexit.register(self.remember, cache_folder())  # not in `label`: no user should wait for it

    @property
    def classes(self) -> Classes:
        """Names and colours of the classes that it predicts."""
        return self.model.classes

    @cached_property
    def regions(self) -> Regions:
        """The space of supervoxels and descriptors, ready to label."""
        model = self.model
        _log.info("getting regions ready: compiling if needed, reading or measuring prices")
        descriptors = open_descriptors(model.classifiers.names, model.networks)
        if not is_compiled(update):
            self._tell("compiling, once on this machine: about a minute")
        with compiled_ahead():
            warm_up_descriptors(descriptors)
        if not all(descriptor.name in self.prices for descriptor in descriptors):
            self._tell("timing descriptors, once on this machine")
        is_new = calibrate_new(descriptors, self.prices)
        space = Regions(
            model.classifiers,
            model.crf,
            descriptors,
            self.prices,
            self._strategy,
            str(model.settings["tier"]),
            self.threads,
            [descriptor.name for descriptor in descriptors if _is_foreign(descriptor)],
            model.classifiers.subset_of(counted(model)),
        )
        for tier in space.tiers:  # the budget decides which one labels
            tier_space = space.of_tier(tier)
            regions_warm_up.warm_up(tier_space)
            is_new |= regions_warm_up.calibrate(tier_space)
        self._keep(is_new)
        self._measured = self.prices.freeze()
        return space

    @cached_property
    def frames(self) -> Frames | None:
        """The space of whole frames and networks, ready to label; None if the model has no network for it."""
        networks = _fitting(open_networks(self.model.classifiers.names, self.model.networks), self.model.classes)
        if not networks:
            return None
        _log.info("getting frames ready for %s: compiling if needed", ", ".join(networks))
        shares = self.model.classifiers.prior.astype(np.float32)
        space = Frames(networks, shares, self.prices, self.threads)
        if not is_compiled(paint):
            self._tell("compiling, once on this machine")
        frames_warm_up.warm_up(space)
        if not all(space.costs(1).key(name) in self.prices for name in networks):
            self._tell("timing networks, once on this machine")
        self._keep(frames_warm_up.calibrate(space))
        by_price = sorted(networks, key=lambda name: space.costs(1).network_s(name))
        return Frames({name: networks[name] for name in by_price}, shares, self.prices, self.threads)

    def choose(self, wanted: str = AUTO, needs: Sequence[str] = ()) -> str:
        """Choose the space that labels, `frames` or `regions`, and load it.

        Parameters
        ----------
        wanted : a name in `SPACES`
        needs : options given by the user that only `regions` has
        """
        wanted = space_named(wanted)
        needs = [*needs_regions(self.policy, self.select), *needs]
        name = choose_space(wanted, needs, wanted != REGIONS and not needs and self.frames is not None)
        _ = self.space(name)
        return name

    def space(self, name: str) -> Frames | Regions:
        """The space of a name, ready to label."""
        if name == REGIONS:
            return self.regions
        if self.frames is None:
            raise UsageError("the model has no network for its classes; use --space regions")
        return self.frames

    @overload
    def label(
        self,
        video: Footage,
        budget_s: float = 10.0,
        *,
        target_accuracy: float | None = None,
        rate: float | None = None,
        scope: str = "total",
        seed: int = 0,
        stopped: Callable[[], bool] = ...,
        space: str = AUTO,
        engine: str | None = None,
    ) -> Result: ...

    @overload
    def label(
        self,
        video: Footage,
        budget_s: Sequence[float],
        *,
        rate: float | None = None,
        scope: str = "total",
        seed: int = 0,
        stopped: Callable[[], bool] = ...,
        space: str = AUTO,
        engine: str | None = None,
    ) -> list[Result]: ...

    def label(
        self,
        video: Footage,
        budget_s: float | Sequence[float] = 10.0,
        *,
        target_accuracy: float | None = None,
        rate: float | None = None,
        scope: str = "total",
        seed: int = 0,
        stopped: Callable[[], bool] = lambda: False,
        space: str = AUTO,
        engine: str | None = None,
    ) -> Result | list[Result]:
        """Label a video within a budget. A list of budgets, in rising order, gives a list of results, from one run.

        Parameters
        ----------
        video : a file, a folder of images, what `open_video` gives, frames (T, H, W, 3) uint8, or frames (H, W, 3) one
            after the other, such as a list or a generator. These are read to the end before the clock starts.
        budget_s : seconds; `math.inf` for no bound
        target_accuracy : instead of a budget, the share of right pixels to aim at, 0 to 1: takes the smallest budget of
            descriptors that reached it on training videos
        rate : frames per second of frames in memory; None for 25
        scope : what the budget counts: `total`, from the first frame read to labels ready, or `descriptors` alone
        seed : of all random choices
        stopped : called again and again; once it returns True, no more time is spent
        space : frames, regions, or auto: frames if the model has a network for it and no option needs regions
        engine : another name for `space`, as of the first version
        """
        is_list = np.ndim(budget_s) > 0
        budgets = tuple(Budget(float(seconds)) for seconds in np.atleast_1d(budget_s))
        if target_accuracy is not None:
            if is_list or budget_s != 10.0:
                raise UsageError("target_accuracy takes no budget_s; give only one of them")
            budgets = (budget_of(self.model, target_accuracy),)
            scope = "descriptors"
        request = Request(budgets, scope, seed=seed)
        source = source_of(video, rate)
        name = self.choose(engine or space, needs_regions(None, None, scope))
        results = self.run(source, request, name, stopped)
        return results if is_list else results[0]

    def run(
        self,
        video: str | Path | VideoSource,
        request: Request,
        space: str = REGIONS,
        stopped: Callable[[], bool] = lambda: False,
        earlier: Earlier | None = None,
        clock: Clock | None = None,
    ) -> list[Result]:
        """Label a video in a space. Returns a result for each budget of the request."""
        labelling_space = self.space(space)
        clock = clock or WallClock()
        source = video if isinstance(video, VideoSource) else open_video(video)
        failed = False
        try:
            return run(labelling_space, source, request, self.classes, clock, lambda: failed or stopped(), earlier)
        except BaseException:
            failed = True  # other threads would go on until the budget is spent, and the program would wait for them
            raise

    def replay(
        self, source: VideoSource, request: Request, space: str, earlier: Earlier, n_frames: int
    ) -> list[Result]:
        """Replay an earlier run on a video of n_frames frames. Returns a result for each budget."""
        return replay(self.space(space), source, request, self.classes, earlier, n_frames)

    def remember(self, folder: Path) -> None:
        """Save the prices of stages for later programs, at the end of this one.

        Prices of descriptors are saved as they were first measured: after hours of runs beside other programs they
        were three times too low, and with them the shares of the full cost.
        """
        if folder.is_dir():
            if self._measured is not None:
                self.prices.forget_calls(self._measured)
            self.prices.save(folder)

    def _keep(self, is_new: bool) -> None:
        if is_new:
            self.prices.save()  # now, since a program that is killed does not get to its end
        gc.collect()
        gc.freeze()  # what is loaded stays: searching it for garbage takes a tenth of a second each time


def load(
    name: str | Path,
    threads: int | None = None,
    policy: str | None = None,
    select: str | None = None,
    space: str = AUTO,
    engine: str | None = None,
    tell: Callable[[str], None] = lambda _: None,
) -> LoadedModel:
    """Load a model and get it ready to label.

    Parameters
    ----------
    name : of a bundled model, or the folder of another one
    threads : cores to use; None for all
    policy : which policy decides about descriptors: learned, static or random; None for the best that the model has
    select : which supervoxels are considered first; None for the order of the policy
    space : the space to load now, frames, regions or auto; the other is loaded on first use
    engine : another name for `space`, as of the first version
    tell : called with a line on what takes long, once on a machine

    Examples
    --------
    >>> model = load("camvid")  # doctest: +SKIP
    >>> model.label("drive.mp4", budget_s=10).labels.shape  # doctest: +SKIP
    (250, 272, 640)
    """
    folder = find_model(name)
    model = load_model(folder)
    _log.info("model '%s' of %s from %s", model.name, ", ".join(model.classifiers.names), folder)
    mark = mark_of(model, folder, name in bundled_models())
    loaded = LoadedModel(model, threads or os.cpu_count() or 1, policy, select, engine or space, mark, tell)
    _log.info("ready after %.2f s", loaded.loading_s)
    return loaded


def _fitting(networks: Mapping[str, OnnxNetwork], classes: Classes) -> dict[str, OnnxNetwork]:
    """Networks that predict a model's classes, one channel for each, and whose outputs have the size of the first."""
    unnamed = tuple(str(k) for k in range(len(classes)))
    fit = {name: network for name, network in networks.items() if network.names in (classes.names, unnamed)}
    shapes = [network.shape for network in fit.values()]
    return {name: network for name, network in fit.items() if network.shape == shapes[0]}


def _is_foreign(descriptor: Descriptor) -> bool:
    """Whether a descriptor comes from another package."""
    return descriptor.name not in BUILT_IN and not isinstance(descriptor, NetworkDescriptor)
