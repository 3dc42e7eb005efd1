"""Evaluate methods against the wall clock, end to end: rows of results.json with scope "total".

A video is labelled within a budget that begins before its first frame is read and ends when every pixel has a label.
Runs are timed from outside, and pixels are compared at full size. There is one run at a time, on all cores.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.model import LoadedModel
from budgetseg.app.spaces import FRAMES, REGIONS
from budgetseg.app.strategy import counted
from budgetseg.baselines.keyframe_plan import KeyframeSettings
from budgetseg.baselines.keyframes import EVERY_FRAME, label_keyframes_within, measure_costs
from budgetseg.datasets import LabelledVideo, open_dataset
from budgetseg.datasets.files import FrameFiles
from budgetseg.descriptors.describe import Description
from budgetseg.descriptors.registry import network_names
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import run
from budgetseg.errors import UsageError
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.evaluation.consistency import agreement, temporal_consistency, trusted_origins
from budgetseg.evaluation.experiment import (
    N_PIECES,
    Experiment,
    check_classes,
    figures_of,
    or_none,
    pixels_of,
    write_results,
)
from budgetseg.models.bundle import Model
from budgetseg.networks.backends.registry import Wanted
from budgetseg.policy import plan_policy
from budgetseg.policy.episode import Selection
from budgetseg.policy.learned import METHOD, learned_for
from budgetseg.simulate import NOT_COUNTED
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import WallClock
from budgetseg.types import Budget, Int32, Int64, UInt8
from budgetseg.video import Frame, VideoSource
from budgetseg.video.core import Clip, Span
from budgetseg.video.images import ImageFolder

__all__ = ["METHODS", "Timed", "check_methods", "evaluate_wall", "n_runs", "timed"]

Row = dict[str, Any]


@dataclass(frozen=True, eq=False)
class _Clip:
    """A video of a dataset whose frames are not image files. It is read again whenever its frames are needed."""

    video: LabelledVideo
    path: Path
    size: tuple[int, int]
    rate: float
    n_frames: int
    duration_s: float | None = None
    stems: tuple[str, ...] | None = None

    @property
    def name(self) -> str:
        return self.video.name

    def count(self) -> int:
        return self.n_frames

    def frames(self, span: Span) -> Iterator[Frame]:
        whole = self.video.video()
        for index in span.within(self.n_frames):
            yield Frame(index, float(whole.times_s[index]), whole.frames[index])


@dataclass(frozen=True, eq=False)
class Timed:
    """A video to be labelled against the clock.

    Attributes
    ----------
    name : unique within the dataset
    source : its frames
    labelled : numbers of the K frames that have labels
    truth : (K, H, W) their labels
    """

    name: str
    source: VideoSource
    labelled: tuple[int, ...]
    truth: UInt8

    def confusions(self, labels: UInt8, n_labels: int) -> Int64:
        """Confusion of labels (T, H, W) in each part of the video, (N_PIECES, L, L), by true class and label."""
        parts = np.array_split(np.arange(len(self.labelled)), N_PIECES)
        predicted = labels[list(self.labelled)]
        return np.stack([confusion_of_pixels(self.truth[part], predicted[part], n_labels) for part in parts])


def timed(video: LabelledVideo) -> Timed:
    """A video of a dataset, ready to be timed. It is read once, before any clock starts, for its size and rate."""
    whole = video.video()
    t, height, width = whole.shape
    gap_s = float(np.median(np.diff(whole.times_s))) if t > 1 else 0.0
    size = (width, height)
    rate = 1 / (gap_s or 0.04)
    clip: Clip
    if isinstance(video, FrameFiles):
        clip = ImageFolder(video.frames[0].parent, video.frames, size, rate)
    else:
        clip = _Clip(video, Path(video.sources()[0].partition("[")[0]), size, rate, t)
    return Timed(video.name, VideoSource(clip, Span(), size), video.labelled, video.labels())


@dataclass(frozen=True, eq=False)
class _Setting:
    """What methods work with, loaded and compiled, and are judged by.

    `origins` (T - 1, h, w) of each video are where pixels were in the frame before; `per_frame` is the number of
    supervoxels, None for the usual one.
    """

    model: Model
    loaded: LoadedModel
    videos: Sequence[Timed]
    origins: Sequence[Int32]
    per_frame: int | None
    cores: int


@dataclass(frozen=True, eq=False)
class _Answer:
    """Labels (T, H, W), the number of supervoxels, and the number of computed results, by name of the source."""

    labels: UInt8
    n_supervoxels: int
    counts: dict[str, int]


Method = Callable[[VideoSource, float, int], _Answer]
"""(video, budget_s, seed) -> answer."""


def _regions(policy: str, setting: _Setting) -> Method:
    """The method of `budgetseg label --space regions` with a policy, and all descriptors of the model."""
    loaded = LoadedModel(setting.model, setting.cores, policy, space=REGIONS, wanted=Wanted())

    def label(source: VideoSource, budget_s: float, seed: int) -> _Answer:
        request = Request((Budget(budget_s),), density=setting.per_frame, seed=seed)
        (result,) = loaded.run(source, request, REGIONS)
        n_supervoxels = sum(window.n_places for window in result.windows)
        return _Answer(result.labels, n_supervoxels, _counts(result, setting.model.classifiers.names))

    return label


def _frames(even: bool, setting: _Setting) -> Method:
    """The method of `budgetseg label` for a model with a network; counts are predictions of networks.

    With `even`, key frames are spread evenly by number, and cuts are ignored.
    """
    space = _networks(setting)
    distances = replace(space.settings.distances, even=even)
    space = replace(space, settings=replace(space.settings, distances=distances))

    def label(source: VideoSource, budget_s: float, seed: int) -> _Answer:
        (result,) = run(space, source, Request((Budget(budget_s),), seed=seed), setting.model.classes)
        return _Answer(result.labels, 0, _counts(result, space.sources))

    return label


def _networks(setting: _Setting) -> Frames:
    """The frames space of the model, loaded before any clock starts; its networks rise in measured price."""
    space = setting.loaded.space_for(FRAMES, setting.videos[0].source)  # back ends are measured on the first video
    assert isinstance(space, Frames)
    return space


def _counts(result: Result, names: Sequence[str]) -> dict[str, int]:
    computed = result.ledger.sources
    return {name: computed[name].count if name in computed else 0 for name in names}


CHEAPEST, DEAREST = 0, -1
"""Places of networks in the order of their measured prices."""


def _keyframes(place: int, settings: KeyframeSettings, setting: _Setting) -> Method:
    """The baseline with the cheapest or the dearest network on every k-th frame, k chosen to fill the budget.

    Counts are key frames.
    """
    name, network = list(_networks(setting).networks.items())[place]
    cores = setting.cores
    sizes = {video.source.size for video in setting.videos}
    costs = {size: measure_costs(network, size, threads=cores, settings=settings) for size in sizes}

    def label(source: VideoSource, budget_s: float, _: int) -> _Answer:
        own = costs[source.size]
        run = label_keyframes_within(source, network, budget_s, own, threads=cores, settings=settings)
        return _Answer(run.labels, 0, {name: len(run.keys)})

    return label


METHODS: dict[str, Callable[[_Setting], Method]] = {
    "static": partial(_regions, "static"),
    "budget-wanted-full": partial(_regions, "learned"),
    "frames": partial(_frames, False),
    "frames-even": partial(_frames, True),
    "every-frame": partial(_keyframes, CHEAPEST, EVERY_FRAME),
    "every-frame-large": partial(_keyframes, DEAREST, EVERY_FRAME),
    "keyframes": partial(_keyframes, CHEAPEST, KeyframeSettings()),
    "keyframes-large": partial(_keyframes, DEAREST, KeyframeSettings()),
}
_OF_NETWORKS = ("frames", "frames-even", "every-frame", "every-frame-large", "keyframes", "keyframes-large")
_LARGE = "-large"
"""Ends the names of methods that need two networks."""


def check_methods(names: Sequence[str], model: Model) -> tuple[str, ...]:
    """Check names of methods; UsageError if the model lacks what one needs. `all` gives all that it can do."""
    n_networks = len(network_names(model.classifiers.names, model.networks))
    lacking: dict[str, str] = {}
    if n_networks < 2:
        lacking |= {name: "a second network" for name in _OF_NETWORKS if name.endswith(_LARGE)}
    if n_networks < 1:
        lacking |= dict.fromkeys(_OF_NETWORKS, "a network")
    if learned_for(model.policies, METHOD, counted(model)) is None:
        lacking["budget-wanted-full"] = "a learned policy"
    if list(names) == ["all"]:
        return tuple(name for name in METHODS if name not in lacking)
    for name in names:
        if name not in METHODS:
            raise UsageError(f"no method '{name}' for the wall clock; choose from all, {', '.join(METHODS)}")
        if name in lacking:
            raise UsageError(f"{name} needs {lacking[name]}, which the model was trained without")
    return tuple(names)


def n_runs(plan: Description, model: Model, experiment: Experiment) -> int:
    """Number of times that a video is labelled in an experiment."""
    (split,) = plan.splits
    n_methods = len(check_methods(experiment.methods, model))
    n_videos = len(open_dataset(plan.dataset, plan.root).videos(split))
    return n_videos * (1 + n_methods * len(experiment.budgets) * experiment.n_seeds)


def evaluate_wall(
    model: Model,
    plan: Description,
    experiment: Experiment,
    output: Path,
    cores: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Run methods on the videos of a split, and write and return the contents of `output/results.json`.

    A budget that is a share refers to the *full cost*: here the seconds, end to end, of a run that computes all
    descriptors that count for all supervoxels.

    Parameters
    ----------
    model : to evaluate
    plan : dataset and split
    experiment : what to compare
    output : folder for results.json
    cores : to use
    advance : called with 1 for each run, `n_runs` in all
    """
    names = check_methods(experiment.methods, model)
    dataset = open_dataset(plan.dataset, plan.root)
    check_classes(model, dataset.classes)
    (split,) = plan.splits
    videos = [timed(video) for video in dataset.videos(split)]
    origins = [trusted_origins(video.source.read().frames, cores) for video in videos]
    loaded = LoadedModel(model, cores, space=REGIONS, wanted=Wanted())
    setting = _Setting(model, loaded, videos, origins, plan.per_frame, cores)
    rows = _rows(setting, names, experiment, advance)
    setup = {"dataset": plan.dataset, "split": split}
    return write_results([setup | row for row in rows], output / "results.json")


