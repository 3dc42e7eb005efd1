"""Do again what a run has done: the same descriptors in the same order, the same labels."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import islice

import numpy as np

from budgetseg.app.trace import Trace, WindowTrace
from budgetseg.engine.labelled import Labelled, Why
from budgetseg.engine.memory import room_for
from budgetseg.errors import UsageError
from budgetseg.spaces.regions.carry import carry, reduced, worked_on
from budgetseg.spaces.regions.space import Engine
from budgetseg.spaces.regions.window import NEVER, WindowRun
from budgetseg.timing.clock import WallClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.types import Float32, UInt8
from budgetseg.video import VideoSource

__all__ = ["replay"]


def replay(engine: Engine, source: VideoSource, trace: Trace) -> Labelled:
    """What a run made of a video, made again; no clock is looked at."""
    account = Account(WallClock(), engine.prices.freeze(), Ledger(None, str(trace.settings["scope"])))
    n_budgets = len(trace.settings["budgets"])
    likeliest, size = int(np.argmax(engine.classifiers.prior)), (source.height, source.width)
    labels = [room_for(trace.video.n_frames, size, likeliest) for _ in range(n_budgets)]
    whys, n_done = [], 0
    for window, frames in zip(trace.windows, _windows(source, trace), strict=True):
        small = reduced(frames, window.size)
        run = WindowRun(engine.of_tier(trace.plan.tier), small, account)
        run.prepare(window.n_supervoxels)
        start = n_done * trace.plan.stride
        played = []
        for whole, (painted, opinions) in zip(labels, _play(run, window), strict=True):
            part = carry(painted, trace.plan, size)[: trace.video.n_frames - start]
            whole[start : start + len(part)] = part
            played.append(opinions)
        whys.append(_why(run, window, n_done, played))
        n_done += len(frames)
    account.ledger.spent_s = account.clock.now_s()
    return Labelled(labels, [deepcopy(account.ledger) for _ in labels], whys, trace.plan)


def _windows(source: VideoSource, trace: Trace) -> Iterator[UInt8]:
    """Frames of each window, at the size at which they were read."""
    frames = iter(worked_on(source, trace.plan))
    for window in trace.windows:
        yield np.stack([frame.pixels for frame in islice(frames, window.n_frames)])


def _play(run: WindowRun, window: WindowTrace) -> Iterator[tuple[UInt8, Float32]]:
    """Labels of all pixels, and opinions of all supervoxels, one budget after the other."""
    _check_fits(run, window)
    n_done = 0
    for k, (n_steps, n_moves) in enumerate(window.closings):
        if n_moves == NEVER[1]:
            yield from [_by_prior(run)] * window.painted.count(k)
            continue
        run.replay(window.steps[n_done:n_steps], n_moves)
        n_done = n_steps
        for _ in range(window.painted.count(k)):
            out = np.empty(run.frames.shape[:3], np.uint8)
            run.paint(out)
            yield out, run.closed.probabilities
    run.compute(window.steps[n_done:])  # for which there was no time to close


def _by_prior(run: WindowRun) -> tuple[UInt8, Float32]:
    """The most frequent class everywhere, for a budget that was over before there were labels."""
    prior = run.engine.classifiers.prior.astype(np.float32)
    labels = np.full(run.frames.shape[:3], np.argmax(prior), np.uint8)
    return labels, np.broadcast_to(prior, (len(run.scene.supervoxels), len(prior)))


def _check_fits(run: WindowRun, window: WindowTrace) -> None:
    """UsageError where a trace was written by hand; compiled code would not notice."""
    n, n_descriptors = run.episode.world.private_s.shape
    if not all(0 <= step.region < n and 0 <= step.descriptor < n_descriptors for step in window.steps):
        raise UsageError("the trace does not fit the video; label it anew")


def _why(run: WindowRun, window: WindowTrace, start: int, opinions: Sequence[Float32]) -> Why:
    if run.closing.last is None:
        raise UsageError("the trace has a window that was never labelled; label the video anew")
    return Why(start, run.known(), opinions, run.closed.labels, window.steps, window.closings, window.painted)
