"""Frames that move, networks whose answers are looked up, and a machine on which everything takes a known time."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Event
from typing import Any

import cv2
import numpy as np
import pytest

from budgetseg.datasets.synthetic import render
from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import run
from budgetseg.engine.window import Reader, Window
from budgetseg.spaces.frames import footage, painter
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.state import FrameState
from budgetseg.timing.clock import Clock, ManualClock
from budgetseg.timing.deadline import LateError
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import Prices
from budgetseg.types import Budget, Classes, Float32, UInt8
from budgetseg.video import Frame, VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from tests.spaces.clocks import LONG_S, Machine

SIZE = (96, 64)
N_PIXELS = SIZE[0] * SIZE[1]
CELLS = (16, 24)
N_CELLS = CELLS[0] * CELLS[1]
CLASSES = Classes(("dark", "middle", "bright"), np.array([[0, 0, 0], [128, 128, 128], [255, 255, 255]], np.uint8))
SHARES = np.array([0.2, 0.5, 0.3], np.float32)
PRIOR = 1

SECONDS = {
    "small": 0.01,
    "large": 0.05,
    "decode": 0.001,
    "looking": 0.00001,
    "flow": 0.001,
    "fusing": 0.0002,
    "pixels": 0.0003,
    "edges": 0.0002,
    "copies": 0.00002,
}
"""What each kind of work is known to take: a network on a frame, a frame decoded, two frames compared, flow of a
pair, one source fused, a frame painted, its edges, a frame copied."""
NETWORKS = ("small", "large")


# Prices


def rates_of(seconds: Mapping[str, float] = SECONDS) -> dict[str, float]:
    """Rates of stages that make each kind of work take so long."""
    rates = {f"frames {name}": seconds[name] for name in NETWORKS}
    rates |= {f"frames {work}": seconds[work] / N_PIXELS for work in ("looking", "flow", "pixels", "edges", "copies")}
    rates["frames fusing"] = seconds["fusing"] / N_CELLS
    return rates | {f"decode {suffix}": seconds["decode"] / N_PIXELS for suffix in (".array", ".film")}


def frozen_prices(seconds: Mapping[str, float] = SECONDS) -> Prices:
    """Prices from which nothing is learned."""
    return Prices(rates_of(seconds), frozen=True)


# Videos


@dataclass(frozen=True, eq=False)
class Slides(ArrayClip):
    """Frames in memory, read in any order, that take their time."""

    read: Callable[[], None] = lambda: None

    def pick(self, indices: Iterable[int]) -> Iterator[Frame]:
        """Frames of these numbers."""
        for frame in super().pick(indices):
            self.read()
            yield frame


@dataclass(frozen=True, eq=False)
class Film:
    """Frames that are decoded one after the other (the contract is `Clip`)."""

    pixels: UInt8
    read: Callable[[], None] = lambda: None
    rate: float = 25.0
    n_promised: int | None = None
    path: Path = Path("clip.film")
    name: str = "clip"
    duration_s: float | None = None
    stems: tuple[str, ...] | None = None

    @property
    def size(self) -> tuple[int, int]:
        """Width and height."""
        return self.pixels.shape[2], self.pixels.shape[1]

    @property
    def n_frames(self) -> int:
        """Frames that the file promises."""
        return self.n_promised or len(self.pixels)

    def count(self) -> int:
        """Frames that the file promises."""
        return self.n_frames

    def frames(self, span: Span) -> Iterator[Frame]:
        """Frames of `span` in order, as many as there are."""
        for index in span.within(len(self.pixels)):
            self.read()
            yield Frame(index, index / self.rate, self.pixels[index])


def street(n_frames: int, size: tuple[int, int] = SIZE, seed: int = 3) -> UInt8:
    """Frames of a rendered street, (T, H, W, 3)."""
    return np.asarray(render(seed, n_frames, size)[0].frames)


def slides(pixels: UInt8, machine: Machine | None = None, rate: float = 25.0) -> VideoSource:
    """Frames that can be read in any order."""
    clip = Slides(pixels, rate, read=_reading(machine))
    return VideoSource(clip, Span(), clip.size)


def film(pixels: UInt8, machine: Machine | None = None, n_promised: int | None = None) -> VideoSource:
    """Frames that must be decoded in order; the file may promise another number of them."""
    clip = Film(pixels, _reading(machine), n_promised=n_promised)
    return VideoSource(clip, Span(), clip.size)


def _reading(machine: Machine | None) -> Callable[[], None]:
    return (lambda: None) if machine is None else (lambda: machine.takes("decode"))


# Networks


def shades(frame: UInt8, sharp: float = 8.0) -> Float32:
    """Probabilities of dark, middle and bright, (h, w, 3)."""
    grey = cv2.resize(cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY), CELLS[::-1], interpolation=cv2.INTER_AREA) / 255
    powers = np.exp(-sharp * np.abs(grey[..., None] - np.array([0.2, 0.5, 0.8])))
    return np.asarray(powers / powers.sum(axis=2, keepdims=True), np.float32)


class TableNetwork:
    """A network whose answers (h, w, L) are looked up by frame.

    Parameters
    ----------
    frames : that it may be asked about
    name : kind of work that a call is
    machine : on which it runs; None where a call takes no time
    step_s : seconds in steps of which a call lets time pass; after each it may be cut off. None where it never is
    hangs_at : number of the call, from 0, that ends only when it is cut off
    fails_at : number of the call from which on it fails

    Attributes
    ----------
    asked : numbers of the frames that it was asked about, in order
    """

    shape = (*CELLS, len(CLASSES))

    def __init__(
        self,
        frames: UInt8,
        name: str = "small",
        machine: Machine | None = None,
        step_s: float | None = None,
        hangs_at: int | None = None,
        fails_at: int | None = None,
    ) -> None:
        self.asked: list[int] = []
        self._numbers = {frame.tobytes(): t for t, frame in enumerate(frames)}
        self._answers = [shades(frame) for frame in frames]
        self._name = name
        self._machine = machine
        self._step_s = step_s
        self._hangs_at = hangs_at
        self._fails_at = fails_at
        self._is_cut = Event()

    def __call__(self, frame: UInt8) -> Float32:
        number, n_before = self._numbers[frame.tobytes()], len(self.asked)
        self.asked.append(number)
        self._is_cut.clear()
        self._run()
        if n_before == self._hangs_at:
            self._hang()
        if self._fails_at is not None and n_before >= self._fails_at:
            raise RuntimeError("no more")
        return self._answers[number]

    def cut_off(self) -> None:
        """Let a call that is under way end."""
        self._is_cut.set()

    def _run(self) -> None:
        if self._machine is None:
            return
        self._machine.done[self._name] += 1
        left_s = self._machine.true_s(self._name)
        if self._step_s is None:
            self._machine.clock.advance(left_s)
            return
        while left_s > 0:
            self._machine.clock.advance_seen(min(left_s, self._step_s))
            left_s -= self._step_s
            if self._is_cut.is_set():
                raise LateError

    def _hang(self) -> None:
        assert self._machine is not None
        for _ in range(1000):
            self._machine.clock.advance_seen(self._step_s or self._machine.known_s[self._name])
            if self._is_cut.is_set():
                raise LateError
        raise AssertionError(f"nobody cut the network off within {LONG_S} s")


# Spaces and runs


def space_of(
    frames: UInt8,
    machine: Machine | None = None,
    prices: Prices | None = None,
    names: Iterable[str] = NETWORKS,
    threads: int = 1,
    **how: Any,
) -> Frames:
    """Networks for these frames, on a machine; `how` goes to the networks."""
    networks = {name: TableNetwork(frames, name, machine, **how) for name in names}
    return Frames(networks, SHARES, prices or frozen_prices(), threads)


def request_of(*seconds: float, window: int | None = None, explain: bool = False) -> Request:
    """Labels are wanted by then."""
    return Request(tuple(map(Budget, seconds)), window=window, explain=explain)


def label(space: Frames, video: VideoSource, request: Request, clock: Clock, **how: Any) -> list[Result]:
    """A result for each budget."""
    return run(space, video, request, CLASSES, clock, **how)


def counts(result: Result) -> dict[str, int]:
    """Frames that each network has seen."""
    return {name: entry.count for name, entry in result.ledger.sources.items()}


def open_state(space: Frames, video: VideoSource, clock: Clock | None = None, explain: bool = False) -> FrameState:
    """The state of a window that is a whole video, before anything is read."""
    account = Account(clock or ManualClock(), space.prices, Ledger(None))
    n_frames = video.n_frames
    assert n_frames is not None
    window = Window(0, range(n_frames), Reader(video, space.threads), is_last=True)
    plan = Plan(n_frames, (video.height, video.width))
    return FrameState(space, window, video.rate, plan, account, explain)


def work_takes_time(monkeypatch: pytest.MonkeyPatch, machine: Machine) -> None:
    """Let flow, fusing and painting move the clock of a machine; reading and networks do so by themselves."""

    def wrap(module: Any, name: str, *kinds: tuple[str, Callable[..., float]]) -> None:
        plain = getattr(module, name)

        def timed(*words: Any, **more: Any) -> Any:
            found = plain(*words, **more)
            for kind, n in kinds:
                machine.takes(kind, n(*words))
            return found

        monkeypatch.setattr(module, name, timed)

    def once(*_: Any) -> float:
        return 1.0

    wrap(footage, "step_flow", ("flow", once))
    wrap(painter, "fuse", ("fusing", lambda _, sources, __: float(len(sources))))
    wrap(painter, "paint", ("pixels", once))
    wrap(painter, "paint_edges", ("pixels", once), ("edges", once))


def faster(seconds: Mapping[str, float], **changed: float) -> dict[str, float]:
    """Seconds of each kind of work, some of them changed."""
    return {**seconds, **changed}


def with_network(space: Frames, **networks: TableNetwork) -> Frames:
    """The same with other networks in the place of some."""
    return replace(space, networks={**space.networks, **networks})
