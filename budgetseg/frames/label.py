"""A video to labels, frame by frame, under a budget; long ones in windows, which share it in proportion to frames."""

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import cv2
import numpy as np

from budgetseg.engine.garbage import no_collection
from budgetseg.engine.labelled import Labelled
from budgetseg.engine.memory import LARGE, made_ready, n_bytes, room_for
from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.errors import UsageError
from budgetseg.frames.crew import Crew, one_thread_each
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.evidence import Ask, Painting
from budgetseg.frames.reader import Reader
from budgetseg.frames.reading import SEARCH, Rest
from budgetseg.frames.window import WindowRun
from budgetseg.inference.ledger import Ledger
from budgetseg.inference.stages import DOUBT
from budgetseg.types import Float32, UInt8
from budgetseg.video import VideoSource

__all__ = ["ByFrames", "WindowTrace", "foretell_score", "label_frames", "replay_frames"]

WINDOW_BYTES = 400_000_000
PAGE = 4096
"""Bytes that are touched at once."""


@dataclass(frozen=True, eq=False)
class WindowTrace:
    """What was done in a window, in order; its labels follow from it.

    Attributes
    ----------
    n_frames : of the window
    read : numbers of frames in the window, as they were read
    asks : which network was asked about which frame, and whether in the mirror
    paintings : how labels were made at each budget
    """

    n_frames: int
    read: Sequence[int]
    asks: Sequence[Ask]
    paintings: Sequence[Painting]

    def as_dict(self) -> dict[str, Any]:
        """For JSON."""
        asks = [[ask.network, ask.frame, ask.mirrored] for ask in self.asks]
        return {**asdict(self), "read": list(self.read), "asks": asks}

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "WindowTrace":
        """From JSON; ValueError where it does not fit together."""
        read, n_frames = [int(t) for t in stored["read"]], int(stored["n_frames"])
        asks = [Ask(str(network), int(t), bool(mirrored)) for network, t, mirrored in stored["asks"]]
        paintings = [
            Painting(**{**one, **{name: tuple(map(int, one[name])) for name in ("late", "sharp")}})
            for one in stored["paintings"]
        ]
        sound = all(0 <= t < n_frames for t in read) and all(ask.frame in read for ask in asks)
        if not sound or any(not one.n_read <= len(read) or not one.n_asks <= len(asks) for one in paintings):
            raise ValueError("frames that are not there")
        if not all(one.apart >= 1 for one in paintings):
            raise ValueError("frames lie apart by one at least")
        return cls(n_frames, read, asks, paintings)


@dataclass(eq=False)
class ByFrames(Labelled):
    """What came of a video.

    Attributes
    ----------
    windows : what was done in each of them
    sures : (t, h, w) for each of them and each budget, how sure labels are at the networks' cells, 255 for certain
    least : how sure the most frequent class is where nothing was done, 0 to 1
    """

    windows: list[WindowTrace] = field(default_factory=list)
    sures: list[list[UInt8]] = field(default_factory=list)
    least: float = 0.0

    @property
    def confidence(self) -> Float32:
        """The probability of the likeliest class at every pixel, (T, H, W), at the last budget."""
        found, (_, height, width) = np.full(self.labels[-1].shape, self.least, np.float32), self.labels[-1].shape
        for t, cells in enumerate(one for window in self.sures for one in window[-1]):
            if t < len(found):
                found[t] = cv2.resize(cells, (width, height), interpolation=cv2.INTER_LINEAR) / np.float32(255)
        return found