@dataclass(frozen=True, eq=False)
class _Outcome:
    """The result of a run on a video, or on several.

    `confusions` (P, L, L) has one for each part of a video; `agreed` pixels have the label of the place that flow leads
    to, and how many have such a place.
    """

    video: str
    confusions: Int64
    agreed: tuple[int, int]
    full_s: float
    budget_s: float
    spent_s: float
    n_supervoxels: int
    counts: dict[str, int]


def _rows(
    setting: _Setting, names: Sequence[str], experiment: Experiment, advance: Callable[[int], None]
) -> Iterator[Row]:
    full_s = []
    for video in setting.videos:
        full_s.append(_full_s(setting, video.source))
        advance(1)
    for name in names:
        method = METHODS[name](setting)
        for budget, seed in product(experiment.budgets, range(experiment.n_seeds)):
            outcomes = []
            for k, video_s in enumerate(full_s):
                outcomes.append(_outcome(setting, method, k, video_s, budget, seed))
                advance(1)
            for outcome in (*outcomes, _pooled(outcomes)):
                yield _row(name, budget, seed, outcome, setting.model, len(outcomes) == 1)


def _outcome(setting: _Setting, method: Method, k: int, full_s: float, budget: Budget, seed: int) -> _Outcome:
    """What a method makes of the k-th video."""
    video = setting.videos[k]
    budget_s = budget.in_s(full_s)
    watch = WallClock()
    answer = method(video.source, budget_s, seed)
    spent_s = watch.now_s()
    confusions = video.confusions(answer.labels, len(setting.model.classes))
    agreed = agreement(answer.labels, setting.origins[k])
    return _Outcome(video.name, confusions, agreed, full_s, budget_s, spent_s, answer.n_supervoxels, answer.counts)


