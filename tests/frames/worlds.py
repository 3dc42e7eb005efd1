"""Frames that move, networks that can be worked out by hand, and clocks that only they drive."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import cv2
import numpy as np
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.label import ByFrames
from budgetseg.inference.contention import Contention
from budgetseg.inference.stages import StageCosts

from budgetseg.datasets.synthetic import render
from budgetseg.engine.request import Request
from budgetseg.types import Budget, Float32, UInt8
from budgetseg.video import Frame, VideoSource
from budgetseg.video.core import Span

SIZE = (96, 64)
CELLS = (16, 24)
N_LABELS = 3
COSTS = {"dcnn": 0.01, "dcnn_large": 0.05}


class Clock:
    """Time that passes only when somebody says so."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now

    def pass_by(self, seconds: float) -> None:
        self.now += seconds


class Calm(Contention):
    """Nobody else uses this machine."""

    def look(self) -> None:
        pass


@dataclass
class Shades:
    """A network that tells dark, middle and bright apart; it takes its time, and may lean to bright on the left."""

    clock: Clock
    cost_s: float = 0.0
    shape: tuple[int, int, int] = (*CELLS, N_LABELS)
    sharp: float = 8.0
    lean: float = 0.0

    def __call__(self, frame: UInt8) -> Float32:
        self.clock.pass_by(self.cost_s)
        grey = cv2.resize(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), CELLS[::-1], interpolation=cv2.INTER_AREA) / 255
        grey = grey + self.lean * np.linspace(1, 0, CELLS[1])
        powers = np.exp(-self.sharp * np.abs(grey[..., None] - np.array([0.2, 0.5, 0.8])))
        return np.asarray(powers / powers.sum(axis=2, keepdims=True), np.float32)

    def cut_off(self) -> None:
        pass


@dataclass(frozen=True, eq=False)
class Clip:
    """Frames in memory that take their time to be read."""

    pixels: UInt8
    clock: Clock
    read_s: float = 0.0
    path: Path = Path("clip.stub")
    name: str = "clip"
    rate: float = 25.0
    duration_s: float | None = None
    stems: tuple[str, ...] | None = None

    @property
    def size(self) -> tuple[int, int]:
        return self.pixels.shape[2], self.pixels.shape[1]

    @property
    def n_frames(self) -> int:
        return len(self.pixels)

    def count(self) -> int:
        return len(self.pixels)

    def frames(self, span: Span) -> Iterator[Frame]:
        for index in span.within(len(self.pixels)):
            self.clock.pass_by(self.read_s)
            yield Frame(index, index / self.rate, self.pixels[index])


def street(n_frames: int, size: tuple[int, int] = SIZE) -> UInt8:
    return render(3, n_frames, size)[0].frames


def source(pixels: UInt8, clock: Clock, read_s: float = 0.0) -> VideoSource:
    clip = Clip(pixels, clock, read_s)
    return VideoSource(clip, Span(), clip.size)


def engine(
    clock: Clock, costs: Mapping[str, float], known: Mapping[str, float] | None = None, read_s: float = 0.0
) -> FrameEngine:
    """Networks of these costs in seconds, one thread; `known` is what was measured before, if it is not the truth."""
    rates = {f"frames {name} 1": cost for name, cost in {**costs, **(known or {})}.items()}
    stages = StageCosts({**rates, "decode .stub": max(read_s, 1e-9) / (SIZE[0] * SIZE[1])})
    stages.contention = Calm()
    networks = {name: Shades(clock, cost) for name, cost in costs.items()}
    return FrameEngine(networks, np.array([0.2, 0.5, 0.3], np.float32), stages)


def budgets(*seconds: float) -> Request:
    """To be labelled by then."""
    return Request(tuple(map(Budget, seconds)))


def counts(labelled: ByFrames, j: int = -1) -> dict[str, int]:
    """Views of each network by the end of a budget."""
    return {name: entry.count for name, entry in labelled.ledgers[j].descriptors.items()}
