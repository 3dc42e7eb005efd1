"""The public face: `model = budgetseg.load("camvid")`, `result = model.label("drive.mp4", budget_s=10)`.

A model is one that `budgetseg train` made, or networks alone: `budgetseg.load(networks=["big.onnx", "small.onnx"])`.
"""

import atexit
import gc
import logging
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, cast, overload
from weakref import finalize

import numpy as np

from budgetseg.app.ahead import compiled_ahead, is_compiled
from budgetseg.app.backends import Backends, choices_of
from budgetseg.app.expect import budget_of, check_accuracy, promises
from budgetseg.app.marks import ModelMark, mark_of, mark_of_networks
from budgetseg.app.progress import Progress, Tell
from budgetseg.app.sources import Footage, source_of
from budgetseg.app.spaces import AUTO, FRAMES, REGIONS, check_alone, choose_space, needs_regions, space_named
from budgetseg.app.strategy import counted, strategy_of
from budgetseg.crf.moves import update
from budgetseg.descriptors.calibrate import calibrate_new
from budgetseg.descriptors.calibrate import warm_up as warm_up_descriptors
from budgetseg.descriptors.core import Descriptor
from budgetseg.descriptors.network_output import NetworkDescriptor
from budgetseg.descriptors.registry import BUILT_IN, open_descriptors
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result, Results
from budgetseg.engine.run import Earlier, replay, run
from budgetseg.errors import UsageError
from budgetseg.machine import cache_folder
from budgetseg.models.bundle import AnyModel, Model, NetworkModel, load_any
from budgetseg.models.find import bundled_models, find_model
from budgetseg.models.networks import networks_of
from budgetseg.networks.backends.core import Choice
from budgetseg.networks.backends.registry import REFERENCE, Wanted
from budgetseg.networks.inspect import summary
from budgetseg.networks.modules import as_files
from budgetseg.networks.run import TRIED, OnnxNetwork
from budgetseg.networks.together import agreed, bound, marks_of, named_cards
from budgetseg.policy.episode import Selection
from budgetseg.propagate.paint import paint
from budgetseg.spaces.frames import warm_up as frames_warm_up
from budgetseg.spaces.frames.costs import PER_CLASS
from budgetseg.spaces.frames.settings import FrameSettings, Losses
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.regions import warm_up as regions_warm_up
from budgetseg.spaces.regions.space import Regions
from budgetseg.timing.clock import Clock, WallClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget, Classes
from budgetseg.video import VideoSource, open_video

if TYPE_CHECKING:
    from torch.nn import Module

    from budgetseg.app.live import Camera
    from budgetseg.live.loop import LiveFrame

__all__ = ["ALL", "LoadedModel", "load"]

_log = logging.getLogger(__name__)

