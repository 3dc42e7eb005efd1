"""Runs on labelled videos from which it is learned what to promise: simulated, by networks new to the videos.

For each video as it is, and in other light, blur, noise and colour: every frame is asked about once. The engine then
labels the video from these answers at several budgets, which pay for some key frames each.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from budgetseg.datasets.core import LabelledVideo
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import run
from budgetseg.engine.threads import for_each
from budgetseg.learning.calibrate import Example, calibrate
from budgetseg.learning.disturb import DISTURBANCES, Disturbance, disturbed
from budgetseg.networks.card import card_for
from budgetseg.networks.run import OnnxNetwork
from budgetseg.networks.seen import stand_ins
from budgetseg.spaces.frames.calibration import Calibration
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

__all__ = ["Answered", "Labelled", "Rehearsals", "calibration_of", "examples_of", "unseen"]

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
    frames : of a video at most, the first ones
    videos : at most, spread over all
    seconds : of a piece: runs are judged as a whole and in pieces, since short film differs more than long one
    """

    disturbances: tuple[Disturbance, ...] = DISTURBANCES
    carried: tuple[float, ...] = (2, 6, 16, 50, 100)
    copied: tuple[float, ...] = (6, 50)
    flow_s: float = 1e3
    frames: int = 150
    videos: int = 24
    seconds: float = 10.0


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


def calibration_of(
    videos: Iterable[Labelled],
    class_shares: Float32,
    truth: str = "labels",
    rehearsals: Rehearsals | None = None,
    cores: int = 1,
) -> Calibration | None:
    """What may be promised, from videos and the truth about them; None where there are too few videos.

    Parameters
    ----------
    videos : each by a network that has not seen it; a video may come several times, by several networks
    class_shares : (L,) share of each class in the training pixels
    truth : what the truth is: `labels`, or the name of the network that stands in for them
    rehearsals : which runs
    cores : to use
    """
    return calibrate(
        [example for video in videos for example in examples_of(video, class_shares, rehearsals, cores)], truth
    )


def unseen(
    videos: Sequence[LabelledVideo], networks: Path, names: Sequence[str], classes: Classes, rehearsals: Rehearsals
) -> Iterator[Labelled]:
    """Videos of a dataset by each network of which there are fold networks that have not seen them.

    Parameters
    ----------
    videos : of the training
    networks : folder, as `budgetseg train-network --folds 4` writes it
    names : of networks in it
    classes : that are predicted
    rehearsals : how many videos and frames
    """
    some = [videos[k] for k in np.unique(np.linspace(0, len(videos) - 1, rehearsals.videos).round().astype(int))]
    with_folds = [name for name in names if any(networks.glob(f"fold-*/{name}.onnx"))]
    for video in some if with_folds else ():
        whole = video.video()
        frames = whole.frames[: rehearsals.frames]
        truth = np.full(frames.shape[:3], IGNORE, np.uint8)
        for t, labels in zip(video.labelled, video.labels(), strict=True):
            if t < len(truth):
                truth[t] = labels
        rate = 1 / float(np.median(np.diff(whole.times_s))) if len(whole.times_s) > 1 else 1.0
        for name in with_folds:
            paths = [path or networks / f"{name}.onnx" for path in stand_ins(networks, name, frames)]
            yield Labelled(video.name, frames, truth, rate, _asking(paths, classes))


def _asking(paths: Sequence[Path], classes: Classes) -> Ask:
    """The network of each frame."""
    opened = {path: OnnxNetwork(card_for(path), 1).among(classes.names) for path in set(paths)}
    return lambda t, frame: opened[paths[t]](frame)


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
    whole = slice(0, len(frames))
    pieces = dict.fromkeys([(0, len(frames)), *_pieces(len(frames), video.rate * rehearsals.seconds)])
    ways = (rehearsals.carried, 0.0), (rehearsals.copied, rehearsals.flow_s)
    for per_hundred, flow_s in [way for way in ways if way[0]]:
        for result in _runs(network, frames, video.rate, class_shares, per_hundred, flow_s):
            is_right = result.labels == video.truth
            for piece in [slice(*ends) for ends in pieces]:
                signs = signs_of(result, FrameSettings().losses.most, piece)
                if signs is not None:
                    right = is_right[piece][is_known[piece]]
                    accuracy = float(np.mean(right)) if len(right) else 0.0
                    is_plain = piece == whole and disturbance == Disturbance()
                    yield Example(video.name, is_plain, signs, truth, accuracy)


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


def _pieces(n_frames: int, length: float) -> list[tuple[int, int]]:
    """First frames, and those to stop before, of stretches of about so many frames."""
    ends = np.linspace(0, n_frames, max(1, round(n_frames / length)) + 1).round().astype(int).tolist()
    return list(pairwise(ends))


def _key(frame: UInt8) -> int:
    return hash(np.ascontiguousarray(frame[::5, ::5]).tobytes())
