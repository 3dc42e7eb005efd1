"""What must be paid before the user's clock starts: compilation, and what everything costs on this machine."""

import logging
import math
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace

import numpy as np

from budgetseg.datasets.synthetic import render
from budgetseg.frames.crew import Crew
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.evidence import Ask, Painting
from budgetseg.frames.plan import COARSE, COPY, FINE
from budgetseg.frames.reader import Reader
from budgetseg.frames.window import WindowRun
from budgetseg.inference.ledger import Ledger
from budgetseg.inference.stages import StageCosts
from budgetseg.types import UInt8

__all__ = ["calibrate_frames", "warm_up_frames"]

_log = logging.getLogger(__name__)

SIZE, N_FRAMES, N_ROUNDS = (480, 360), 16, 3
STAGES = ("flow fine", "flow coarse", "paint", "sharpen")


def warm_up_frames(engine: FrameEngine) -> None:
    """Compile, or load from the cache, all that labelling runs; nothing is learned from it."""
    _label(replace(engine, stages=StageCosts()), (160, 120), 4)


def calibrate_frames(engine: FrameEngine) -> bool:
    """Time everything on rendered streets; whether it was the first time. Call the above first.

    Where it was done before, a short look is enough: what was learned while others used the machine is too dear.
    """
    lines = [f"frames {name} {engine.threads}" for name in (*engine.networks, *STAGES)]
    if all(line in engine.stages for line in lines):
        _label(engine, SIZE, N_FRAMES // 2)
        return False
    _log.info("networks and stages are timed on rendered streets")
    for _ in range(N_ROUNDS):
        _label(engine, SIZE, N_FRAMES)
    return True


class _Street(Reader):
    """Frames that are there already."""

    def __init__(self, frames: UInt8) -> None:
        self._frames, self.line, self.rate = frames, "", 25.0
        self.can_skip, self.may_leave_out, self.alone, self.n_decoded = True, False, None, 0

    def read(self, numbers: Sequence[int], late: Callable[[], bool] = lambda: False) -> Iterator[tuple[int, UInt8]]:  # noqa: ARG002
        return ((number, self._frames[number]) for number in numbers)


def _label(engine: FrameEngine, size: tuple[int, int], n_frames: int) -> None:
    video, _ = render(0, n_frames, size)
    started, out = time.perf_counter(), np.empty(video.shape, np.uint8)
    with Crew(engine.threads) as crew:
        for carry in (COARSE, FINE, COPY):
            street, size_yx = _Street(video.frames), (size[1], size[0])
            span, ledger = range(n_frames), Ledger(None)
            run = WindowRun(engine, crew, street, span, size_yx, ledger, lambda: time.perf_counter() - started)
            run.recall(span, ())
            for network in engine.networks:
                run.ask_all([Ask(network, t, t % 2 == 1) for t in range(0, n_frames, 4)])
            run.painter.find_flow(carry)
            network, sure = next(iter(engine.networks)), np.zeros((n_frames, *engine.cells), np.uint8)
            run.painter.paint_plainly(carry, network, sure, out)
            run.paint(Painting(n_frames, len(run.evidence.asks), carry, network), math.inf, out)
