"""Measure what the networks of a model are worth, on videos without labels or with them: `budgetseg adapt` and `train`.

Plans of the frames space weigh a dearer network on few key frames against a cheaper one on many. What the dearer one
adds is estimated in each run, from a few frames; what is measured here is where these estimates begin.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetseg.descriptors.table import VideoTable
from budgetseg.engine.threads import for_each
from budgetseg.errors import UsageError
from budgetseg.learning.stages import Stage
from budgetseg.models.bundle import AnyModel, Model
from budgetseg.models.networks import networks_of
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.together import bound
from budgetseg.propagate.cells import top_classes
from budgetseg.propagate.order import key_frames
from budgetseg.spaces.frames.settings import Losses
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.worth import expected_iou
from budgetseg.timing.clock import Clock, WallClock, thread_s
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Int64, UInt8
from budgetseg.video import VideoSource

__all__ = ["AdaptRecipe", "Adapted", "adapt_model", "expected_gains", "table_gains"]

Float16 = NDArray[np.float16]


@dataclass(frozen=True)
class AdaptRecipe:
    """How a model is adapted.

    Attributes
    ----------
    n_frames : of each video that networks are asked about, at most, spread over all of it
    fewest : frames of a video, at least: fewer tell little, and are asked about even where there is no time for them
    limit_s : seconds to spend, about
    """

    n_frames: int = 64
    fewest: int = 4
    limit_s: float = 300.0


@dataclass(frozen=True)
class Adapted:
    """What came of adapting.

    Attributes
    ----------
    model : with what was measured
    n_asked : frames that networks were asked about
    n_frames : of all videos
    network_s : seconds of computing for a frame, by network, from the cheapest to the dearest
    """

    model: AnyModel
    n_asked: int
    n_frames: int
    network_s: Mapping[str, float]

    def as_dict(self) -> dict[str, Any]:
        """What was measured, as JSON values."""
        gains = dict(self.model.gains)
        return {"gains": gains, "n_asked": self.n_asked, "n_frames": self.n_frames, "network_s": dict(self.network_s)}


@dataclass(frozen=True, eq=False)
class Answers:
    """What networks predict for some frames of a video.

    Attributes
    ----------
    probabilities : (K, h, w, L) of each network, times what classes count, in half precision
    spent_s : (K,) seconds of computing of each network
    """

    probabilities: Mapping[str, Float16]
    spent_s: Mapping[str, Sequence[float]]

    @property
    def n_frames(self) -> int:
        """K."""
        return len(next(iter(self.spent_s.values())))


def adapt_model(
    model: AnyModel,
    sources: Sequence[VideoSource],
    recipe: AdaptRecipe,
    threads: int = 1,
    stage: Stage = lambda *_: lambda _: None,
    clock: Clock | None = None,
) -> Adapted:
    """Measure on videos without labels by how much each network of a model is better than the cheapest.

    The truth is what the dearest network predicts, as far as it is sure of it.

    Parameters
    ----------
    model : a trained model or networks alone, with at least two networks that label frames
    sources : the videos
    recipe : how
    threads : cores to use
    stage : reports progress
    clock : that the limit counts by; None for a new one
    """
    networks = networks_of(model)
    if len(networks) < 2:
        named = f"only '{next(iter(networks))}'" if networks else "none"
        raise UsageError(f"adapting compares networks, and there is {named}; give two or more with the same classes")
    n_frames = [source.count() for source in sources]
    if min(n_frames) < recipe.fewest:
        short = sources[int(np.argmin(n_frames))]
        raise UsageError(f"'{short.name}' has {min(n_frames)} frames; give videos of {recipe.fewest} or more")
    advance = stage("adapting", sum(min(n, recipe.n_frames) for n in n_frames), "frames")
    videos = _ask_all(networks, _shares(model), sources, recipe, threads, clock or WallClock(), advance)
    network_s = {name: float(np.median([s for own in videos for s in own.spent_s[name]])) for name in networks}
    in_order = dict(sorted(network_s.items(), key=lambda own: own[1]))
    # Here networks could be calibrated as well: all their answers are at hand, and the dearest one is the truth.
    gains = expected_gains([own.probabilities for own in videos], tuple(in_order), Losses())
    return Adapted(replace(model, gains=gains), sum(own.n_frames for own in videos), sum(n_frames), in_order)


def _ask_all(
    networks: Mapping[str, OnnxNetwork],
    shares: Float32,
    sources: Sequence[VideoSource],
    recipe: AdaptRecipe,
    threads: int,
    clock: Clock,
    advance: Callable[[int], None],
) -> list[Answers]:
    """Answers about frames of each video. What is left of the time is divided evenly among those to come."""
    found: list[Answers] = []
    began_s = clock.now_s()
    each_s = 0.0
    for k, source in enumerate(sources):
        before_s = clock.now_s()
        share_s = max(began_s + recipe.limit_s - before_s, 0.0) / (len(sources) - k)
        n = min(source.count(), recipe.n_frames)
        if each_s > 0:
            n = int(min(n, max(share_s / each_s, recipe.fewest)))
        asking = _Asking(networks, shares, threads, clock, before_s + share_s, recipe.fewest)
        found.append(asking.ask(source, key_frames(source.count(), n), advance))
        each_s = (clock.now_s() - before_s) / found[-1].n_frames
    return found


def expected_gains(videos: Sequence[Mapping[str, Float16]], names: Sequence[str], losses: Losses) -> dict[str, float]:
    """Points of mean IoU by which each network is better than the cheapest, by the probabilities of the dearest one.

    Parameters
    ----------
    videos : probabilities (K, h, w, L) of each network for frames of each video; each of K frames counts alike
    names : of the networks, from the cheapest to the dearest
    losses : how far probabilities are trusted, and which classes are too rare to count
    """
    points = {name: np.array([_expected(video[name], video[names[-1]], losses) for video in videos]) for name in names}
    weights = [len(video[names[0]]) for video in videos]
    return {name: float(np.average(points[name] - points[names[0]], weights=weights)) for name in names}


def _expected(answers: Float16, better: Float16, losses: Losses) -> float:
    """Points of mean IoU of a network's labels, if better answers (K, h, w, L) are right as often as they are sure."""
    n, height, width, n_labels = better.shape
    labels = np.concatenate([top_classes(np.asarray(own, np.float32)) for own in answers])
    shares = np.asarray(better, np.float32).reshape(n * height, width, n_labels)
    return 100 * losses.trust * expected_iou(labels, shares, losses.rare)


