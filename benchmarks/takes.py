"""Stretches of videos with what every network predicts for every frame: tables that decisions are tried on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from budgetseg.engine.plan import Plan
from budgetseg.engine.trace import WindowTrace
from budgetseg.engine.window import Reader, Window
from budgetseg.spaces.frames.costs import FLOW
from budgetseg.spaces.frames.settings import FrameSettings
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.state import FrameState, Prediction
from budgetseg.timing.clock import ManualClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, UInt8
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span

__all__ = ["Float16", "Recorded", "Take", "opened", "predictions_of"]

Float16 = NDArray[np.float16]


@dataclass(frozen=True, eq=False)
class Take:
    """A stretch of a video, and what networks predict for each of its T frames.

    Attributes
    ----------
    frames : (T, H, W, 3)
    answers : probabilities (T, h, w, L) of each network, times what classes count, in half precision; from the
        cheapest network to the dearest
    rate : frames a second
    """

    frames: UInt8
    answers: Mapping[str, Float16]
    rate: float = 25.0

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the networks, from the cheapest to the dearest."""
        return tuple(self.answers)


class Recorded:
    """A network whose answers (T, h, w, L) for frames (T, H, W, 3) are looked up."""

    def __init__(self, frames: UInt8, answers: Float16) -> None:
        self.shape: tuple[int, int, int] = answers.shape[1:]
        self._answers = {_key(frame): answer for frame, answer in zip(frames, answers, strict=True)}

    def __call__(self, frame: UInt8) -> Float32:
        """Probabilities (h, w, L)."""
        return np.asarray(self._answers[_key(frame)], np.float32)

    def cut_off(self) -> None:
        """Nothing is ever under way."""


def _key(frame: UInt8) -> int:
    return hash(np.ascontiguousarray(frame[::5, ::5]).tobytes())


def opened(take: Take, stride: int = 1) -> tuple[FrameState, list[int]]:
    """The state of a window that is a whole take, with flow between the frames that were read, and their numbers.

    One frame in `stride` was read, and the last. No network was asked.
    """
    n_frames = len(take.frames)
    networks = {name: Recorded(take.frames, answers) for name, answers in take.answers.items()}
    n_labels = next(iter(networks.values())).shape[2]
    shares: Float32 = np.full(n_labels, 1 / n_labels, np.float32)  # the answers are times what classes count
    space = Frames(networks, shares, Prices(frozen=True), 1, settings=FrameSettings(rehearsals=0))
    clip = ArrayClip(take.frames, take.rate)
    window = Window(0, range(n_frames), Reader(VideoSource(clip, Span(), clip.size), 1), is_last=True)
    plan = Plan(n_frames, (clip.size[1], clip.size[0]), stride, carry=FLOW)
    state = FrameState(space, window, take.rate, plan, Account(ManualClock(), space.prices, Ledger(None)))
    numbers = sorted({*range(0, n_frames, stride), n_frames - 1})
    state.prepare_again(WindowTrace(n_frames, numbers, (1, 1), n_frames, (), ()), len(numbers))
    state.footage.find_flow(np.inf)
    state.footage.look(np.inf)
    return state, numbers


def predictions_of(take: Take, network: str, keys: Sequence[int]) -> dict[int, Prediction]:
    """Predictions of a network for some frames, by number of the frame."""
    answers = take.answers[network]
    return {key: Prediction.of(np.ascontiguousarray(answers[key], np.float32)) for key in keys}
