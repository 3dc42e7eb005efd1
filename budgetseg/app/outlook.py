"""What is expected of a video before it is labelled: points of mean IoU, by seconds. A coarse pass finds it out.

By frames, a few pairs of neighbouring frames are read and compared along flow. That shows how far predictions can be
carried here. With it and with the prices of this machine, the engine's plans tell what each number of seconds buys.
"""

from dataclasses import dataclass

import numpy as np

from budgetseg.app.labeller import FILES
from budgetseg.app.output import Wanted
from budgetseg.app.videos import work_of
from budgetseg.engine.plan import STRIDES
from budgetseg.engine.window import Reader
from budgetseg.propagate.cells import grey_cells, reduced, step_flow
from budgetseg.propagate.timeline import change
from budgetseg.spaces.frames.costs import COPY
from budgetseg.spaces.frames.plan import Options, choose
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.worth import Worth
from budgetseg.spaces.regions.space import Regions
from budgetseg.types import UInt8
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
    """

    pairs: int = 4
    points: int = 16
    least: float = 0.002


@dataclass(frozen=True)
class Outlook:
    """What is expected of a video.

    Attributes
    ----------
    work : pixels of all frames
    files_s : seconds to write its files, as far as they are known
    seconds : (K,) rising
    points : (K,) of mean IoU that these seconds buy, never falling, against the cheapest network on every frame; empty
        where nothing is predicted
    """

    work: float
    files_s: float
    seconds: tuple[float, ...] = ()
    points: tuple[float, ...] = ()


def outlook_of(
    space: Frames | Regions, source: VideoSource, wanted: Wanted, glimpses: Glimpses | None = None
) -> Outlook:
    """What is expected of a video in a space; for regions, its size alone."""
    work = work_of(source)
    files_s = space.prices.predict(FILES.format("with" if wanted.overlay else "without"), work)
    if not isinstance(space, Frames):
        return Outlook(work, files_s)
    glimpses = glimpses or Glimpses()
    seconds, points = _curve(space, source, _distance(space, source, glimpses), glimpses)
    return Outlook(work, files_s, seconds, points)


def _curve(
    space: Frames, source: VideoSource, distance: float, glimpses: Glimpses
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
        distance=distance,
        gains=dict(zip(prices_s, Worth(space.settings.losses).gains(prices_s), strict=True)),
    )
    all_s = options.read_s[1] + costs.flow_s(n_frames) + n_frames * sum(prices_s.values()) / costs.threads
    all_s += costs.finish_s(n_frames, n_frames, n_frames, COPY, n_frames)
    seconds = all_s * np.geomspace(glimpses.least, 1, glimpses.points)
    plans = [choose(options, left_s, costs, space.settings, space.margins) for left_s in seconds.tolist()]
    points = [-space.settings.losses.most if plan is None else plan.score for plan in plans]
    return tuple(seconds.tolist()), tuple(np.maximum.accumulate(points).tolist())


def _distance(space: Frames, source: VideoSource, glimpses: Glimpses) -> float:
    """The mean distance between neighbouring frames along flow, by a few pairs of them; by the rate without any."""
    distances = space.settings.distances
    steps = [
        distances.step(found, source.span.stride)
        for found in (_change(space, *pair) for pair in source.pairs(glimpses.pairs))
        if found <= distances.cut
    ]
    return float(np.mean(steps)) if steps else distances.by_rate(source.rate)


def _change(space: Frames, earlier: UInt8, later: UInt8) -> float:
    """Share of what is seen in a frame that is not found in an earlier one along flow."""
    small = [reduced(frame, space.settings.propagation.flow_pixels) for frame in (earlier, later)]
    greys = [grey_cells(frame, space.cells) for frame in small]
    return change(greys[1], greys[0], step_flow(small[1], small[0], space.cells))
