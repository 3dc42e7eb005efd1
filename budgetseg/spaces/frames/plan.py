"""What to do within a budget: which network, on how many key frames, which frames to read, how to carry predictions."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple

import numpy as np

from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.propagate.fusion import n_sources
from budgetseg.propagate.timeline import Timeline
from budgetseg.spaces.frames.costs import COPY, FLOW, FrameCosts
from budgetseg.spaces.frames.settings import FrameSettings, Losses
from budgetseg.timing.margins import Margins
from budgetseg.types import Float64

__all__ = ["Options", "carried_loss", "choose", "loss", "loss_at", "unread_loss"]


@dataclass(frozen=True, eq=False)
class Options:
    """What there is to choose from in a window, and what is there already.

    Attributes
    ----------
    n_frames : of the window
    size : height and width of a frame
    networks : names, from the cheapest to the dearest; those that failed are left out
    have : by network, frames that it has seen
    strides : every how many frames one may be read
    carries : how predictions may come to other frames
    read_s : by stride, seconds to read what is still to be read
    n_read : by stride, frames that are read then; where it is left out, one in `stride`
    n_pairs : by stride, pairs of frames between which flow is still to be found
    distance : the mean distance between neighbouring frames along flow, as of `Timeline`
    n_cuts : as far as frames were compared
    fetch_s : seconds to read one more frame when it is asked about, by all threads; infinity where that cannot be
    gains : by network, points by which it is better than the cheapest; see `Worth`
    scales : by carry, times as much as usual that it loses here; see `Worth`
    """

    n_frames: int
    size: tuple[int, int]
    networks: Sequence[str]
    have: Mapping[str, int] = field(default_factory=dict)
    strides: Sequence[int] = STRIDES
    carries: Sequence[str] = (FLOW, COPY)
    read_s: Mapping[int, float] = field(default_factory=dict)
    n_read: Mapping[int, int] = field(default_factory=dict)
    n_pairs: Mapping[int, int] = field(default_factory=dict)
    distance: float = 1.0
    n_cuts: int = 0
    fetch_s: float = math.inf
    gains: Mapping[str, float] = field(default_factory=dict)
    scales: Mapping[str, float] = field(default_factory=dict)


def choose(
    options: Options, left_s: float, costs: FrameCosts, settings: FrameSettings, margins: Margins
) -> Plan | None:
    """The plan that promises most of those that fit; None where none does.

    Among them is each network on every frame, with nothing carried: no plan is taken that promises less.
    """
    plans = _plans(options, left_s, costs, settings, margins)
    return max((plan for plan in plans if plan.cost_s <= left_s), key=lambda plan: plan.score, default=None)


def _plans(
    options: Options, left_s: float, costs: FrameCosts, settings: FrameSettings, margins: Margins
) -> Iterator[Plan]:
    for stride, carry, edges in product(options.strides, options.carries, (False, True)):
        n_read = options.n_read.get(stride, -(-options.n_frames // stride))
        flow_s = costs.flow_s(options.n_pairs.get(stride, n_read - 1)) if carry == FLOW else 0.0
        ready_s = options.read_s.get(stride, 0.0) + flow_s
        if ready_s >= left_s and ready_s > 0:
            continue
        for network in options.networks:
            end = _End(options, costs, settings, margins, carry, edges * n_read)
            n_keys, cost_s = _most_keys(left_s - ready_s, n_read, options.have.get(network, 0), network, end)
            if n_keys >= n_read:
                n_keys, cost_s = _with_others(left_s - ready_s, n_keys, cost_s, network, end)
            scale = options.scales.get(carry, 1.0)
            lost = loss(options.n_frames / n_keys, carry, options.distance, settings.losses, scale)
            unread = max(1 - max(n_read, n_keys) / options.n_frames, 0.0)
            crossing = options.n_cuts * stride / 4 / options.n_frames
            lost += unread_loss(unread, carry, stride * options.distance, settings.losses, crossing)
            gain = options.gains.get(network, 0.0)
            if n_keys == options.n_frames:
                gain += _more(options, network, left_s - ready_s - cost_s, costs)
            yield Plan(
                options.n_frames,
                options.size,
                stride,
                network=network,
                n_keys=n_keys,
                carry=carry,
                edges=edges,
                cost_s=ready_s + cost_s,
                score=gain - lost + edges * settings.losses.edges / stride,
            )


def _with_others(left_s: float, n_keys: int, cost_s: float, network: str, end: "_End") -> tuple[int, float]:
    """Key frames and seconds, if frames that were not read are asked about too, as many as there is time for."""
    options, costs = end.options, end.costs
    n_others = options.n_frames - n_keys
    if n_others <= 0 or options.fetch_s == math.inf:
        return n_keys, cost_s
    grown_s = end.seconds(options.n_frames) - end.seconds(n_keys)  # the end takes longer with more key frames
    each_s = options.fetch_s + costs.network_s(network) / costs.threads + grown_s / n_others
    n_more = int(min(max(left_s - cost_s, 0.0) / max(each_s, 1e-9), n_others))
    return n_keys + n_more, cost_s + n_more * each_s


def _more(options: Options, network: str, left_s: float, costs: FrameCosts) -> float:
    """Points gained by dearer networks in the time that is left once a network has seen all frames."""
    most = 1 - 1 / options.n_frames  # where there is time for all frames, the cheaper network need not see them
    gain = options.gains.get(network, 0.0)
    found = 0.0
    for other in options.networks[options.networks.index(network) + 1 :]:
        n_more = left_s * costs.threads / max(costs.network_s(other), 1e-9)
        share = min(max(n_more / options.n_frames, 0.0), most)
        found = max(found, share * (options.gains.get(other, 0.0) - gain))
    return found


class _End(NamedTuple):
    """What making labels costs once all is asked, with some way of working."""

    options: Options
    costs: FrameCosts
    settings: FrameSettings
    margins: Margins
    carry: str
    n_edged: int

    def seconds(self, n_keys: int) -> float:
        """With so many key frames, and the margin of the end."""
        n_frames = self.options.n_frames
        n_fused = n_sources(n_frames, n_keys, self.settings.propagation.reach, self.options.distance)
        return self.margins.finish * self.costs.finish_s(n_frames, n_keys, n_fused, self.carry, self.n_edged)


def _most_keys(left_s: float, n_read: int, have: int, network: str, end: _End) -> tuple[int, float]:
    """The most key frames that fit, no fewer than there are, and seconds of what is left to do."""
    ask_s = end.costs.network_s(network)
    key_s = max(ask_s / end.costs.threads, 1e-9)
    doubt_s = (end.margins.action - 1) * ask_s  # the last key frame is only asked if it fits with its margin

    def cost_s(n_keys: int) -> float:
        more_s = (n_keys - have) * key_s + doubt_s if n_keys > have else 0.0
        return end.seconds(n_keys) + more_s

    least = max(have, 1)
    n_keys = most = max(n_read, least)
    for _ in range(3):  # the end costs more the more key frames there are: too few, too many, about enough
        more = min(max(left_s - end.seconds(n_keys) - doubt_s, 0.0) / key_s, float(most))
        n_keys = min(max(have + int(more), least), most)
    while n_keys > least and cost_s(n_keys) > left_s:
        n_keys -= 1
    return n_keys, cost_s(n_keys)


def unread_loss(share: float, carry: str, gap: float, losses: Losses, crossing: float = 0.0) -> float:
    """Points lost by frames that are neither read nor asked about.

    Parameters
    ----------
    share : of all frames that these are, 0 to 1
    carry : how predictions come to them
    gap : distance between neighbours among the frames that are read
    losses : what they cost
    crossing : the share of these frames that are taken to lie on the other side of a cut
    """
    each = 1 - math.exp(-((gap / losses.skipped_gap) ** 2))
    skipped = losses.skipped * each if carry == FLOW else 0.0
    return share * (skipped + losses.crossed * crossing)


def loss(frames_per_key: float, carry: str, distance: float, losses: Losses, scale: float = 1.0) -> float:
    """Points lost by frames that are no key frames.

    Parameters
    ----------
    frames_per_key : frames for each key frame, 1 where all are
    carry : how predictions come to other frames
    distance : between neighbouring frames
    losses : what distances cost
    scale : times as much as usual that carrying loses here
    """
    most = 1 - 1 / frames_per_key  # key frames lose nothing
    nearest = most if frames_per_key < 2 else frames_per_key / 4  # frames to the nearest even key frame, in the mean
    lost = scale * most * loss_at(distance * nearest / most, carry, losses) if most > 0 else 0.0
    return lost + (losses.alone if carry == COPY else 0.0)


def loss_at(distance: float, carry: str, losses: Losses) -> float:
    """Points lost by a frame at a distance from its key frame."""
    rate = losses.rate * (losses.copied if carry == COPY else 1.0)
    return losses.most * (1 - math.exp(-rate * distance / losses.most))


def carried_loss(timeline: Timeline, keys: Sequence[int], carry: str, losses: Losses, scale: float = 1.0) -> Float64:
    """Points lost by each of the T frames of a window, (T,), that have the labels of the nearest of some key frames.

    What lies across a cut from all key frames loses the most. `scale` is how many times as much as usual is lost here.
    """
    nearest = timeline.nearest(keys)
    distances = np.abs(timeline.positions - timeline.positions[nearest])
    lost = scale * np.array([loss_at(distance, carry, losses) for distance in distances.tolist()])
    return np.where(timeline.shots[nearest] == timeline.shots, lost, losses.most)