def label_frames(
    engine: FrameEngine,
    source: VideoSource,
    request: Request,
    stopped: Callable[[], bool] = lambda: False,
    earlier: Sequence[WindowTrace] = (),
    started: float | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> ByFrames:
    """Label a video; `stopped` ends the spending early, `earlier` is what a run to go on from has done.

    What was answered in that run is asked again, beside the budget. The clock started at `started`, or starts now.
    """
    if request.scope != "total":
        raise UsageError(f"scope '{request.scope}' is one of descriptors; use --engine supervoxels for it")
    job = _Job(engine, source, request, stopped, clock() if started is None else started, clock)
    with no_collection(), one_thread_each(), Crew(engine.threads) as crew:
        return job.run(crew, earlier)


def foretell_score(engine: FrameEngine, source: VideoSource, request: Request) -> float | None:
    """Points of mean IoU that the last budget promises beside the cheapest network on every frame; None for no plan."""
    budget, n_frames = request.budgets[-1], source.n_frames
    if n_frames is None:
        return None
    job = _Job(engine, source, request, lambda: False, 0.0, lambda: 0.0)
    with Crew(engine.threads) as crew:
        run = job._window(crew, range(n_frames))
        plan = run.plan(budget.in_s(run.full_s()))
    return None if plan is None else plan.score


def replay_frames(
    engine: FrameEngine, source: VideoSource, windows: Sequence[WindowTrace], n_frames: int, n_budgets: int
) -> ByFrames:
    """What a run made of a video of so many frames, made again; no clock is looked at."""
    started, ledger = time.perf_counter(), Ledger(None)
    size, first = (source.height, source.width), 0
    labels = [room_for(n_frames, size, int(np.argmax(engine.prior))) for _ in range(n_budgets)]
    reader, sures = Reader(source, engine.threads), []
    with one_thread_each(), Crew(engine.threads) as crew:
        for window in windows:
            span = range(first, first + window.n_frames)
            run = WindowRun(engine, crew, reader, span, size, ledger, lambda: time.perf_counter() - started)
            run.replay(window.read, window.asks, window.paintings, [one[span.start : span.stop] for one in labels])
            sures.append(run.sures)
            first = span.stop
    ledger.spent_s = time.perf_counter() - started
    ledgers = [replace(ledger) for _ in labels]
    return ByFrames(labels, ledgers, [], _plan_of(source, n_frames), list(windows), sures, float(engine.prior.max()))


class _Job:
    def __init__(
        self,
        engine: FrameEngine,
        source: VideoSource,
        request: Request,
        stopped: Callable[[], bool],
        started: float,
        clock: Callable[[], float],
    ) -> None:
        self.engine, self.source, self.request, self.stopped = engine, source, request, stopped
        self.started, self.clock = started, clock
        self.reader = Reader(source, engine.threads)
        self.size = source.height, source.width

    def run(self, crew: Crew, earlier: Sequence[WindowTrace]) -> ByFrames:
        n_frames = self.source.n_frames or self.source.count()
        labels = [room_for(n_frames, self.size) for _ in self.request.budgets]
        ledgers = [Ledger(None, self.request.scope) for _ in labels]
        if n_bytes(labels) > LARGE:
            self._make_ready(crew, labels, ledgers)
        least = float(self.engine.prior.max())
        done = ByFrames(labels, ledgers, [], _plan_of(self.source, n_frames), least=least)
        if not earlier:
            self._plan_reading(crew, n_frames)
        for k, span in enumerate(self._spans(n_frames, earlier)):
            if k and self.stopped():
                self._give_up(done, span.start)
                break
            run = self._window(crew, span)
            if k < len(earlier):
                self._ask_again(run, earlier[k])
            self._label_window(run, done)
        if len(self.request.budgets) == 1 and len(done.windows) > 1:
            done.ledgers[0].spent_s = self._now_s()
        return done

    def _make_ready(self, crew: Crew, labels: Sequence[UInt8], ledgers: Sequence[Ledger]) -> None:
        """Touch memory for labels, which takes as long as the system likes; the clock stands still meanwhile."""
        began = self.clock()

        def touch(t: int) -> None:
            for own in labels:
                own[t].reshape(-1)[::PAGE] = 0

        crew.each(range(len(labels[0])), touch)
        ready_s = self.clock() - began
        self.started += ready_s
        for ledger in ledgers:
            ledger.note(made_ready(n_bytes(labels), ready_s))

    def _window(self, crew: Crew, span: range) -> WindowRun:
        run = WindowRun(self.engine, crew, self.reader, span, self.size, Ledger(None), self._now_s)
        run.stopped = self.stopped
        return run

    def _spans(self, n_frames: int, earlier: Sequence[WindowTrace]) -> Iterator[range]:
        """Windows as they were, then of about one length, as long as memory allows."""
        first = 0
        for window in earlier:
            yield range(first, first + window.n_frames)
            first += window.n_frames
        while first < n_frames:  # what is read may change from one to the next
            end = self._end_of_window(first, n_frames)
            yield range(first, end)
            first = end

    def _end_of_window(self, first: int, n_frames: int) -> int:
        height, width, n_labels = next(iter(self.engine.networks.values())).shape
        cells = height * width
        each = 3 * self.size[0] * self.size[1] + 4 * cells * (n_labels * len(self.engine.networks) + 2 * 8)
        longest = self.request.window or max(8, WINDOW_BYTES // each)
        if self.reader.alone is not None:
            ahead = [number for number in self.reader.alone if number >= first]
            return ahead[longest] if len(ahead) > longest else n_frames
        n_windows = -(-(n_frames - first) // longest)
        return first + (n_frames - first) // n_windows

    def _plan_reading(self, crew: Crew, n_frames: int) -> None:
        """Read only frames that decode without others, where there is no time to decode all."""
        budget, whole = self.request.budgets[-1], range(n_frames)
        if budget.is_share or not self.reader.may_leave_out:
            return
        if self._window(crew, whole).plan(budget.amount, decoding=1 / DOUBT) is None:
            self.reader.leave_out(whole, lambda: self._now_s() > SEARCH * budget.amount)

    def _ask_again(self, run: WindowRun, earlier: WindowTrace) -> None:
        """What an earlier run knew; the clock stands still meanwhile, since that run has paid for it."""
        began = self.clock()
        run.recall(earlier.read, earlier.asks)
        again_s = self.clock() - began
        self.started += again_s
        run.ledger.note(f"what the earlier run had asked was asked again, in {again_s:.3g} s beside the budget")

    def _label_window(self, run: WindowRun, done: ByFrames) -> None:
        """A window at every budget: of what is left of each it gets its share by frames."""
        began_s, n_left = self._now_s(), len(done.labels[-1]) - run.span.start
        before = list(done.ledgers)
        for j, (ledger, budget) in enumerate(zip(before, self.request.budgets, strict=True)):
            own_s = budget.amount if not budget.is_share else budget.amount * run.full_s() + (ledger.budget_s or 0.0)
            share_s = (own_s - ledger.spent_s) * (1 if budget.is_share else len(run.span) / n_left)
            out = done.labels[j][run.span.start : run.span.stop]
            decides = j == len(before) - 1 and not budget.is_share
            work_left = run.label(began_s + share_s, own_s, out, Rest(own_s, n_left) if decides else None)
            whole = ledger.plus(run.ledger)
            spent_s = ledger.spent_s + self._now_s() - began_s
            done.ledgers[j] = replace(whole, budget_s=own_s, spent_s=spent_s, work_left=work_left or ledger.work_left)
        done.windows.append(WindowTrace(len(run.span), run.read, run.evidence.asks, run.paintings))
        done.sures.append(run.sures)

    def _give_up(self, done: ByFrames, first: int) -> None:
        for labels, ledger in zip(done.labels, done.ledgers, strict=True):
            labels[first:] = int(np.argmax(self.engine.prior))
            ledger.note("stopped: the rest of the video has the most frequent class")

    def _now_s(self) -> float:
        return self.clock() - self.started


def _plan_of(source: VideoSource, n_frames: int) -> Plan:
    """What the other engine would call it: whole frames."""
    return Plan(n_frames, (source.height, source.width), 0.0)