def _full_s(setting: _Setting, source: VideoSource) -> float:
    h = setting.model.classifiers
    counted = [d for d, name in enumerate(h.names) if name != NOT_COUNTED]
    everything = plan_policy(counted, len(h.names), h.n_labels), Selection(reopen=False)
    space = replace(setting.loaded.regions, strategy=lambda _: everything)
    watch = WallClock()
    run(space, source, Request((Budget(np.inf),), density=setting.per_frame), setting.model.classes)
    return watch.now_s()


def _pooled(outcomes: Sequence[_Outcome]) -> _Outcome:
    return _Outcome(
        "all",
        np.sum([outcome.confusions for outcome in outcomes], axis=0),
        (sum(outcome.agreed[0] for outcome in outcomes), sum(outcome.agreed[1] for outcome in outcomes)),
        sum(outcome.full_s for outcome in outcomes),
        sum(outcome.budget_s for outcome in outcomes),
        sum(outcome.spent_s for outcome in outcomes),
        sum(outcome.n_supervoxels for outcome in outcomes),
        {name: sum(outcome.counts[name] for outcome in outcomes) for name in outcomes[0].counts},
    )


def _row(method: str, budget: Budget, seed: int, outcome: _Outcome, model: Model, is_alone: bool) -> Row:
    """A row as in `experiment`, without choices over time and the calibration of H, which are not measured here."""
    confusion = outcome.confusions.sum(axis=0)
    return {
        "video": outcome.video,
        "method": method,
        "budget_fraction": or_none(budget.amount if budget.is_share else outcome.budget_s / outcome.full_s),
        "budget_s": or_none(outcome.budget_s),
        "spent_s": outcome.spent_s,
        "seed": seed,
        "n_supervoxels": outcome.n_supervoxels,
        "accuracy": figures_of(accuracy_of(confusion), model.classes),
        "temporal_consistency": temporal_consistency(*outcome.agreed),
        "pixels": pixels_of(confusion, model.classes),
        "pieces": [pixels_of(part, model.classes) for part in outcome.confusions] if is_alone else [],
        "calibration_error": None,
        "descriptor_counts": outcome.counts,
        "choices_over_time": [],
        "scope": "total",
        "costs": "shared",
        "clock": "wall",
        "descriptors": list(outcome.counts),
    }
