"""A street, and both spaces over it with prices that never change: every run of them repeats."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import cv2
import numpy as np

from budgetseg.app.strategy import strategy_of
from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.descriptors.registry import open_descriptors
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.regions.space import Regions
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, UInt8
from budgetseg.video import Frame, VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from tests.app.simulated import frozen_prices
from tests.app.streets import street_model

N_FRAMES = 16
SIZE = (96, 64)
CELLS = (16, 24)
SHAPE = (N_FRAMES, SIZE[1], SIZE[0])
NAMES = ("colour", "hog")
NETWORKS = {"small": 0.01, "large": 0.05}
"""Seconds of each network a frame."""


@dataclass(frozen=True, eq=False)
class Film:
    """Frames in memory that come one after the other, as those of a file do.

    Attributes
    ----------
    pixels : (T, H, W, 3)
    n_promised : frames that it has, as it says; None for those that it has
    """

    pixels: UInt8
    n_promised: int | None = None
    rate: float = 25.0
    name: str = "street"
    path: Path = Path("street.film")
    duration_s: float | None = None
    stems: tuple[str, ...] | None = None

    @property
    def size(self) -> tuple[int, int]:
        return self.pixels.shape[2], self.pixels.shape[1]

    @property
    def n_frames(self) -> int:
        return self.n_promised or len(self.pixels)

    def count(self) -> int:
        return len(self.pixels)

    def frames(self, span: Span) -> Iterator[Frame]:
        for index in span.within(len(self.pixels)):
            yield Frame(index, index / self.rate, self.pixels[index])


@dataclass(eq=False)
class Shades:
    """A network that predicts a class by brightness; it remembers which frames it saw.

    Attributes
    ----------
    softness : how little brightness tells
    seen : sum of each frame that it was asked about
    fails_after : questions that it answers before it fails
    """

    softness: float = 0.1
    seen: list[int] = field(default_factory=list)
    fails_after: float = np.inf

    @property
    def shape(self) -> tuple[int, int, int]:
        return (*CELLS, len(CLASSES))

    def __call__(self, frame: UInt8) -> Float32:
        if len(self.seen) >= self.fails_after:
            raise RuntimeError("no more")
        self.seen.append(int(frame.sum(dtype=np.int64)))
        grey = cv2.resize(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), CELLS[::-1], interpolation=cv2.INTER_AREA) / 255
        shades = np.linspace(0.1, 0.9, len(CLASSES))
        powers = np.exp(-np.abs(grey[..., None] - shades) / self.softness)
        return np.asarray(powers / powers.sum(axis=2, keepdims=True), np.float32)

    def cut_off(self) -> None:
        pass


def street(n_frames: int = N_FRAMES, n_promised: int | None = None) -> VideoSource:
    """A rendered street."""
    return VideoSource(Film(render(1, n_frames, SIZE)[0].frames, n_promised), Span(), SIZE)


def slides(n_frames: int = N_FRAMES) -> VideoSource:
    """The same, of which frames can be read in any order."""
    clip = ArrayClip(render(1, n_frames, SIZE)[0].frames)
    return VideoSource(clip, Span(), SIZE)


def prices_with(rates: Mapping[str, float] | None = None) -> Prices:
    """Frozen prices of all that both spaces do."""
    networks = {f"frames {name}": cost_s for name, cost_s in NETWORKS.items()}
    cutting = {f"supervoxels fast {threads}": 4e-8 for threads in (1, 2)}
    return frozen_prices({**networks, **cutting, "decode .film": 2e-8, **(rates or {})})


def frames_space(threads: int = 1, rates: Mapping[str, float] | None = None) -> Frames:
    """Two networks on whole frames."""
    shares = np.full(len(CLASSES), 0.05, np.float32)
    shares[3] = 1 - shares[1:].sum()
    return Frames({"small": Shades(0.2), "large": Shades(0.1)}, shares, prices_with(rates), threads)


def regions_space(threads: int = 1, rates: Mapping[str, float] | None = None, policy: str = "static") -> Regions:
    """Two descriptors of supervoxels, and a model that knows nothing of the world."""
    model, descriptors = street_model(NAMES), open_descriptors(NAMES)
    prices, strategy = prices_with(rates), strategy_of(model, policy)
    return Regions(model.classifiers, model.crf, descriptors, prices, strategy, threads=threads)
