"""What must be paid before the user's clock starts: compilation, and what stages cost on this machine."""

import logging
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from budgetseg.datasets.synthetic import render
from budgetseg.spaces.regions.space import Engine
from budgetseg.spaces.regions.window import WindowRun
from budgetseg.timing.clock import WallClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import Prices

__all__ = ["calibrate_stages", "warm_up"]

_log = logging.getLogger(__name__)

Left = Callable[[], float]
"""Seconds left, whenever it is asked."""

SIZES = ((160, 120), (320, 240), (480, 360))
N_FRAMES = 9
DENSITY = 30  # supervoxels a frame
SHORT_S = 0.05  # of computing descriptors
FEW = 30  # descriptors: it goes on until so many were computed, however long it takes to compile them


def warm_up(engine: Engine) -> None:
    """Compile, or load from the cache, all that labelling runs; nothing is learned from it."""
    run = _label(replace(engine, prices=Prices()), (160, 120), 4, _few)
    episode = run.episode.copy()
    episode.cost_s(0, 0)  # what only some runs come to, and should not have to compile
    episode.withdraw(0)
    episode.give_up(0)


def calibrate_stages(engine: Engine) -> bool:
    """Time the stages on rendered streets, unless it was done before; whether it was now. Call `warm_up` first."""
    if engine.painting(1)[0] in engine.prices and engine.cutting(1, (1, 1))[0] in engine.prices:
        return False
    _log.info("stages are timed on rendered streets")
    for size in SIZES:
        _label(engine, size, N_FRAMES, _short)
    return True


def _few(run: WindowRun) -> Left:
    """Plenty of seconds left, until a few more descriptors were computed."""
    enough = len(run.trace) + FEW
    return lambda: 10.0 if len(run.trace) < enough else -1.0


def _short(_: WindowRun) -> Left:
    """Seconds that are left of a short time that begins now."""
    clock = WallClock()
    return lambda: SHORT_S - clock.now_s()


def _label(engine: Engine, size: tuple[int, int], n_frames: int, begin: Callable[[WindowRun], Left]) -> WindowRun:
    video, _ = render(0, n_frames, size)
    run = WindowRun(engine, video.frames, Account(WallClock(), engine.prices, Ledger(None)))
    run.prepare(DENSITY * n_frames)
    out = np.empty(video.shape, np.uint8)
    for _ in range(2):
        run.spend(begin(run))
        run.close()
        run.paint(out)
    return run
