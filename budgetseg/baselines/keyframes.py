"""Key frames: the network on every k-th frame, its predictions carried to the other frames along optical flow.

A frame is fused from the key frames before and after it, each through the flow from frame to frame, composed. The
nearer counts more, and so does the one that looks more alike where the flow leads. Flow is found once for two
neighbouring frames, from the later to the earlier, and turned round on the way to a later key frame.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import accumulate, pairwise
from pathlib import Path
from types import TracebackType
from typing import Self

import numpy as np

from budgetseg.baselines.keyframe_plan import COPY, FLOW, KeyframeCosts, KeyframePlan, plan_keyframes
from budgetseg.datasets.synthetic import render
from budgetseg.errors import UsageError
from budgetseg.propagate.cells import grey_cells, reduced, step_flow, top_classes
from budgetseg.propagate.chains import compose
from budgetseg.propagate.fusion import Source, fuse
from budgetseg.propagate.order import key_frames
from budgetseg.propagate.paint import paint
from budgetseg.propagate.settings import Propagation
from budgetseg.timing.clock import WallClock
from budgetseg.types import Float32, UInt8, Video
from budgetseg.video import VideoSource, open_video

__all__ = [
    "KeyframeLabeller",
    "KeyframeRun",
    "key_frames",
    "label_keyframes",
    "label_keyframes_within",
    "measure_costs",
]

Network = Callable[[UInt8], Float32]
"""From a frame (H, W, 3) to probabilities (h, w, L), as `OnnxNetwork`."""
Clock = Callable[[], float]
"""Seconds since any moment."""

NETWORK = "network"
SETTINGS = Propagation()
RESERVE = 0.03
"""Share of the time left that plans keep back."""
TRIALS = 3
BATCH = 4
"""Key frames for each thread that are asked about before the frames between them are labelled."""


@dataclass(frozen=True, eq=False)
class KeyframeRun:
    """Labels, and what was done for them within a budget.

    Attributes
    ----------
    labels : (T, H, W) uint8
    keys : the key frames, ascending
    frames : how many frames were labelled in which way: network, flow, copy
    budget_s, spent_s : seconds that were given, and that it took, decoding included
    decode_s : seconds until all frames were there
    note : a line on what a budget that is too small led to; empty where it is not
    """

    labels: UInt8
    keys: tuple[int, ...]
    frames: dict[str, int]
    budget_s: float
    spent_s: float
    decode_s: float
    note: str


def label_keyframes(video: Video, network: Network, k: int, carry: str = FLOW, threads: int = 1) -> UInt8:
    """Labels (T, H, W) by the network on every k-th frame; k = 1 is the network on each, k = T one key frame.

    Parameters
    ----------
    video : T frames
    network : asked about ceil(T / k) of them
    k : frames for each key frame
    carry : how other frames get their labels: `flow`, or `copy`, those of the nearest key frame as they are
    threads : that ask the network and carry; the labels are the same for any number
    """
    if k < 1:
        raise UsageError(f"k must be 1 or more. Got {k}; 1 runs the network on every frame")
    if carry not in (FLOW, COPY):
        raise UsageError(f"labels cannot be carried by '{carry}'; choose from {FLOW}, {COPY}")
    n_frames, batch = len(video.frames), BATCH * threads
    keys = key_frames(n_frames, -(-n_frames // k))
    with KeyframeLabeller(video.frames, network, threads) as labeller:
        for start in range(0, len(keys), batch):
            labeller.advance(keys[start : start + batch], carry)
        labeller.finish(carry)
    return labeller.labels


def label_keyframes_within(
    video: Video | VideoSource | str | Path,
    network: Network,
    budget_s: float,
    costs: KeyframeCosts,
    *,
    clock: Clock | None = None,
    threads: int = 1,
) -> KeyframeRun:
    """Labels with as many key frames as fit in `budget_s` seconds from now, in which the video is decoded, too.

    `costs` (see `measure_costs`) make the first plan; what is measured on the way corrects the plan for the rest.
    """
    if not budget_s > 0:
        raise UsageError(f"a budget must be more than 0 s. Got {budget_s}")
    clock = clock or WallClock().now_s
    started = clock()
    source = open_video(video, threads=threads) if isinstance(video, str | Path) else video
    frames = source.frames if isinstance(source, Video) else source.read().frames
    decode_s = clock() - started
    at, note = 0.0, ""
    with KeyframeLabeller(frames, network, threads, clock) as labeller:
        while labeller.n_left:
            left_s, least = (1 - RESERVE) * (started + budget_s - clock()), 0 if labeller.keys else 1
            plan = plan_keyframes(labeller.n_left, left_s, labeller.refined(costs), least)
            if plan.n_keys:
                keys, at = _next_keys(plan, labeller.keys, at, threads)
                labeller.advance(keys, plan.carry)
            if plan.n_keys == least:
                labeller.finish(plan.carry)
            if not plan.fits:
                note = _too_small(budget_s, len(frames) - plan.n_frames, labeller.keys)
    spent_s = clock() - started
    return KeyframeRun(labeller.labels, tuple(labeller.keys), labeller.counts, budget_s, spent_s, decode_s, note)


def measure_costs(
    network: Network, size: tuple[int, int] = (480, 360), *, clock: Clock | None = None, threads: int = 1
) -> KeyframeCosts:
    """Seconds a frame on this machine, of videos of a size (width, height); compiles all that a run needs."""
    street = render(0, 4 * BATCH * threads, size)[0].frames

    def trial(carry: str) -> KeyframeLabeller:
        with KeyframeLabeller(street, network, threads, clock) as labeller:
            labeller.advance(key_frames(len(street), BATCH * threads), carry)
        return labeller

    trials = [(trial(FLOW), trial(COPY)) for _ in range(1 + TRIALS)][1:]  # the first compiles
    # The least, since other programs only ever add to it.
    return KeyframeCosts(
        network_s=min(flown.mean_s(NETWORK) for flown, _ in trials),
        flow_s=min(flown.mean_s(FLOW) for flown, _ in trials),
        copy_s=min(copied.mean_s(COPY) for _, copied in trials),
    )


@dataclass(frozen=True, eq=False)
class _Key:
    """A key frame and what the network predicts for it, (h, w, L), with the most probable classes, (h, w)."""

    index: int
    probabilities: Float32
    top: UInt8


class KeyframeLabeller:
    """Labels a video from the front: the next key frames, and the frames before them.

    Parameters
    ----------
    frames : (T, H, W, 3)
    network : asked about key frames
    threads : that ask and carry
    clock : times both; None for the system's

    Attributes
    ----------
    labels : (T, H, W) uint8, done up to the last key frame
    keys : the key frames so far
    counts, spent_s : frames and seconds by how frames were labelled: network, flow, copy
    """

    def __init__(self, frames: UInt8, network: Network, threads: int = 1, clock: Clock | None = None) -> None:
        self.labels: UInt8 = np.empty(frames.shape[:3], np.uint8)
        self.keys: list[int] = []
        self.counts = dict.fromkeys((NETWORK, FLOW, COPY), 0)
        self.spent_s = dict.fromkeys(self.counts, 0.0)
        self._frames = frames
        self._network = network
        self._clock = clock or WallClock().now_s
        self._pool = ThreadPoolExecutor(threads)
        self._last: _Key | None = None
        self._is_finished = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._pool.shutdown()

    @property
    def n_left(self) -> int:
        """Frames that have no labels yet."""
        return 0 if self._is_finished else len(self.labels) - (self.keys[-1] + 1 if self.keys else 0)

    def advance(self, keys: Sequence[int], carry: str) -> None:
        """Ask about the next key frames and label those before them."""
        started = self._clock()
        asked = list(self._pool.map(self._ask, keys))
        self._book(NETWORK, len(asked), started)
        self._fill([self._last, *asked], carry)
        self._last = asked[-1]
        self.keys.extend(keys)

    def finish(self, carry: str) -> None:
        """Label the frames after the last key frame."""
        self._fill([self._last, None], carry)
        self._is_finished = True

    def mean_s(self, way: str) -> float:
        """Seconds of a frame that was labelled in one way."""
        return self.spent_s[way] / self.counts[way]

    def refined(self, costs: KeyframeCosts) -> KeyframeCosts:
        """KeyframeCosts by what was measured here; what was expected counts as one more frame.

        Where the network is slower or faster than expected, so is what was not measured yet.
        """

        def mean_s(way: str, expected_s: float) -> float:
            return (expected_s + self.spent_s[way]) / (1 + self.counts[way])

        network_s = mean_s(NETWORK, costs.network_s)
        slowdown = network_s / costs.network_s
        return KeyframeCosts(network_s, mean_s(FLOW, slowdown * costs.flow_s), mean_s(COPY, slowdown * costs.copy_s))

    def _book(self, way: str, n: int, started: float) -> None:
        self.counts[way] += n
        self.spent_s[way] += self._clock() - started

    def _ask(self, index: int) -> _Key:
        probabilities = np.ascontiguousarray(self._network(self._frames[index]), np.float32)
        key = _Key(index, probabilities, top_classes(probabilities))
        paint(probabilities, key.top, self.labels[index])
        return key

    def _fill(self, keys: Sequence[_Key | None], carry: str) -> None:
        """Label the frames between each two key frames; None stands for before the first and after the last."""
        started = self._clock()
        done = sum(self._pool.map(lambda gap: self._label_between(gap[0], gap[1], carry), pairwise(keys)))
        self._book(carry, done, started)

    def _label_between(self, before: _Key | None, after: _Key | None, carry: str) -> int:
        first = 0 if before is None else before.index + 1
        end = len(self.labels) if after is None else after.index
        if first == end:
            return 0
        if carry == COPY:
            _copy(self.labels, range(first, end), [key.index for key in (before, after) if key is not None])
        elif before is not None and after is not None:
            _carry_between(self._frames, self.labels, before, after)
        elif before is not None:
            _carry_away(self._frames, self.labels, before, range(first, end))
        elif after is not None:
            _carry_away(self._frames, self.labels, after, range(end - 1, -1, -1))
        return end - first


def _next_keys(plan: KeyframePlan, keys: Sequence[int], at: float, n: int) -> tuple[list[int], float]:
    """The next n key frames or less, and where the last of them should lie, of which whole frames are only near."""
    n_frames, n = plan.n_frames + (keys[-1] + 1 if keys else 0), min(n, plan.n_keys)
    gap = (n_frames - at) / (plan.n_keys + 0.5) if keys else n_frames / plan.n_keys
    ideal = [at + gap * (k + (1 if keys else 0.5)) for k in range(n)]
    first = keys[-1] + 1 if keys else 0
    return [max(first + k, int(place)) for k, place in enumerate(ideal)], ideal[-1]


def _too_small(budget_s: float, since: int, keys: Sequence[int]) -> str:
    whose = f"frames from {since} on" if since else "all frames"
    return f"a budget of {budget_s:.3g} s is too small: {whose} have the labels of frame {keys[-1]}"


def _carry_between(frames: UInt8, labels: UInt8, before: _Key, after: _Key) -> None:
    """Label all frames between two key frames from both."""
    shape, n = before.top.shape, after.index - before.index - 1
    small = [reduced(frame, SETTINGS.flow_pixels) for frame in frames[before.index : after.index + 1]]
    grey = [grey_cells(one, shape) for one in small]
    steps = [step_flow(later, earlier, shape) for earlier, later in pairwise(small)]
    to_before, to_after = _chains(steps[:-1], 1.0), _chains(steps[:0:-1], -1.0)[::-1]
    for k in range(n):
        first = Source(before.probabilities, before.top, grey[0], to_before[k], 1 / (k + 1))
        second = Source(after.probabilities, after.top, grey[-1], to_after[k], 1 / (n - k))
        paint(*fuse(grey[k + 1], [first, second], SETTINGS), labels[before.index + 1 + k])


def _carry_away(frames: UInt8, labels: UInt8, key: _Key, away: Iterable[int]) -> None:
    """Label frames from the key frame at one end of them, the nearest first."""
    shape, small = key.top.shape, reduced(frames[key.index], SETTINGS.flow_pixels)
    grey, chain = grey_cells(small, shape), np.zeros((*shape, 2), np.float32)
    for index in away:
        nearer, small = small, reduced(frames[index], SETTINGS.flow_pixels)
        chain = compose(step_flow(small, nearer, shape), 1.0, chain)
        source = Source(key.probabilities, key.top, grey, chain, 1.0)
        paint(*fuse(grey_cells(small, shape), [source], SETTINGS), labels[index])


def _chains(steps: Sequence[Float32], sign: float) -> list[Float32]:
    """Chains to a key frame, the first step being that of its neighbour."""
    return list(accumulate(steps, lambda chain, step: compose(step, sign, chain), initial=steps[0] * 0))[1:]


def _copy(labels: UInt8, indices: Iterable[int], keys: Sequence[int]) -> None:
    """Give frames the labels of the nearest key frame."""
    for index in indices:
        labels[index] = labels[min(keys, key=lambda key: abs(key - index))]
