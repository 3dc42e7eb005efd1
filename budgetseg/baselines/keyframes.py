"""Key frames: the network runs on every k-th frame, and optical flow propagates its predictions to the others.

A frame is fused from the key frames before and after it, each through the composed flow from frame to frame. The nearer
one counts more, and so does the one that looks more alike where the flow leads. Flow is computed once for two
neighbouring frames, from the later to the earlier, and inverted on the way to a later key frame.
"""

from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from pathlib import Path
from types import TracebackType
from typing import Self, TypeAlias

import numpy as np

from budgetseg.baselines.keyframe_plan import (
    COPY,
    FLOW,
    KeyframeCosts,
    KeyframePlan,
    KeyframeSettings,
    plan_keyframes,
)
from budgetseg.datasets.synthetic import render
from budgetseg.engine.threads import one_thread_each
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
from budgetseg.video.images import ImageFolder

__all__ = [
    "EVERY_FRAME",
    "KeyframeLabeller",
    "KeyframeRun",
    "key_frames",
    "label_keyframes",
    "label_keyframes_within",
    "measure_costs",
]

Network = Callable[[UInt8], Float32]
"""Maps a frame (H, W, 3), uint8, to probabilities (h, w, L), as `OnnxNetwork` does."""
Clock = Callable[[], float]
"""Returns seconds since some fixed moment."""

Frames: TypeAlias = "UInt8 | _Unread"
"""Frames (T, H, W, 3), in memory or on disk."""

NETWORK = "network"
"""Key frames are labelled by the network; the other ways to label a frame are `FLOW` and `COPY`."""
SETTINGS = Propagation()
EVERY_FRAME = KeyframeSettings(flow_worth=0.0)
"""As many key frames as fit, all others being copies of the nearest: with enough time, a network on every frame."""


@dataclass(frozen=True, eq=False)
class KeyframeRun:
    """A video labelled within a budget.

    Attributes
    ----------
    labels : (T, H, W) uint8
    keys : numbers of the key frames, ascending
    frames : number of frames that were labelled in each way: network, flow, copy
    budget_s, spent_s : seconds that were given, and that the run took, with decoding
    decode_s : seconds until all frames were decoded
    note : a line on the effect of a budget that is too small; empty if it is not
    """

    labels: UInt8
    keys: tuple[int, ...]
    frames: dict[str, int]
    budget_s: float
    spent_s: float
    decode_s: float
    note: str


