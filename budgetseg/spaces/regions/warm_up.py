"""Work before the user's clock starts: compile all code, and measure the prices of stages on this machine."""

import logging
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from budgetseg.datasets.synthetic import render
from budgetseg.engine.loop import spend
from budgetseg.engine.request import Request
from budgetseg.engine.window import Window
from budgetseg.spaces.regions.space import Regions
from budgetseg.spaces.regions.state import RegionState
from budgetseg.timing.clock import WallClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import Prices
from budgetseg.types import Action, Batch, Budget
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from budgetseg.video.read import VideoSource

__all__ = ["calibrate", "warm_up"]

_log = logging.getLogger(__name__)

Sizes = tuple[tuple[int, int], ...]


def warm_up(space: Regions) -> None:
    """Compile all code that labelling runs, or load it from the cache. No prices are learned from it."""
    state = _label(replace(space, prices=Prices()), (160, 120), 4, _until_computed(30))
    episode = state.episode.copy()
    episode.cost_s(0, 0)  # these three are called by some runs only, which should not have to compile them
    episode.withdraw(0)
    episode.give_up(0)


def calibrate(
    space: Regions, sizes: Sizes = ((160, 120), (320, 240), (480, 360)), n_frames: int = 9, seconds: float = 0.05
) -> bool:
    """Measure the prices of stages on rendered streets, unless they are known. Call `warm_up` first.

    Parameters
    ----------
    space : whose prices are measured
    sizes : widths and heights of the streets
    n_frames : of each street
    seconds : for descriptors, in each run

    Returns whether they were measured.
    """
    if space.painting(1)[0] in space.prices and space.cutting(1, (1, 1))[0] in space.prices:
        return False
    _log.info("stages are timed on rendered streets")
    for size in sizes:
        _label(space, size, n_frames, _for_seconds(seconds))
    return True


Left = Callable[[], float]
"""Returns the seconds left for actions."""


def _until_computed(n: int) -> Callable[[list[Action]], Left]:
    """A `Left` with plenty of time until n more descriptors were computed, however long their compilation takes."""

    def begin(done: list[Action]) -> Left:
        enough = len(done) + n
        return lambda: 10.0 if len(done) < enough else -1.0

    return begin


def _for_seconds(seconds: float) -> Callable[[list[Action]], Left]:
    """A `Left` that counts down from `seconds`, beginning with the first descriptor."""

    def begin(_: list[Action]) -> Left:
        clock = WallClock()
        return lambda: seconds - clock.now_s()

    return begin


def _label(
    space: Regions, size: tuple[int, int], n_frames: int, begin: Callable[[list[Action]], Left], density: float = 30.0
) -> RegionState:
    """Label a street twice, since the second time the CRF begins with the first labels, which has another price."""
    video, _ = render(0, n_frames, size)
    source = VideoSource(ArrayClip(video.frames), Span(), size)
    request = Request((Budget(np.inf),), density=density)
    plan = space.plan(source, request)
    account = Account(WallClock(), space.prices, Ledger(None))
    window = Window(0, range(n_frames), space.reader(source, plan), is_last=True)
    state = space.open(window, source, request, plan, account)
    state.prepare(np.inf, np.inf)
    done = list[Action]()
    out = np.empty(video.shape, np.uint8)

    def choose(window_state: RegionState, left_s: float) -> Batch:
        return window_state.choose(left_s)

    for _ in range(2):
        left_s = begin(done)
        spend(state, choose, account.clock, left_s, lambda batch, *_: done.extend(batch.actions), space.threads)
        state.finish(np.inf, out)
    return state
