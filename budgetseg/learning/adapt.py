"""Adapt a model or networks to videos without labels: the work behind `budgetseg adapt`.

    videos ─► stretches ─► what every network predicts ─► what carrying loses and networks add ─► model

There are no labels: the truth is what the dearest network predicts for every frame. So it is learned how to stay close
to that network, not how often it is right.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import count, pairwise
from typing import Any

import numpy as np

from budgetseg.errors import UsageError
from budgetseg.learning.priors import Found, Sampling, Truth, fit_losses, measure
from budgetseg.learning.stages import Stage
from budgetseg.learning.takes import Ask, Take, record
from budgetseg.models.bundle import MEASURED, AnyModel, Model
from budgetseg.models.networks import networks_of
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.together import bound
from budgetseg.propagate.order import spread
from budgetseg.spaces.frames.settings import Losses
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import Clock, WallClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, UInt8
from budgetseg.video import VideoSource
from budgetseg.video.core import Span

__all__ = ["AdaptRecipe", "Adapted", "adapt_model", "stretches"]


@dataclass(frozen=True)
class AdaptRecipe:
    """How a model is adapted.

    Attributes
    ----------
    n_frames : of a stretch, at most: more of them show what key frames far from each other lose, and take memory
    fewest : frames of a stretch, at least: fewer show nothing of carrying
    limit_s : seconds after which no further frame is begun
    sampling : what is tried on each stretch
    """

    n_frames: int = 64
    fewest: int = 8
    limit_s: float = 300.0
    sampling: Sampling = field(default_factory=Sampling)


@dataclass(frozen=True)
class Adapted:
    """What came of adapting.

    Attributes
    ----------
    model : with what was measured
    n_frames : that networks were asked about
    n_all : frames of all videos
    seconds : of computing for a frame, by network, from the cheapest to the dearest
    """

    model: AnyModel
    n_frames: int
    n_all: int
    seconds: Mapping[str, float]

    @property
    def losses(self) -> Losses:
        """What was measured."""
        return self.model.frames or Losses()

    def as_dict(self) -> dict[str, Any]:
        """What was measured, as JSON values."""
        values = {name: getattr(self.losses, name) for name in MEASURED}
        found = {**values, "gains": dict(self.losses.gains)}
        return {"frames": found, "n_asked": self.n_frames, "n_frames": self.n_all, "network_s": dict(self.seconds)}


Stretch = tuple[VideoSource, Span]
"""A video, and frames of it."""


def adapt_model(
    model: AnyModel,
    sources: Sequence[VideoSource],
    recipe: AdaptRecipe,
    threads: int = 1,
    stage: Stage = lambda *_: lambda _: None,
    clock: Clock | None = None,
) -> Adapted:
    """Measure on videos what plans of the frames space believe.

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
        named = f"there is only '{next(iter(networks))}'" if networks else f"'{model.name}' has none"
        raise UsageError(f"adapting compares networks for the classes of the model, and {named}; give two or more")
    every = [source.count() for source in sources]
    parts = stretches(sources, every, recipe)
    if not parts:
        raise UsageError(
            f"no video has more than {max(every, default=0)} frames; give videos of {recipe.fewest} frames or more"
        )
    clock = clock or WallClock()
    end_s = clock.now_s() + recipe.limit_s
    advance = stage("adapting", sum(len(span.within(span.end or 0)) for _, span in parts), "frames")
    found: list[Found] = []
    seconds: dict[str, float] = {}
    start = Losses()
    for source, span in parts:
        fits = _until(clock, end_s, 0 if found else recipe.fewest)
        take, spent_s = _record(replace(source, span=span), networks, _shares(model), threads, fits, advance)
        if len(take.frames) < recipe.fewest:
            break
        seconds = seconds or dict(sorted(spent_s.items(), key=lambda own: own[1]))
        take = take.in_order(tuple(seconds))
        # This is the place where networks could be calibrated, too: all their answers are there, and the dearest one
        # is taken for the truth.
        found.append(measure(take, Truth.of_network(take, start), recipe.sampling, start))
        if clock.now_s() >= end_s:
            break
    losses = fit_losses(found, recipe.sampling, start, has_labels=False)
    return Adapted(replace(model, frames=losses), sum(own.n_frames for own in found), sum(every), seconds)


def stretches(sources: Sequence[VideoSource], n_frames: Sequence[int], recipe: AdaptRecipe) -> list[Stretch]:
    """Stretches of about equal length of all videos, in an order of which every beginning lies all over them.

    `n_frames` are those of each video; videos that are too short have none.
    """
    found: list[Stretch] = []
    for source, n in zip(sources, n_frames, strict=True):
        if n < recipe.fewest:
            continue
        n_parts = -(-n // recipe.n_frames)
        borders = [k * n // n_parts for k in range(n_parts + 1)]
        found += [(source, Span(a, b)) for a, b in pairwise(borders)]
    return [found[k] for k in spread(len(found))]


def _until(clock: Clock, end_s: float, fewest: int) -> Callable[[], bool]:
    """Whether another frame may be begun: before `end_s`, or as one of the `fewest`."""
    begun = count()
    return lambda: next(begun) < fewest or clock.now_s() < end_s


def _record(
    source: VideoSource,
    networks: Mapping[str, OnnxNetwork],
    shares: Float32,
    threads: int,
    fits: Callable[[], bool],
    advance: Callable[[int], None],
) -> tuple[Take, dict[str, float]]:
    """The frames of a source with the answers of networks, and seconds of computing for a frame."""
    ready = bound(networks, (source.width, source.height))
    weights = Frames(ready, shares, Prices()).class_weights
    asks: dict[str, Ask] = {name: partial(_ask, network) for name, network in ready.items()}
    return record((frame.pixels for frame in source), asks, weights, source.rate, threads, fits, advance)


def _ask(network: OnnxNetwork, _: int, frame: UInt8) -> Float32:
    return network(frame)


def _shares(model: AnyModel) -> Float32:
    """Share of each class in training, (L,)."""
    if isinstance(model, Model):
        return model.classifiers.prior.astype(np.float32)
    n_classes = len(model.classes)
    return np.full(n_classes, 1 / n_classes, np.float32)