def label_keyframes(
    video: Video,
    network: Network,
    k: int,
    carry: str = FLOW,
    threads: int = 1,
    settings: KeyframeSettings | None = None,
) -> UInt8:
    """Labels (T, H, W), uint8, from the network on every k-th frame; k = 1 is every frame, k = T a single key frame.

    Parameters
    ----------
    video : T frames
    network : runs on ceil(T / k) of them
    k : distance of key frames
    carry : how other frames get their labels: `flow`, or `copy`, those of the nearest key frame unchanged
    threads : that run the network and propagate; the labels are the same for any number
    settings : None for the default
    """
    if k < 1:
        raise UsageError(f"k must be 1 or more. Got {k}; 1 runs the network on every frame")
    if carry not in (FLOW, COPY):
        raise UsageError(f"labels cannot be carried by '{carry}'; choose from {FLOW}, {COPY}")
    settings = settings or KeyframeSettings()
    n_frames = len(video.frames)
    batch = settings.batch * threads
    keys = key_frames(n_frames, -(-n_frames // k))
    with one_thread_each(), KeyframeLabeller(video.frames, network, threads) as labeller:
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
    settings: KeyframeSettings | None = None,
) -> KeyframeRun:
    """Label a video with as many key frames as fit in a budget.

    All frames are read first. Where nothing is carried along flow (`EVERY_FRAME`) and frames can be left out, as in
    folders of images, a key frame is read when its turn comes, and no other frame is. If reading takes all of the
    budget, one key frame is labelled nevertheless, and the run is late.

    Parameters
    ----------
    video : a video, or the path of one
    network : runs on key frames
    budget_s : seconds from now, in which the video is also decoded
    costs : seconds per frame that the first plan is made with (see `measure_costs`); later plans use what was measured
        in the run
    clock : measures the run; None for the system's
    threads : that run the network and propagate
    settings : None for the default
    """
    if not budget_s > 0:
        raise UsageError(f"a budget must be more than 0 s. Got {budget_s}")
    settings = settings or KeyframeSettings()
    clock = clock or WallClock().now_s
    started = clock()
    source = open_video(video, threads=threads) if isinstance(video, str | Path) else video
    frames = _frames_of(source, settings)
    decode_s = clock() - started
    at = 0.0
    note = ""
    with one_thread_each(), KeyframeLabeller(frames, network, threads, clock) as labeller:
        while labeller.n_left:
            left_s = (1 - settings.reserve) * (started + budget_s - clock())
            least = 0 if labeller.keys else 1
            plan = plan_keyframes(labeller.n_left, left_s, labeller.refined(costs), least, settings)
            if plan.n_keys:
                n = threads if not labeller.keys else min(settings.batch * threads, max(plan.n_keys // 2, threads))
                keys, at = _next_keys(plan, labeller.keys, at, n)
                labeller.advance(keys, plan.carry)
            if plan.n_keys == least:
                labeller.finish(plan.carry)
            if not plan.fits:
                note = _too_small(budget_s, len(frames) - plan.n_frames, labeller.keys)
    spent_s = clock() - started
    return KeyframeRun(labeller.labels, tuple(labeller.keys), labeller.counts, budget_s, spent_s, decode_s, note)


def measure_costs(
    network: Network,
    size: tuple[int, int] = (480, 360),
    *,
    clock: Clock | None = None,
    threads: int = 1,
    settings: KeyframeSettings | None = None,
) -> KeyframeCosts:
    """Measure the seconds per frame on this machine, and compile all code that a run needs.

    Parameters
    ----------
    network : runs on key frames
    size : width and height of the videos to be labelled
    clock : measures; None for the system's
    threads : that run the network and propagate
    settings : None for the default
    """
    settings = settings or KeyframeSettings()
    n_keys = settings.batch * threads
    street = render(0, 4 * n_keys, size)[0].frames

    def trial(carry: str) -> KeyframeLabeller:
        with one_thread_each(), KeyframeLabeller(street, network, threads, clock) as labeller:
            labeller.advance(key_frames(len(street), n_keys), carry)
        return labeller

    trials = [(trial(FLOW), trial(COPY)) for _ in range(1 + settings.trials)][1:]  # the first compiles
    # The least, since other programs can only slow a trial down.
    return KeyframeCosts(
        network_s=min(flown.mean_s(NETWORK) for flown, _ in trials),
        flow_s=min(flown.mean_s(FLOW) for flown, _ in trials),
        copy_s=min(copied.mean_s(COPY) for _, copied in trials),
    )


class _Unread:
    """Frames of a video, each read when it is asked for, by the thread that asks."""

    def __init__(self, source: VideoSource) -> None:
        self.shape = (source.n_frames or source.count(), source.height, source.width, 3)
        self._source = source

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, number: int) -> UInt8:
        return next(self._source.pick([number])).pixels


def _frames_of(source: Video | VideoSource, settings: KeyframeSettings) -> "Frames":
    """Frames (T, H, W, 3), read now, or later where that saves reading those that are copied."""
    if isinstance(source, Video):
        return source.frames
    if source.can_skip and settings.flow_worth == 0:
        clip = source.clip
        return _Unread(replace(source, clip=replace(clip, threads=1) if isinstance(clip, ImageFolder) else clip))
    return source.read().frames


@dataclass(frozen=True, eq=False)
class _Key:
    """A key frame: its number, the network's probabilities (h, w, L), and the most probable classes (h, w)."""

    index: int
    probabilities: Float32
    top: UInt8


class KeyframeLabeller:
    """Labels a video from the front: the next key frames, and the frames before them.

    Parameters
    ----------
    frames : (T, H, W, 3) uint8
    network : runs on key frames
    threads : that run the network and propagate
    clock : measures both; None for the system's

    Attributes
    ----------
    labels : (T, H, W) uint8, written up to the last key frame
    keys : numbers of the key frames so far
    counts, spent_s : numbers of frames, and seconds, by the way frames were labelled: network, flow, copy
    """

    def __init__(self, frames: "Frames", network: Network, threads: int = 1, clock: Clock | None = None) -> None:
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
        """Number of frames that have no labels yet."""
        if self._is_finished:
            return 0
        n_done = self.keys[-1] + 1 if self.keys else 0
        return len(self.labels) - n_done

    def advance(self, keys: Sequence[int], carry: str) -> None:
        """Run the network on the next key frames, and label the frames before them."""
        started = self._clock()
        new_keys = list(self._pool.map(self._run_network, keys))
        self._book(NETWORK, len(new_keys), started)
        self._fill([self._last, *new_keys], carry)
        self._last = new_keys[-1]
        self.keys.extend(keys)

    def finish(self, carry: str) -> None:
        """Label the frames after the last key frame."""
        self._fill([self._last, None], carry)
        self._is_finished = True

    def mean_s(self, way: str) -> float:
        """Mean seconds of a frame that was labelled in a way: network, flow or copy."""
        return self.spent_s[way] / self.counts[way]

    def refined(self, costs: KeyframeCosts) -> KeyframeCosts:
        """Costs corrected by what was measured in this run. The expected seconds count as one more frame.

        If the network is slower or faster than expected, what was not measured yet is taken to be so, too.
        """

        def mean_s(way: str, expected_s: float) -> float:
            return (expected_s + self.spent_s[way]) / (1 + self.counts[way])

        network_s = mean_s(NETWORK, costs.network_s)
        slowdown = network_s / costs.network_s
        return KeyframeCosts(network_s, mean_s(FLOW, slowdown * costs.flow_s), mean_s(COPY, slowdown * costs.copy_s))

    def _book(self, way: str, n: int, started: float) -> None:
        self.counts[way] += n
        self.spent_s[way] += self._clock() - started

    def _run_network(self, index: int) -> _Key:
        probabilities = np.ascontiguousarray(self._network(self._frames[index]), np.float32)
        key = _Key(index, probabilities, top_classes(probabilities))
        paint(probabilities, key.top, self.labels[index])
        return key

    def _fill(self, keys: Sequence[_Key | None], carry: str) -> None:
        """Label the frames between each two key frames; None stands for the start or the end of the video."""
        started = self._clock()
        done = sum(self._pool.map(lambda gap: self._label_between(gap[0], gap[1], carry), pairwise(keys)))
        self._book(carry, done, started)

    def _label_between(self, before: _Key | None, after: _Key | None, carry: str) -> int:
        """Label the frames between two key frames. Returns their number."""
        first = 0 if before is None else before.index + 1
        end = len(self.labels) if after is None else after.index
        if first == end:
            return 0
        if carry == COPY:
            _copy(self.labels, range(first, end), [key.index for key in (before, after) if key is not None])
        elif before is not None and after is not None:
            _propagate_between(self._frames, self.labels, before, after)
        elif before is not None:
            _propagate_from(self._frames, self.labels, before, range(first, end))
        elif after is not None:
            _propagate_from(self._frames, self.labels, after, range(end - 1, -1, -1))
        return end - first


def _next_keys(plan: KeyframePlan, keys: Sequence[int], at: float, n: int) -> tuple[list[int], float]:
    """The next n key frames or fewer, and the ideal place of the last of them, a fraction of a frame.

    `at` is the ideal place of the last key frame of the call before.
    """
    first = keys[-1] + 1 if keys else 0
    n_frames = plan.n_frames + first
    gap = (n_frames - at) / (plan.n_keys + 0.5) if keys else n_frames / plan.n_keys
    ideal = [at + gap * (k + (1 if keys else 0.5)) for k in range(min(n, plan.n_keys))]
    return [max(first + k, int(place)) for k, place in enumerate(ideal)], ideal[-1]


def _too_small(budget_s: float, since: int, keys: Sequence[int]) -> str:
    whose = f"frames from {since} on" if since else "all frames"
    return f"a budget of {budget_s:.3g} s is too small: {whose} have the labels of frame {keys[-1]}"


def _propagate_between(frames: Frames, labels: UInt8, before: _Key, after: _Key) -> None:
    """Label all frames between two key frames from both."""
    shape = before.top.shape
    n = after.index - before.index - 1
    small = [reduced(frames[t], SETTINGS.flow_pixels) for t in range(before.index, after.index + 1)]
    grey = [grey_cells(frame, shape) for frame in small]
    steps = [step_flow(later, earlier, shape) for earlier, later in pairwise(small)]
    to_before = _chains(steps[:-1], 1.0)
    to_after = _chains(steps[:0:-1], -1.0)[::-1]
    for k in range(n):
        first = Source(before.probabilities, before.top, grey[0], to_before[k], 1 / (k + 1))
        second = Source(after.probabilities, after.top, grey[-1], to_after[k], 1 / (n - k))
        paint(*fuse(grey[k + 1], [first, second], SETTINGS), labels[before.index + 1 + k])


def _propagate_from(frames: Frames, labels: UInt8, key: _Key, numbers: Iterable[int]) -> None:
    """Label frames from the key frame at one end of them, the nearest first."""
    shape = key.top.shape
    small = reduced(frames[key.index], SETTINGS.flow_pixels)
    grey = grey_cells(small, shape)
    chain = np.zeros((*shape, 2), np.float32)
    for index in numbers:
        nearer = small
        small = reduced(frames[index], SETTINGS.flow_pixels)
        chain = compose(step_flow(small, nearer, shape), 1.0, chain)
        source = Source(key.probabilities, key.top, grey, chain, 1.0)
        paint(*fuse(grey_cells(small, shape), [source], SETTINGS), labels[index])


def _chains(steps: Sequence[Float32], sign: float) -> list[Float32]:
    """Composed flow to a key frame, for one frame after the other; the first step is that of its neighbour."""
    return list(accumulate(steps, lambda chain, step: compose(step, sign, chain), initial=steps[0] * 0))[1:]


def _copy(labels: UInt8, indices: Iterable[int], keys: Sequence[int]) -> None:
    """Give frames the labels of the nearest key frame."""
    for index in indices:
        labels[index] = labels[min(keys, key=lambda key: abs(key - index))]
