"""What must be paid before the user's clock starts: compilation, and what everything costs on this machine."""

import logging
from dataclasses import replace

import numpy as np

from budgetseg.datasets.synthetic import render
from budgetseg.engine.loop import Listed, spend
from budgetseg.engine.plan import Plan
from budgetseg.engine.threads import one_thread_each
from budgetseg.engine.trace import WindowTrace
from budgetseg.engine.window import Reader, Window
from budgetseg.propagate.order import medians
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.state import FrameState
from budgetseg.timing.clock import WallClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import Prices
from budgetseg.types import Action
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from budgetseg.video.read import VideoSource

__all__ = ["calibrate", "warm_up"]

_log = logging.getLogger(__name__)


def warm_up(space: Frames) -> None:
    """Compile, or load from the cache, all that labelling runs; nothing is learned from it."""
    _label(replace(space, prices=Prices()), (160, 120), 4)


def calibrate(space: Frames, size: tuple[int, int] = (480, 360), n_frames: int = 16, n_rounds: int = 3) -> bool:
    """Time everything on a rendered street; whether it was the first time. Call `warm_up` first.

    Where it was done before, a short look is enough: what was learned while others used the machine is too dear.
    """
    costs = space.costs(1)
    keys = [costs.key(work) for work in (*space.sources, "looking", "flow", "fusing", "pixels", "edges", "copies")]
    if all(key in space.prices for key in keys):
        _label(space, size, n_frames // 2)
        return False
    _log.info("networks and stages are timed on a rendered street")
    for _ in range(n_rounds):
        _label(space, size, n_frames)
    return True


def _label(space: Frames, size: tuple[int, int], n_frames: int) -> None:
    """Label a street in every way that there is."""
    frames = render(0, n_frames, size)[0].frames
    source = VideoSource(ArrayClip(frames), Span(), size)
    asked = [Action(t, k) for k in range(len(space.sources)) for t in range(0, n_frames, 4)]
    out = np.empty(frames.shape[:3], np.uint8)
    with one_thread_each():
        for carry, edges in ((FLOW, False), (FLOW, True), (COPY, False)):
            account = Account(WallClock(), space.prices, Ledger(None))
            window = Window(0, range(n_frames), Reader(source, space.threads), is_last=True)
            state = FrameState(space, window, source.rate, Plan(n_frames, (size[1], size[0])), account)
            state.prepare_again(WindowTrace(n_frames, range(n_frames), (1, 1), n_frames, (), ()), n_frames)
            state.plan = replace(state.plan, carry=carry, edges=edges)
            if carry == FLOW:
                state.footage.find_flow(np.inf)
            else:
                state.footage.look(np.inf)
            medians(state.timeline().positions, 2)
            spend(state, Listed(asked), account.clock, lambda: np.inf, threads=space.threads)
            state.finish(np.inf, out)
