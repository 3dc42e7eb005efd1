"""Streets, models that nobody trained, and descriptors that take as long as a test says."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from threading import Event
from typing import Any

import numpy as np

from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.descriptors.core import Descriptor, Key, Resource, Scene, Value
from budgetseg.descriptors.registry import BUILT_IN
from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import run
from budgetseg.engine.window import Window
from budgetseg.models.bundle import Model
from budgetseg.policy.episode import Selection
from budgetseg.policy.linear import plan_policy
from budgetseg.spaces.regions.space import Regions, Strategy
from budgetseg.spaces.regions.state import RegionState
from budgetseg.timing.clock import Clock, CostClock
from budgetseg.timing.deadline import LateError
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import FIELDS, Prices
from budgetseg.types import Budget, Float32, UInt8
from budgetseg.video import Frame, VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from tests.models.made import random_model
from tests.spaces.clocks import LONG_S, ChargedClock

SIZE = (96, 64)
N_FRAMES = 16
N_PIXELS = SIZE[0] * SIZE[1]
SHAPE = (N_FRAMES, SIZE[1], SIZE[0])
NAMES = ("colour", "hog")

FRAME_S = {"decode .array": 1e-3, "supervoxels fast 1": 2e-3, "preparation": 2e-4, "pixels": 2e-4, "carrying": 1e-4}
"""Seconds of stages, a frame of this size."""
REGION_S = {"interpolation": 5e-6, "potentials": 1e-5, "expansion": 2e-5, "asking H": 2e-6}
"""Seconds of stages, a supervoxel."""
CALLS = {"colour": (2e-5, 1e-8), "hog": (5e-5, 1e-8), "hog cells": (1e-4, 0.0), "network": (2e-5, 0.0)}
"""Seconds of a call, and a unit of its work."""
NETWORK_S = 0.01
"""Seconds of the network on a frame."""
PRIOR_CLASS = "the budget is short: prior"


def rates_of() -> dict[str, float]:
    """Rates of all stages."""
    again = {f"{stage} again": REGION_S[stage] for stage in ("interpolation", "potentials", "expansion")}
    frames = {stage: seconds / N_PIXELS for stage, seconds in FRAME_S.items()}
    return {**frames, **REGION_S, **again, "reducing": 1e-9}


def lines_of() -> dict[str, Any]:
    """Lines of all calls."""
    calls = {**CALLS, "outputs": (NETWORK_S, 0.0)}
    return {name: np.array([a, b, *[1.0] * (len(FIELDS) - 2)]) for name, (a, b) in calls.items()}


def frozen_prices() -> Prices:
    """Prices from which nothing is learned."""
    return Prices(rates_of(), lines_of(), frozen=True)


# Videos


def street(n_frames: int = N_FRAMES, size: tuple[int, int] = SIZE, seed: int = 1) -> UInt8:
    """Frames of a rendered street, (T, H, W, 3)."""
    return np.asarray(render(seed, n_frames, size)[0].frames)


@dataclass(frozen=True, eq=False)
class SlowClip(ArrayClip):
    """Frames in memory, each of which takes its time."""

    read: Callable[[], None] = lambda: None

    def pick(self, indices: Iterable[int]) -> Iterator[Frame]:
        """Frames of these numbers."""
        for frame in super().pick(indices):
            self.read()
            yield frame


def video_of(frames: UInt8, read: Callable[[], None] = lambda: None, rate: float = 25.0) -> VideoSource:
    """Frames in memory."""
    clip = SlowClip(frames, rate, read=read)
    return VideoSource(clip, Span(), clip.size)


# Descriptors


class Timed(Descriptor):
    """A built-in descriptor whose every call moves a clock by its known price.

    Parameters
    ----------
    name : of the built-in
    clock : is moved; None where calls take no time
    slower : times that calls take longer than known
    """

    def __init__(self, name: str, clock: ChargedClock | None = None, slower: float = 1.0) -> None:
        own = BUILT_IN[name]()
        self.name = name
        self.length = own.length
        self.resources = own.resources
        self._own = own
        self._clock = clock
        self._slower = slower

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        """Those of the built-in."""
        return self._own.needs(scene, region)

    def work(self, scene: Scene, region: int) -> float:
        """That of the built-in."""
        return self._own.work(scene, region)

    def compute(self, scene: Scene, region: int, inputs: list[Value]) -> Float32:
        """The vector of the built-in."""
        a, b = CALLS[self.name]
        if self._clock is not None:
            self._clock.take(self._slower * (a + b * self.work(scene, region)))
        return self._own.compute(scene, region, inputs)


class Outputs(Resource):
    """What a network gives for a frame: its mean colours; it can be cut off between steps.

    Parameters
    ----------
    clock : is moved
    slower : times that the network takes longer than known
    hangs_at : number of the frame, in the order of asking, of which it ends only when it is cut off
    """

    kind = "outputs"
    STEP_S = 0.002

    def __init__(self, clock: ChargedClock | None, slower: float = 1.0, hangs_at: int | None = None) -> None:
        self.asked: list[int] = []
        self._clock = clock
        self._slower = slower
        self._hangs_at = hangs_at
        self._is_cut = Event()

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002
        """One frame."""
        return 1.0

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Value:  # noqa: ARG002
        """Mean colour of the frame, (3,)."""
        n_before = len(self.asked)
        self.asked.append(index)
        self._is_cut.clear()
        if self._clock is not None:
            left_s = self._slower * NETWORK_S if n_before != self._hangs_at else np.inf
            self._run(self._clock, left_s)
        return np.asarray(scene.frames[index].mean(axis=(0, 1)), np.float32)

    def _run(self, clock: ChargedClock, left_s: float) -> None:
        n_steps = 0
        while left_s > 0:
            clock.advance_seen(min(left_s, self.STEP_S) * clock.pace(clock.now_s()))
            left_s -= self.STEP_S
            n_steps += 1
            if self._is_cut.is_set():
                raise LateError
            assert n_steps < 1000, f"nobody cut the network off within {LONG_S} s"

    def cut_off(self) -> None:
        """Let what is under way end."""
        self._is_cut.set()


class Seen(Descriptor):
    """Colours of a supervoxel against what a network gives for its middle frame."""

    name, length = "network", 3

    def __init__(self, outputs: Outputs) -> None:
        self.resources = (outputs,)

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        """The output for its middle frame."""
        return [("outputs", int(scene.supervoxels.graph.key_frames[region, 1]))]

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        """One look."""
        return 1.0

    def compute(self, scene: Scene, region: int, inputs: list[Value]) -> Float32:
        """Mean colour of the supervoxel less that of the frame, (3,)."""
        inside = scene.frames[scene.supervoxels.ids == region].mean(axis=0)
        return np.asarray((inside - np.asarray(inputs[0])) / 255, np.float32)


class Odd(Descriptor):
    """In the place of a built-in; after some good answers it does as it likes.

    Parameters
    ----------
    answer : what it does then; None where it does not say what it needs
    n_good : answers before that
    """

    name = "hog"

    def __init__(self, answer: Callable[[], Any], n_good: int = 20) -> None:
        self._hog = BUILT_IN["hog"]()
        self.length = self._hog.length
        self.resources = self._hog.resources
        self._answer = answer
        self.n_left = n_good

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        """Those of hog."""
        return self._hog.needs(scene, region)

    def work(self, scene: Scene, region: int) -> float:
        """That of hog."""
        return self._hog.work(scene, region)

    def compute(self, scene: Scene, region: int, inputs: list[Value]) -> Float32:
        """The vector of hog, or anything."""
        self.n_left -= 1
        return self._hog.compute(scene, region, inputs) if self.n_left >= 0 else self._answer()


# Spaces and runs


def model_of(names: Sequence[str] = NAMES, seed: int = 0, scale: float = 0.02) -> Model:
    """A model by which supervoxels differ by what is computed for them; it is the less certain the larger its scale."""
    lengths = {name: 3 if name == "network" else BUILT_IN[name]().length for name in names}
    model = random_model(lengths, CLASSES, seed=seed)
    h, crf = model.classifiers, model.crf
    scales = np.repeat(np.array([1, *[scale] * len(names)], np.float32), h.lengths)
    h = replace(h, centre=0 * h.centre, scale=scales, bias=0 * h.bias)
    return replace(model, classifiers=h, crf=replace(crf, pair=0.1 * crf.pair, unary_bias=0 * crf.unary_bias))


def all_of(model: Model) -> Strategy:
    """Every descriptor for whoever is selected, in the order of the model."""
    h = model.classifiers
    policy = plan_policy(range(len(h.names)), len(h.names), h.n_labels)
    return lambda _: (policy, Selection())


def space_of(model: Model, descriptors: Sequence[Descriptor] | None = None, **how: Any) -> Regions:
    """A space; without descriptors of its own, those that are built in."""
    opened = descriptors or [BUILT_IN[name]() for name in model.classifiers.names]
    given = {"prices": frozen_prices(), "strategy": all_of(model), **how}
    return Regions(model.classifiers, model.crf, opened, **given)


def request_of(*seconds: float, window: int | None = None, scope: str = "total", density: float = 25.0) -> Request:
    """Labels are wanted by then."""
    return Request(tuple(map(Budget, seconds)), scope, density, window=window)


def label(space: Regions, video: VideoSource, request: Request, clock: Clock | None = None, **how: Any) -> list[Result]:
    """A result for each budget."""
    return run(space, video, request, CLASSES, clock or CostClock(), **how)


def counts(result: Result) -> dict[str, int]:
    """Supervoxels that each descriptor was computed for."""
    return {name: entry.count for name, entry in result.ledger.sources.items()}


def open_state(
    space: Regions, video: VideoSource, request: Request, clock: Clock | None = None, plan: Plan | None = None
) -> RegionState:
    """The state of a window that is a whole video, before anything is read."""
    account = Account(clock or CostClock(), space.prices, Ledger(None))
    plan = plan or space.plan(video, request)
    assert video.n_frames is not None
    window = Window(0, range(video.n_frames), space.reader(video, plan), is_last=True)
    return space.open(window, video, request, plan, account)
