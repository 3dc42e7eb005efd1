"""What carrying loses and networks gain on takes, and priors that fit it: what plans of the frames space may believe.

    take + truth ─► points lost by key frames, strides and ways of carrying ─► `Losses` that fit them

Truth is what labels say, or what the dearest network predicts for every frame. Everything is counted in cells, and
losses are differences to the dearest network on every frame. What is seldom seen stays near the values to begin with.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

import cv2
import numpy as np
from scipy.optimize import least_squares

from benchmarks.takes import Float16, Take, opened, predictions_of
from budgetseg.propagate.order import medians
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.plan import loss, unread_loss
from budgetseg.spaces.frames.settings import Losses
from budgetseg.spaces.frames.state import FrameState
from budgetseg.spaces.frames.worth import expected_iou
from budgetseg.types import IGNORE, Float32, Float64, UInt8

__all__ = ["Found", "Lost", "Sampling", "Truth", "expected_points", "fit_losses", "mean_gains", "measure"]

FITTED = ("rate", "copied", "most", "skipped")
"""Fields of `Losses` that are fitted to what key frames, strides and ways of carrying lose."""


@dataclass(frozen=True)
class Sampling:
    """Which key frames and strides are tried on a take, and how much a fit trusts what they lose.

    Attributes
    ----------
    frames_per_key : frames for each key frame
    strides : every how many frames one is read; 1 is always tried
    noise : points by which what is lost on one take differs from what plans believe anyhow
    spread : by how much the logarithm of a field may well differ from its value to begin with
    """

    frames_per_key: Sequence[int] = (2, 4, 8, 16, 32, 64)
    strides: Sequence[int] = (2, 4)
    noise: float = 2.0
    spread: float = 0.7


@dataclass(frozen=True, eq=False)
class Truth:
    """How right labels of a take are.

    Attributes
    ----------
    shares : (T, h, w, L), how much of each cell has which class, at any scale; cells of which all is 0 do not count
    trust : points for each point of mean IoU that these shares let expect
    """

    shares: Float32
    trust: float = 1.0

    @classmethod
    def of_labels(cls, labels: UInt8, cells: tuple[int, int], n_labels: int) -> "Truth":
        """From labels (T, H, W), in which `IGNORE` does not count."""
        shares = np.zeros((len(labels), *cells, n_labels), np.float32)
        for own, out in zip(labels, shares, strict=True):
            for label in np.unique(own[own != IGNORE]):
                mask = np.asarray(own == label, np.float32)
                out[..., label] = cv2.resize(mask, cells[::-1], interpolation=cv2.INTER_AREA)
        return cls(shares)

    @classmethod
    def of_network(cls, take: Take, losses: Losses) -> "Truth":
        """What the dearest network predicts for each frame."""
        return cls(np.asarray(take.answers[take.names[-1]], np.float32), losses.trust)

    def points(self, labels: UInt8, rare: float) -> float:
        """Points of mean IoU of labels (T, h, w); classes with less than a share of `rare` do not count."""
        n_frames, height, width, n_labels = self.shares.shape
        flat = self.shares.reshape(n_frames * height, width, n_labels)
        return 100 * self.trust * expected_iou(labels.reshape(n_frames * height, width), flat, rare)


@dataclass(frozen=True)
class Lost:
    """What one way of working loses on a take, against the dearest network on every frame.

    Attributes
    ----------
    frames_per_key : frames for each key frame
    stride : one frame in this many was read
    carry : how predictions came to other frames
    distance : between neighbouring frames along flow, in the mean
    points : of mean IoU; without what fusing adds where every frame is a key frame
    """

    frames_per_key: float
    stride: int
    carry: str
    distance: float
    points: float


@dataclass(frozen=True)
class Found:
    """What was measured on one take.

    Attributes
    ----------
    n_frames : T
    lost : by every way of working
    gains : points by which each network is better than the cheapest
    fused : points by which fusing every frame with its neighbours is better than not
    """

    n_frames: int
    lost: Sequence[Lost]
    gains: Mapping[str, float] = field(default_factory=dict)
    fused: float = 0.0


def measure(take: Take, truth: Truth, sampling: Sampling, losses: Losses) -> Found:
    """What key frames, strides and ways of carrying lose on a take, and what its networks are worth.

    `losses` says which classes are too rare to count.
    """
    state, _ = opened(take)
    every = {name: _tops(take.answers[name]) for name in take.names}
    points = {name: truth.points(own, losses.rare) for name, own in every.items()}
    best = points[take.names[-1]]
    fused = truth.points(_carried(take, state, range(len(take.frames)), FLOW), losses.rare)
    lost: list[Lost] = []
    for stride in (1, *sampling.strides):
        if stride > 1:
            state, _ = opened(take, stride)
        for carry, base in ((FLOW, fused), (COPY, best)):
            lost += _lost(take, state, truth, base, carry, sampling, losses)
    gains = {name: own - points[take.names[0]] for name, own in points.items()}
    return Found(len(take.frames), tuple(lost), gains, fused - best)


def _lost(
    take: Take,
    state: FrameState,
    truth: Truth,
    base: float,
    carry: str,
    sampling: Sampling,
    losses: Losses,
) -> Iterator[Lost]:
    """What so many key frames lose, carried in one way between the frames that a state has read."""
    n_frames, numbers = len(take.frames), state.footage.numbers()
    stride = state.plan.stride
    distance = state.footage.step()
    state.plan = replace(state.plan, carry=carry)
    positions = state.timeline().positions[numbers]
    for frames_per_key in sampling.frames_per_key:
        n_keys = max(1, round(n_frames / frames_per_key))
        if frames_per_key > n_frames or n_keys > len(numbers):
            continue
        keys = [numbers[k] for k in medians(positions, n_keys)]
        labels = _carried(take, state, keys, carry)
        yield Lost(n_frames / n_keys, stride, carry, distance, base - truth.points(labels, losses.rare))


def _carried(take: Take, state: FrameState, keys: Sequence[int], carry: str) -> UInt8:
    """Labels (T, h, w) from these key frames of the dearest network."""
    last = len(take.names) - 1
    state.plan = replace(state.plan, carry=carry, edges=False)
    state.predictions = [{} for _ in take.names]
    state.predictions[last] = predictions_of(take, take.names[last], keys)
    out: UInt8 = np.empty(take.answers[take.names[last]].shape[:3], np.uint8)
    state.finish(np.inf, out)
    return out


def _tops(answers: Float16) -> UInt8:
    return np.asarray(answers.argmax(axis=3), np.uint8)


def mean_gains(found: Sequence[Found]) -> dict[str, float]:
    """Points by which each network is better than the cheapest, in the mean over the frames of all takes."""
    frames = np.array([own.n_frames for own in found], np.float64)
    return {name: float(np.average([own.gains[name] for own in found], weights=frames)) for name in found[0].gains}


def fit_losses(found: Sequence[Found], sampling: Sampling, start: Losses, has_labels: bool) -> Losses:
    """The losses that fit what carrying loses on takes.

    Parameters
    ----------
    found : on each take
    sampling : how much each is trusted
    start : values to begin with, near which fields stay of which little was seen
    has_labels : whether labels were the truth: only these can tell what fusing adds
    """
    rows = [lost for own in found for lost in own.lost]
    frames = np.array([own.n_frames for own in found], np.float64)
    fitted = _fit(rows, sampling, replace(start, alone=0.0))  # losses are without what fusing adds
    alone = float(np.average([own.fused for own in found], weights=frames)) if has_labels else start.alone
    return replace(fitted, alone=max(alone, 0.0))


def _fit(rows: Sequence[Lost], sampling: Sampling, start: Losses) -> Losses:
    """Fields of `FITTED` that are the most probable after these rows."""
    points = np.array([row.points for row in rows])
    began = np.log([getattr(start, name) for name in FITTED])

    def residuals(logs: Float64) -> Float64:
        losses = _with(start, logs)
        expected = np.array([expected_points(row, losses) for row in rows])
        return np.concatenate([(expected - points) / sampling.noise, (logs - began) / sampling.spread])

    return _with(start, least_squares(residuals, began).x)


def expected_points(row: Lost, losses: Losses) -> float:
    """Points that a row is expected to lose."""
    unread = min(1 - 1 / row.stride, 1 - 1 / row.frames_per_key)
    own = loss(row.frames_per_key, row.carry, row.distance, losses)
    return own + unread_loss(unread, row.carry, row.stride * row.distance, losses)


def _with(losses: Losses, logs: Float64) -> Losses:
    values = dict(zip(FITTED, np.exp(logs).tolist(), strict=True))
    return replace(losses, **values)
