"""Runs on labelled videos from which it is learned what to promise: simulated, by networks new to the videos.

For each video as it is, and in other light, blur, noise and colour: every frame is asked about once. The engine then
labels the video from these answers at several budgets, which pay for some key frames each.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import run
from budgetseg.engine.threads import for_each
from budgetseg.learning.calibrate import Example
from budgetseg.learning.disturb import DISTURBANCES, Disturbance, disturbed
from budgetseg.spaces.frames.settings import FrameSettings
from budgetseg.spaces.frames.signs import layout_of, signs_of
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import CostClock
from budgetseg.timing.margins import Margins
from budgetseg.timing.prices import Prices
from budgetseg.types import IGNORE, Budget, Classes, Float32, UInt8
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span

__all__ = ["Answered", "Labelled", "Rehearsals", "examples_of"]

NETWORK = "network"
Ask = Callable[[int, UInt8], Float32]
"""From the number of a frame and its pixels (H, W, 3) to probabilities (h, w, L)."""


@dataclass(frozen=True, eq=False)
class Labelled:
    """A video with the truth about it.

    Attributes
    ----------
    name : of the video
    frames : (T, H, W, 3)
    truth : (T, H, W), `IGNORE` where nothing is known
    rate : frames a second
    ask : a network that has not seen the video
    """

    name: str
    frames: UInt8
    truth: UInt8
    rate: float
    ask: Ask


@dataclass(frozen=True)
class Rehearsals:
    """Which runs are simulated.

    Attributes
    ----------
    disturbances : of each video
    carried : key frames for each 100 frames, where predictions are carried along flow
    copied : likewise where labels are copied
    flow_s : seconds of flow for each pixel that make it too dear where labels are to be copied
    """

    disturbances: tuple[Disturbance, ...] = DISTURBANCES
    carried: tuple[float, ...] = (2, 6, 16, 50, 100)
    copied: tuple[float, ...] = (6, 50)
    flow_s: float = 1e3


class Answered:
    """A network whose answers (T, h, w, L) for frames (T, H, W, 3) are looked up."""

    def __init__(self, frames: UInt8, answers: NDArray[np.float16]) -> None:
        height, width, n_labels = answers.shape[1:]
        self.shape = int(height), int(width), int(n_labels)
        self._answers = {_key(frame): answer for frame, answer in zip(frames, answers, strict=True)}

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L)."""
        return np.asarray(self._answers[_key(frame)], np.float32)

    def cut_off(self) -> None:
        """Nothing is ever under way."""


def examples_of(
    video: Labelled, class_shares: Float32, rehearsals: Rehearsals | None = None, cores: int = 1
) -> list[Example]:
    """Runs on a video.

    Parameters
    ----------
    video : with the truth about it
    class_shares : (L,) share of each class in the training pixels
    rehearsals : which runs
    cores : to use
    """
    rehearsals = rehearsals or Rehearsals()
    found: dict[int, list[Example]] = {}

    def do(k: int) -> None:
        found[k] = list(_examples(video, class_shares, rehearsals, rehearsals.disturbances[k]))

    for_each(range(len(rehearsals.disturbances)), do, cores)
    return [example for k in sorted(found) for example in found[k]]


def _examples(
    video: Labelled, class_shares: Float32, rehearsals: Rehearsals, disturbance: Disturbance
) -> Iterator[Example]:
    frames = disturbed(video.frames, disturbance)
    answers = np.stack([video.ask(t, frame).astype(np.float16) for t, frame in enumerate(frames)])
    network = Answered(frames, answers)
    truth = layout_of(video.truth, len(class_shares))
    is_known = video.truth != IGNORE
    for per_hundred, flow_s in ((rehearsals.carried, 0.0), (rehearsals.copied, rehearsals.flow_s)):
        for result in _runs(network, frames, video.rate, class_shares, per_hundred, flow_s):
            signs = signs_of(result, FrameSettings().losses.most)
            if signs is not None:
                accuracy = float(np.mean((result.labels == video.truth)[is_known])) if is_known.any() else 0.0
                yield Example(video.name, disturbance == Disturbance(), signs, truth, accuracy)


def _runs(
    network: Answered,
    frames: UInt8,
    rate: float,
    class_shares: Float32,
    per_hundred: Sequence[float],
    flow_s: float,
) -> list[Result]:
    """Results at budgets that pay for so many key frames and, if it costs nothing, for flow."""
    counts = sorted({max(1, round(share * len(frames) / 100)) for share in per_hundred})
    prices = Prices({f"frames {NETWORK}": 1.0, "frames flow": flow_s}, frozen=True)
    margins = Margins(finish=1.0, action=1.0, share=0.0, seconds=0.0)
    space = Frames({NETWORK: network}, class_shares, prices, 1, margins)
    clip = ArrayClip(frames, rate)
    n_labels = len(class_shares)
    classes = Classes(tuple(map(str, range(n_labels))), np.zeros((n_labels, 3), np.uint8))
    request = Request(tuple(Budget(n + 0.5) for n in counts), window=len(frames))
    return run(space, VideoSource(clip, Span(), clip.size), request, classes, CostClock())


def _key(frame: UInt8) -> int:
    return hash(np.ascontiguousarray(frame[::5, ::5]).tobytes())