ALL = Budget(1.0, is_share=True)
"""The full cost: the most that is spent to reach an accuracy."""
FIRST_TRY = 1 / 32
"""Share of the most that the first try for an accuracy may spend; five doublings later it is all."""


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
    networks : the networks of a model of networks alone, if they were opened before
    tell : called with a line on what takes long while it gets ready, once on a machine
    wanted : the back end and the precision of its networks; None for the reference

    Attributes
    ----------
    prices : what work costs on this machine
    loading_s : seconds that loading took
    """

    def __init__(
        self,
        model: AnyModel,
        threads: int = 1,
        policy: str | None = None,
        select: str | None = None,
        space: str = AUTO,
        mark: ModelMark | None = None,
        networks: Mapping[str, OnnxNetwork] | None = None,
        tell: Callable[[str], None] = lambda _: None,
        wanted: Wanted | None = None,
    ) -> None:
        clock = WallClock()
        self._backends = Backends(wanted or Wanted(REFERENCE), threads, tell)
        self.model = model
        self.threads = threads
        self.policy = policy
        self.select = select
        self.mark = mark
        self._tell = tell
        self.prices = Prices.load()
        self.loading_s = 0.0
        self._measured: Prices | None = None
        self._opened = networks
        self._bound: dict[tuple[object, ...], Frames] = {}
        selection = None if select is None else Selection(select)
        self._strategy = strategy_of(model, policy, selection) if isinstance(model, Model) else None
        self.choose(space)
        self.loading_s = clock.now_s()
        atexit.register(self.remember, cache_folder())  # not in `label`: no user should wait for it

    def __repr__(self) -> str:
        return f"<LoadedModel: {self.model.name}, {len(self.classes)} classes, on {self.threads} of the cores>"

    @property
    def digest(self) -> str:
        """Identifies the model; empty if nothing is written to disk."""
        return "" if self.mark is None else self.mark.digest

    @property
    def classes(self) -> Classes:
        """Names and colours of the classes that it predicts."""
        return self.model.classes

    @property
    def trained(self) -> Model:
        """The model as `budgetseg train` made it; UsageError if there are networks alone."""
        if not isinstance(self.model, Model):
            raise UsageError(
                f"'{self.model.name}' has networks alone, and labels by frames; for regions, policies and budgets of "
                "descriptors, give a model that 'budgetseg train' made"
            )
        return self.model

    @cached_property
    def regions(self) -> Regions:
        """The space of supervoxels and descriptors, ready to label."""
        model = self.trained
        assert self._strategy is not None
        _log.info("getting regions ready: compiling if needed, reading or measuring prices")
        descriptors = self._backends.of_descriptors(open_descriptors(model.classifiers.names, model.networks))
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
    def networks(self) -> Mapping[str, OnnxNetwork]:
        """The networks that label frames, by name, with the classes of the model; empty if it has none."""
        if self._opened is not None:
            return self._opened
        return networks_of(self.model)

    def understood(self) -> list[str]:
        """What was understood of each network that labels frames, in a line."""
        return [f"{name}: {summary(network)}" for name, network in self.networks.items()]

    @property
    def frames(self) -> Frames | None:
        """The space of whole frames and networks, ready to label; None if the model has no network for it.

        Where networks take frames of any size, it is that for videos of a usual size.
        """
        return self.frames_for(TRIED)

    def frames_for(self, size: tuple[int, int], video: VideoSource | None = None) -> Frames | None:
        """The space of whole frames for videos of a width and height, ready to label; None without a network.

        What has to be measured for a size is measured the first time that it is asked for, back ends on the video.
        """
        if not self.networks:
            return None
        clock = WallClock()
        choices = self._backends.choices(self.networks, size, video)
        key = *(network.size_for(size) for network in self.networks.values()), *choices.values()
        if key not in self._bound:
            self._bound[key] = self._bind(size, choices)
            self.loading_s += clock.now_s()
        return self._bound[key]

    def _bind(self, size: tuple[int, int], choices: Mapping[str, Choice]) -> Frames:
        """The space for videos of a width and height: compiled, its networks timed and in the order of their prices."""
        by = {name: self._backends.by(name, network, choices[name]) for name, network in self.networks.items()}
        networks = bound(by, size)
        n_classes = len(self.classes)
        keys = {name: f"{name} {network.key}" for name, network in networks.items()}
        keys |= {work: f"{work} of {n_classes} classes" for work in PER_CLASS}
        known = self.model.classifiers.prior if isinstance(self.model, Model) else np.full(n_classes, 1 / n_classes)
        _log.info("getting frames ready for %s: compiling if needed", ", ".join(networks))
        settings = FrameSettings(losses=Losses(gains=self.model.gains))
        space = Frames(networks, known.astype(np.float32), self.prices, self.threads, settings=settings, keys=keys)
        if not is_compiled(paint):
            self._tell("compiling, once on this machine")
        frames_warm_up.warm_up(space)
        if not all(space.costs(1).key(name) in self.prices for name in networks):
            self._tell("timing networks, once on this machine")
        self._keep(frames_warm_up.calibrate(space))
        return space.in_order()

    def choose(self, wanted: str = AUTO, needs: Sequence[str] = ()) -> str:
        """Choose the space that labels, `frames` or `regions`, and load what does not depend on the video.

        Parameters
        ----------
        wanted : a name in `SPACES`
        needs : options given by the user that only `regions` has
        """
        wanted = space_named(wanted)
        needs = [*needs_regions(self.policy, self.select), *needs]
        name = choose_space(wanted, needs, wanted != REGIONS and not needs and bool(self.networks))
        has_sizes = all(network.size is not None for network in self.networks.values())
        if name == REGIONS or (has_sizes and self._backends.are_known(self.networks)):
            _ = self.space(name)
        return name

    def runners(self, name: str, video: VideoSource) -> dict[str, Choice]:
        """What runs each network in a space, for a video that was labelled there."""
        space = self.space_for(name, video)
        if isinstance(space, Frames):
            return choices_of(space.networks)
        return choices_of({own.name: own.network for own in space.descriptors if isinstance(own, NetworkDescriptor)})

    def space(self, name: str) -> Frames | Regions:
        """The space of a name, ready to label; that of frames for videos of a usual size."""
        return self._space(name, TRIED)

    def space_for(self, name: str, video: VideoSource) -> Frames | Regions:
        """The space of a name, ready to label a video."""
        return self._space(name, (video.width, video.height), video)

    def _space(self, name: str, size: tuple[int, int], video: VideoSource | None = None) -> Frames | Regions:
        if name == REGIONS:
            return self.regions
        found = self.frames_for(size, video)
        if found is None:
            raise UsageError("the model has no network for its classes; use --space regions")
        return found

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
        progress: Tell | None = None,
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
        progress: Tell | None = None,
    ) -> Results: ...

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
        progress: Tell | None = None,
    ) -> Result | Results:
        """Label a video within a budget. A list of budgets, in rising order, gives a list of results, from one run.

        Parameters
        ----------
        video : a file, a folder of images, what `open_video` gives, frames (T, H, W, 3) uint8, or frames (H, W, 3) one
            after the other, such as a list or a generator. These are read to the end before the clock starts.
        budget_s : seconds; `math.inf` for no bound
        target_accuracy : instead of a budget, the share of right pixels to aim at, 0 to 1. By frames, budgets are tried
            that double, until so much is expected; see `reach`. By regions, takes the smallest budget of descriptors
            that reached it on training videos
        rate : frames per second of frames in memory; None for 25
        scope : what the budget counts: `total`, from the first frame read to labels ready, or `descriptors` alone
        seed : of all random choices
        stopped : called again and again; once it returns True, no more time is spent
        space : frames, regions, or auto: frames if the model has a network for it and no option needs regions
        engine : another name for `space`, as of the first version
        progress : called ten times a second with the seconds spent so far and those of the largest budget, from any
            thread; infinity for no bound
        """
        is_list = np.ndim(budget_s) > 0
        budgets = _budgets_of(budget_s)
        if target_accuracy is not None:
            check_accuracy(target_accuracy)
            if is_list or budget_s != 10.0:
                raise UsageError("target_accuracy takes no budget_s; give only one of them")
            budgets = (ALL,)
        request = Request(budgets, scope, seed=seed)
        name = self.choose(engine or space, needs_regions(None, None, scope))
        if target_accuracy is not None and name == REGIONS:
            request = Request((budget_of(self.trained, target_accuracy),), "descriptors", seed=seed)
        source = source_of(video, rate)
        largest = request.budgets[-1]
        told = (
            None if progress is None else Progress(progress, math.inf if largest.is_share else largest.amount, stopped)
        )
        asked = stopped if told is None else told.stopped
        if target_accuracy is not None and name != REGIONS:
            found = self.reach(source, request, target_accuracy, asked)
        else:
            found = self.run(source, request, name, asked)
        results = Results(replace(own, source=source) for own in found)
        if told is not None:
            told.finish(results[-1].ledger.spent_s)
        return results if is_list else results[0]

    def stream(
        self,
        source: "Camera | Sequence[str | int]",
        latency_s: float = 0.1,
        *,
        fps: float | None = None,
        as_if_live: bool = False,
        stopped: Callable[[], bool] = lambda: False,
    ) -> "Iterator[LiveFrame]":
        """Label the newest frame of a camera again and again, each within a latency from its arrival.

        A frame that cannot be labelled in time is left out, and counted in `dropped` of the next one. While you work
        on a frame others arrive; you get the newest then. The stream ends with its source, or when you leave the loop.

        Parameters
        ----------
        source : a device number or path, a URL, `-` for a pipe, a file, or what gives frames (H, W, 3) uint8, red
            first, or pairs of a time in seconds and a frame; a list of numbers, paths and URLs is several sources
        latency_s : seconds from the arrival of a frame to its labels, at most
        fps : frames a second of a source to label, at most; None for all
        as_if_live : treat a file as a camera: each frame arrives at its own time
        stopped : called again and again; once it returns True, the stream ends
        """
        from budgetseg.app.live import LiveOrder, frames_of, live_of

        are_several = isinstance(source, list | tuple) and all(isinstance(own, str | int) for own in source)
        sources = cast("Sequence[Camera]", source) if are_several else [cast("Camera", source)]
        return frames_of(live_of(self, sources, LiveOrder(latency_s, fps, as_if_live), stopped))

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
        source = video if isinstance(video, VideoSource) else open_video(video)
        labelling_space = self._space_again(space, source, earlier)
        clock = clock or WallClock()
        failed = False
        try:
            results = run(labelling_space, source, request, self.classes, clock, lambda: failed or stopped(), earlier)
        except BaseException:
            failed = True  # other threads would go on until the budget is spent, and the program would wait for them
            raise
        expected = promises(self.model, labelling_space, source, request, results)
        return [replace(result, expected=own) for result, own in zip(results, expected, strict=True)]

    def reach(
        self,
        source: VideoSource,
        request: Request,
        accuracy: float,
        stopped: Callable[[], bool] = lambda: False,
        tell: Callable[[str], None] = lambda _: None,
    ) -> list[Result]:
        """Label a video by frames until a share `accuracy` of the pixels, 0 to 1, is expected to be right.

        Runs are tried with budgets that double, from a small share of the budget of the request, which is the most that
        is spent. Each begins anew. What the last one gives is returned, as by `run`.
        """
        if self.model.calibration is None:
            raise UsageError(
                f"model '{self.model.name}' has no calibration to predict its accuracy by frames; give a budget instead"
            )
        (most,) = request.budgets
        share = FIRST_TRY
        while True:
            budget = replace(most, amount=min(share, 1.0) * most.amount)
            tell(f"trying {100 * min(share, 1.0):.0f} % of what everything costs")
            results = self.run(source, replace(request, budgets=(budget,)), FRAMES, stopped)
            expected = results[-1].expected
            is_reached = expected is not None and expected.in_domain is True and expected.accuracy >= accuracy
            if is_reached or stopped() or share >= 1 or not results[-1].ledger.work_left:
                break
            share *= 2
        if not is_reached:
            results[-1].ledger.note(f"{100 * accuracy:g} % of the pixels right is not what to expect here")
        return results

    def replay(
        self, source: VideoSource, request: Request, space: str, earlier: Earlier, n_frames: int
    ) -> list[Result]:
        """Replay an earlier run on a video of n_frames frames. Returns a result for each budget."""
        return replay(self._space_again(space, source, earlier), source, request, self.classes, earlier, n_frames)

    def _space_again(self, name: str, source: VideoSource, earlier: Earlier | None) -> Frames | Regions:
        """The space for a video, with its networks in the order of an earlier run: prices may have changed since."""
        space = self.space_for(name, source)
        if isinstance(space, Frames) and earlier is not None and earlier.sources:
            return space.in_order(earlier.sources)
        return space

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
    name: str | Path | None = None,
    threads: int | None = None,
    policy: str | None = None,
    select: str | None = None,
    space: str = AUTO,
    engine: str | None = None,
    networks: "str | Path | Module | Sequence[str | Path | Module]" = (),
    tell: Callable[[str], None] = lambda _: None,
    wanted: Wanted | None = None,
) -> LoadedModel:
    """Load a model, or networks alone, and get it ready to label.

    Parameters
    ----------
    name : of a bundled model, or the folder of another one; None if `networks` are given
    threads : cores to use; None for all
    policy : which policy decides about descriptors: learned, static or random; None for the best that the model has
    select : which supervoxels are considered first; None for the order of the policy
    space : the space to load now, frames, regions or auto; the other is loaded on first use
    engine : another name for `space`, as of the first version
    networks : ONNX files, their TOML cards, or torch modules, to label with in place of a model; a single one needs no
        list
    tell : called with a line on what takes long, once on a machine
    wanted : the back end and the precision of networks; None for the fastest of those that agree

    Examples
    --------
    >>> model = load("camvid")  # doctest: +SKIP
    >>> model.label("drive.mp4", budget_s=10).labels.shape  # doctest: +SKIP
    (250, 272, 640)
    """
    threads = threads or os.cpu_count() or 1
    wanted = wanted or Wanted()
    wanted.check()
    given = networks if isinstance(networks, Sequence) and not isinstance(networks, str) else [networks]
    if given:
        if name is not None:
            raise UsageError("a model and networks cannot be combined; give one of them")
        check_alone(needs_regions(policy, select), engine or space)
        with ExitStack() as stack:
            folder = Path(stack.enter_context(TemporaryDirectory(prefix="budgetseg-")))
            loaded = _load_networks(as_files(given, folder), threads, tell, wanted)
            finalize(loaded, stack.pop_all().close)  # other sizes of video read exported modules again
        return loaded
    if name is None:
        raise UsageError("a model is missing; give the name of one, its folder, or networks")
    folder = find_model(name)
    model = load_any(folder)
    _log.info("model '%s' from %s", model.name, folder)
    mark = mark_of(model, folder, name in bundled_models())
    loaded = LoadedModel(model, threads, policy, select, engine or space, mark, tell=tell, wanted=wanted)
    _log.info("ready after %.2f s", loaded.loading_s)
    return loaded


def _load_networks(
    paths: Sequence[str | Path], threads: int, tell: Callable[[str], None], wanted: Wanted
) -> LoadedModel:
    """Networks in place of a model."""
    clock = WallClock()
    cards = named_cards(paths)
    networks = agreed({name: OnnxNetwork(card) for name, card in cards.items()})
    classes = Classes.of(next(iter(networks.values())).names)
    mark = mark_of_networks(marks_of(networks, paths), classes)
    opened_s = clock.now_s()
    model = NetworkModel(mark.name, classes, {name: network.card for name, network in networks.items()})
    loaded = LoadedModel(model, threads, mark=mark, networks=networks, tell=tell, wanted=wanted)
    loaded.loading_s += opened_s
    for line in loaded.understood():
        _log.info("network %s", line)
    _log.info("ready after %.2f s", loaded.loading_s)
    return loaded


def _budgets_of(budget_s: object) -> tuple[Budget, ...]:
    """Budgets in seconds, from one number or several; UsageError for anything else."""
    try:
        seconds = np.atleast_1d(np.asarray(budget_s, np.float64))
    except (TypeError, ValueError):
        seconds = np.array([np.nan])
    if seconds.ndim > 1 or np.isnan(seconds).any():
        raise UsageError(f"budget_s must be seconds, or a list of them. Got {budget_s!r}; for example 10 or [1, 3, 10]")
    return tuple(Budget(amount) for amount in seconds.tolist())


def _is_foreign(descriptor: Descriptor) -> bool:
    """Whether a descriptor comes from another package."""
    return descriptor.name not in BUILT_IN and not isinstance(descriptor, NetworkDescriptor)
