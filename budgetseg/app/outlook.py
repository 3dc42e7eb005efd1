"""What is expected of a video before it is labelled: points of mean IoU, by seconds. A coarse pass finds it out.

By frames, a few pairs of neighbouring frames are read, from all over the video. What changes within a pair shows how
far predictions can be carried. What changes from pair to pair shows what they lose where they are carried too far. With
that and the prices of this machine, the engine's plans tell what each number of seconds buys.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from budgetseg.app.labeller import FILES
from budgetseg.app.output import Wanted
from budgetseg.app.videos import work_of
from budgetseg.engine.plan import STRIDES
from budgetseg.engine.window import Reader
from budgetseg.propagate.cells import grey_cells, reduced, step_flow
from budgetseg.propagate.timeline import change
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.plan import Options, choose
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.worth import Worth
from budgetseg.spaces.regions.space import Regions
from budgetseg.types import Float32
from budgetseg.video import VideoSource

__all__ = ["Glimpses", "Outlook", "outlook_of"]


@dataclass(frozen=True)
class Glimpses:
    """How closely a video is looked at before it is labelled.

    Attributes
    ----------
    pairs : of neighbouring frames that are compared, spread over the video
    points : numbers of seconds at which the accuracy is predicted
    least : the smallest of them, as a share of the seconds that everything costs; from there on they grow evenly
    calm : least share of the usual losses that carrying is taken to have where nothing seems to change
    """

    pairs: int = 4
    points: int = 16
    least: float = 0.002
    calm: float = 0.05


@dataclass(frozen=True)
class Outlook:
    """What is expected of a video.

    Attributes
    ----------
    work : pixels of all frames
    files_s : seconds to write its files, as far as they are known
    least_s : seconds in which one frame is labelled and copied to all others, with some to spare; 0 where not known
    seconds : (K,) rising
    points : (K,) of mean IoU that these seconds buy, never falling, against the cheapest network on every frame; empty
        where nothing is predicted
    """

    work: float
    files_s: float
    least_s: float = 0.0
    seconds: tuple[float, ...] = ()
    points: tuple[float, ...] = ()


SPARE = 3.0
"""Times its price that a video has for its first frame, where nothing else is left: that labels it at a busy time."""


class _Seen(NamedTuple):
    """What a few pairs of frames show.

    Attributes
    ----------
    distance : the mean distance between neighbouring frames along flow
    scale : times as much as usual that carrying loses here
    """

    distance: float
    scale: float


def outlook_of(
    space: Frames | Regions, source: VideoSource, wanted: Wanted, glimpses: Glimpses | None = None
) -> Outlook:
    """What is expected of a video in a space; for regions, its size alone."""
    work = work_of(source)
    files_s = space.prices.predict(FILES.format("with" if wanted.overlay else "without"), work)
    if not isinstance(space, Frames):
        return Outlook(work, files_s)
    glimpses = glimpses or Glimpses()
    least_s = _one_s(space, source)
    seconds, points = _curve(space, source, _seen(space, source, glimpses), least_s, glimpses)
    return Outlook(work, files_s, SPARE * least_s, seconds, points)


def _curve(
    space: Frames, source: VideoSource, seen: _Seen, one_s: float, glimpses: Glimpses
) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """Rising seconds, and points of mean IoU that the engine's plans expect of them."""
    n_frames = source.count()
    costs = space.costs(source.width * source.height)
    reader = Reader(source, space.threads)
    strides = STRIDES if reader.can_skip else (1,)
    prices_s = {name: costs.network_s(name) for name in space.sources}
    options = Options(
        n_frames,
        (source.height, source.width),
        space.sources,
        strides=strides,
        read_s={stride: reader.predict_s(space.prices, -(-n_frames // stride)) for stride in strides},
        distance=seen.distance,
        scales={FLOW: seen.scale, COPY: seen.scale},
        gains=dict(zip(prices_s, Worth(space.settings.losses).gains(prices_s), strict=True)),
    )
    all_s = options.read_s[1] + costs.flow_s(n_frames) + n_frames * sum(prices_s.values()) / costs.threads
    all_s += costs.finish_s(n_frames, n_frames, n_frames, COPY, n_frames)
    seconds = all_s * np.geomspace(glimpses.least, 1, glimpses.points)
    plans = [choose(options, left_s, costs, space.settings, space.margins) for left_s in seconds.tolist()]
    # Where no plan fits, one frame is labelled and copied to all others; before that, there is nothing.
    most = space.settings.losses.most
    lowest = [-seen.scale * most if left_s > one_s else -2 * most for left_s in seconds.tolist()]
    points = [low if plan is None else plan.score for low, plan in zip(lowest, plans, strict=True)]
    return tuple(seconds.tolist()), tuple(np.maximum.accumulate(points).tolist())


def _one_s(space: Frames, source: VideoSource) -> float:
    """Seconds to read one frame, to run the cheapest network on it, and to copy its labels to all others."""
    costs = space.costs(source.width * source.height)
    read_s = Reader(source, space.threads).predict_s(space.prices, 1)
    return read_s + min(map(costs.network_s, space.sources)) + costs.copy_s(source.count())


def _seen(space: Frames, source: VideoSource, glimpses: Glimpses) -> _Seen:
    """What a few pairs of frames show; what the rate tells where there is none."""
    distances = space.settings.distances
    near: list[float] = []
    far: list[float] = []
    last: Float32 | None = None
    for pair in source.pairs(glimpses.pairs):
        small = [reduced(frame, space.settings.propagation.flow_pixels) for frame in pair]
        before, after = (grey_cells(frame, space.cells) for frame in small)
        found = change(after, before, step_flow(small[1], small[0], space.cells))
        if found <= distances.cut:
            near.append((found / distances.usual) ** 2)
        if last is not None:
            far.append(change(before, last) / distances.cut)
        last = before
    if not near:
        return _Seen(distances.by_rate(source.rate), 1.0)
    distance = float(np.mean([min(max(own, distances.least), distances.border) for own in near]))
    unlike = float(np.mean(far)) if far else 1.0
    return _Seen(distance, max(unlike ** (2 if unlike < 1 else 1), glimpses.calm))