def table_gains(tables: Sequence[VideoTable], names: Sequence[str]) -> dict[str, float]:
    """Points of mean IoU by which each network is better than the first, by labels; empty if there are fewer than two.

    They come from the described training videos: what networks predict for supervoxels there, which networks that were
    trained on the frame do not do.

    Parameters
    ----------
    tables : the described videos
    names : of networks that predict the classes of the model
    """
    if len(names) < 2:
        return {}
    found = {name: 100 * _iou(np.sum([_confusion(table, name) for table in tables], axis=0)) for name in names}
    return {name: found[name] - found[names[0]] for name in names}


def _confusion(table: VideoTable, name: str) -> Int64:
    """Pixels by label and true class, (L, L), where each supervoxel has the class that a network finds likeliest."""
    labels = np.asarray(table.values[name]).argmax(axis=1)
    n_labels = table.truth.shape[1]
    found = np.zeros((n_labels, n_labels), np.int64)
    np.add.at(found, labels, table.truth)
    return found


def _iou(confusion: Int64) -> float:
    """Mean intersection over union of the classes that occur."""
    right = np.diag(confusion)
    there = confusion.sum(axis=0)
    union = there + confusion.sum(axis=1) - right
    return float((right[there > 0] / union[there > 0]).mean())


@dataclass(frozen=True)
class _Asking:
    """Asks networks about frames of a video, until a time is over, but about a few in any case."""

    networks: Mapping[str, OnnxNetwork]
    shares: Float32
    threads: int
    clock: Clock
    end_s: float
    fewest: int

    def ask(self, source: VideoSource, numbers: Sequence[int], advance: Callable[[int], None]) -> Answers:
        """Answers about frames of these numbers."""
        ready = bound(self.networks, (source.width, source.height))
        weights = Frames(ready, self.shares, Prices()).class_weights
        answers: dict[str, dict[int, Float16]] = {name: {} for name in ready}
        spent_s: dict[str, list[float]] = {name: [] for name in ready}
        n_begun = 0

        def ask(job: tuple[int, UInt8]) -> None:
            number, frame = job
            for name, network in ready.items():
                began_s = thread_s()
                probabilities = network(frame)
                spent_s[name].append(thread_s() - began_s)
                answers[name][number] = (probabilities * weights).astype(np.float16)
            advance(1)

        def fits() -> bool:
            nonlocal n_begun
            n_begun += 1
            return n_begun <= self.fewest or self.clock.now_s() < self.end_s

        for_each(_frames(source, numbers), ask, self.threads, fits)
        tables = {name: np.stack([own[t] for t in sorted(own)]) for name, own in answers.items()}
        return Answers(tables, spent_s)


def _frames(source: VideoSource, numbers: Sequence[int]) -> Iterator[tuple[int, UInt8]]:
    """Frames of about these numbers; of a video file, those that decode without others if there are enough."""
    alone = {} if source.can_skip else source.alone()
    if len(alone) < len(numbers):
        yield from zip(numbers, (frame.pixels for frame in source.pick(numbers)), strict=False)
        return
    known = sorted(alone)
    places = [known[k] for k in key_frames(len(known), len(numbers))]
    yield from ((number, frame.pixels) for number, frame in source.pick_alone({own: alone[own] for own in places}))


def _shares(model: AnyModel) -> Float32:
    """Share of each class in training, (L,)."""
    if isinstance(model, Model):
        return model.classifiers.prior.astype(np.float32)
    n_classes = len(model.classes)
    return np.full(n_classes, 1 / n_classes, np.float32)
