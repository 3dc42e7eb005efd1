"""What must be paid before the user's clock starts: compilation, and what everything costs on this machine."""

import logging
from collections.abc import Mapping, Sequence
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
from budgetseg.spaces.frames.state import FrameState, Prediction
from budgetseg.timing.clock import WallClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import Prices
from budgetseg.types import Action
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from budgetseg.video.read import VideoSource

__all__ = ["calibrate", "warm_up"]

_log = logging.getLogger(__name__)


Answers = Sequence[Mapping[int, Prediction]]
"""Predictions of each network, by number of the frame."""


def warm_up(space: Frames) -> None:
    """Compile, or load from the cache, all that labelling runs; nothing is learned from it, and no network runs."""
    rng = np.random.default_rng(0)
    shape = *space.cells, len(space.prior)
    answers = [{t: Prediction.of(rng.random(shape, np.float32)) for t in (0, 3)} for _ in space.sources]
    _label(replace(space, prices=Prices()), (160, 120), 4, answers)


def calibrate(
    space: Frames, size: tuple[int, int] = (480, 360), n_frames: int = 16, n_rounds: int = 3, networks_s: float = 2.0
) -> bool:
    """Time everything on a rendered street; whether it was the first time. Call `warm_up` first.

    Where it was done before, a short look is enough: what was learned while others used the machine is too dear.

    Parameters
    ----------
    space : to time
    size : width and height of the street
    n_frames : of the street
    n_rounds : how often everything is timed, the first time
    networks_s : seconds after which networks are not run again, since dear ones would take minutes
    """
    costs = space.costs(1)
    keys = [costs.key(work) for work in (*space.sources, "looking", "flow", "fusing", "pixels", "edges", "copies")]
    if all(key in space.prices for key in keys):
        _label(space, size, n_frames // 2)
        return False
    _log.info("networks and stages are timed on a rendered street")
    clock = WallClock()
    answers = None
    for _ in range(n_rounds):
        found = _label(space, size, n_frames, answers)
        answers = found if clock.now_s() > networks_s else None
    return True


def _label(space: Frames, size: tuple[int, int], n_frames: int, answers: Answers | None = None) -> Answers:
    """Label a street in every way that there is. Returns what networks predict, which they are asked once at most."""
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
            if answers is None:
                spend(state, Listed(asked), account.clock, lambda: np.inf, threads=space.threads)
                answers = [dict(known) for known in state.predictions]
            for own, known in zip(state.predictions, answers, strict=True):
                own.update(known)
            state.finish(np.inf, out)
    return answers or []
