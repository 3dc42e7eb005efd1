"""A video to labels under a budget; long ones in windows, which share it in proportion to their frames."""

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

import cv2
import numpy as np

from budgetseg.errors import UsageError, VideoError
from budgetseg.inference.ledger import Books, Ledger
from budgetseg.inference.plan import Plan, choose_plan
from budgetseg.inference.window import Engine, Known, Step, WindowRun
from budgetseg.types import Budget, Float32, Int32, UInt8
from budgetseg.video import VideoSource

__all__ = ["Earlier", "Labelled", "Request", "Why", "label_video"]

SCOPES = ("total", "descriptors")
WINDOW_PIXELS = 42_000_000  # 240 frames of 480×360


@dataclass(frozen=True)
class Request:
    """What is wanted.

    Attributes
    ----------
    budgets : rising; the labelling at each of them is kept
    scope : `total`, from the first frame read to labels ready, or `descriptors`
    density : supervoxels a frame; None for what suits the video
    seed : of what is random
    window : frames in a window at most; None for as many as memory allows
    """

    budgets: tuple[Budget, ...]
    scope: str = "total"
    density: float | None = None
    seed: int = 0
    window: int | None = None

    def __post_init__(self) -> None:
        if self.scope not in SCOPES:
            raise UsageError(f"no scope '{self.scope}'; choose from {', '.join(SCOPES)}")
        if not self.budgets or min(budget.amount for budget in self.budgets) <= 0:
            raise UsageError("a budget must be more than nothing; for example 10s")
        if len({budget.is_share for budget in self.budgets}) > 1:
            raise UsageError("budgets must all be times, or all be shares; for example 2s,5s or 10%,50%")
        if list(self.budgets) != sorted(set(self.budgets)):
            raise UsageError("budgets must rise; for example 2s,5s,10s")


@dataclass(frozen=True, eq=False)
class Why:
    """What was known of one window when the last budget was spent.

    Attributes
    ----------
    start : number of its first frame among those that were worked on
    known : supervoxels, descriptors computed, H's probabilities
    probabilities : (N, L) float32, interpolated where nothing was computed
    labels : (N,) int32
    trace : what was computed, in order
    closings : after how many of these steps supervoxels were labelled, and after how many moves of the expansion that
        was enough, None if it came to its end
    painted : which of the closings each budget has its labels from
    """

    start: int
    known: Known
    probabilities: Float32
    labels: Int32
    trace: Sequence[Step]
    closings: Sequence[tuple[int, int | None]]
    painted: Sequence[int]

    @property
    def confidence(self) -> Float32:
        """(N,), the largest probability."""
        return np.asarray(self.probabilities.max(axis=1))


@dataclass(frozen=True, eq=False)
class Earlier:
    """A run to go on from.

    Attributes
    ----------
    plan : what it worked on
    windows : what it knew of each window that it came to
    """

    plan: Plan
    windows: Sequence[Known]


@dataclass(eq=False)
class Labelled:
    """What came of a video.

    Attributes
    ----------
    labels : (T, H, W) uint8 at each budget, in order
    ledgers : the account at each budget
    whys : what was known of each window at the end; none where nothing was computed
    plan : what was worked on
    """

    labels: list[UInt8]
    ledgers: list[Ledger]
    whys: list[Why] = field(default_factory=list)
    plan: Plan | None = None


def label_video(
    engine: Engine,
    source: VideoSource,
    request: Request,
    stopped: Callable[[], bool] = lambda: False,
    earlier: Earlier | None = None,
) -> Labelled:
    """Label a video; `stopped` ends the spending early, `earlier` is a run to go on from."""
    started = time.perf_counter()
    return _Job(engine, source, request, stopped, started).run(earlier)


class _Job:
    def __init__(
        self, engine: Engine, source: VideoSource, request: Request, stopped: Callable[[], bool], started: float
    ) -> None:
        self.engine, self.source, self.request = engine, source, request
        self.stopped, self.started = stopped, started
        self.ledger = Ledger(None, request.scope)
        self.books = Books(self.ledger, engine.costs)

    def run(self, earlier: Earlier | None) -> Labelled:
        full = _full_plan(self.source, self.request)
        budgets = self.request.budgets
        plan = full
        if earlier is not None:
            plan = earlier.plan  # its supervoxels are of such frames
        elif self.request.scope == "total" and not budgets[0].is_share:
            plan = choose_plan(full, budgets[0].amount, self._floor_s)
        for given_up in plan.lacks(full):
            self.ledger.note(f"the budget is below the floor: {given_up}")
        self.plan, self.full = plan, full
        self.done = Labelled([], [], [], plan)
        self.parts: list[list[UInt8]] = [[] for _ in budgets]
        if plan.prior:
            self._label_by_prior(full.n_frames, full.size)
        else:
            self._label_windows(earlier.windows if earlier else ())
        return self._assemble()

    def _label_windows(self, known: Sequence[Known]) -> None:
        n_done = 0
        for k, frames in enumerate(self._windows()):
            if self.stopped() and k:
                break
            run = WindowRun(self.engine, frames, self.ledger, self.started, self.request.seed + k)
            run.stopped = self.stopped
            density = self.plan.density
            run.prepare(max(1, round(density * len(frames))), self._enabled(), known[k] if k < len(known) else None)
            self._label_window(run, n_done)
            n_done += len(frames)
        if n_done == 0:
            raise VideoError(f"'{self.source.name}' gives no frame; check the file")
        if self.stopped():
            missing = self.full.n_frames - sum(len(part) for part in self.parts[-1])
            if missing > 0 and self.source.n_frames is not None:
                self.ledger.note("stopped: the rest of the video has the most frequent class")
                self._label_by_prior(missing, self.full.size)

    def _label_window(self, run: WindowRun, n_done: int) -> None:
        """A window at every budget."""
        share = len(run.frames) / max(self.plan.n_worked - n_done, len(run.frames))
        began_s = self._now_s() if n_done else 0.0
        painted: list[int] = []
        for j, budget in enumerate(self.request.budgets):
            out = np.empty(run.frames.shape[:3], np.uint8)
            if self.request.scope == "total":
                total_s = budget.in_s(self._now_s() + (run.full_s() + run.closing_s()) / share)
                deadline_s = began_s + (total_s - began_s) * share
                work_left = run.label(deadline_s, out)
            else:
                total_s = budget.in_s(run.full_s() / share)
                before_s = sum(entry.spent_s for entry in self.ledger.descriptors.values())
                work_left = run.spend(lambda end_s=before_s + total_s * share: end_s - self._descriptors_s())  # type: ignore[misc]
                run.close()
                run.paint(out)
            painted.append(len(run.closings) - 1)
            self.parts[j].append(self._carried(out))
            self._account(j, run, total_s, work_left)
        closing = run.closing
        self.done.whys.append(
            Why(n_done, run.known(), closing.probabilities, closing.labels, run.trace, run.closings, painted)  # type: ignore[arg-type]
        )

    def _carried(self, labels: UInt8) -> UInt8:
        """At the size of the video, and for the frames between those that were worked on."""
        height, width = self.full.size
        if self.plan.size != self.full.size:
            labels = np.stack([cv2.resize(one, (width, height), interpolation=cv2.INTER_NEAREST) for one in labels])
        return np.repeat(labels, self.plan.stride, axis=0) if self.plan.stride > 1 else labels

    def _account(self, j: int, run: WindowRun, budget_s: float, work_left: bool) -> None:
        ledger = self.ledger
        ledger.budget_s = budget_s
        ledger.spent_s = self._now_s() if self.request.scope == "total" else self._descriptors_s()
        ledger.work_left = work_left
        ledger.decisions, ledger.cache_hits = run.episode.n_decisions, run.live.cache.hits
        ledger.cache_misses = run.live.cache.misses
        if len(self.done.ledgers) <= j:
            self.done.ledgers.append(ledger)
        self.done.ledgers[j] = ledger.copy()

    def _assemble(self) -> Labelled:
        n = self.full.n_frames if self.source.n_frames is not None else None
        for part in self.parts:
            whole = part[0] if len(part) == 1 else np.concatenate(part)
            self.done.labels.append(whole if n is None else whole[:n])
        if self.request.scope == "total" and self.done.ledgers:
            self.done.ledgers[-1].spent_s = self._now_s()
        return self.done

    def _label_by_prior(self, n_frames: int, size: tuple[int, int]) -> None:
        """The most frequent class everywhere."""
        likeliest = int(np.argmax(self.engine.classifiers.prior))
        for j in range(len(self.parts)):
            self.parts[j].append(np.full((n_frames, *size), likeliest, np.uint8))
            if len(self.done.ledgers) <= j:
                self.ledger.budget_s, self.ledger.spent_s = self.request.budgets[j].amount, self._now_s()
                self.done.ledgers.append(self.ledger.copy())

    def _windows(self) -> Iterator[UInt8]:
        """Frames, a window at a time."""
        height, width = self.plan.size
        source = replace(self.source, size=(width, height))
        source = replace(source, span=replace(source.span, stride=source.span.stride * self.plan.stride))
        frames = iter(source)
        longest = self.request.window or max(8, WINDOW_PIXELS // (height * width))
        n_windows = -(-self.plan.n_worked // longest)
        length = -(-self.plan.n_worked // n_windows)
        if self.source.n_frames is None:
            length = longest
        while True:
            window, n = np.empty((length, height, width, 3), np.uint8), 0
            with self.books.stage("decode", self._decode_work(length), f"decode {self.source.clip.path.suffix}"):
                for frame in islice(frames, length):
                    window[n] = frame.pixels
                    n += 1
            if n == 0:
                return
            yield window[:n]

    def _floor_s(self, plan: Plan) -> float:
        """Seconds that a plan costs without any descriptor."""
        if plan.prior:
            return 0.0
        engine, n = self.engine, float(plan.n_supervoxels)
        stages = {
            f"decode {self.source.clip.path.suffix}": self._decode_work(plan.n_worked),
            f"supervoxels {engine.tier} {engine.threads}": plan.n_pixels,
            "preparation": plan.n_pixels,
            "interpolation": n,
            "potentials": n,
            "expansion": n,
            f"pixels {engine.threads}": float(plan.n_frames * self.source.width * self.source.height),
        }
        return sum(self.books.foretold_s(stage, work) for stage, work in stages.items())

    def _decode_work(self, n_frames: int) -> float:
        """Pixels of the file: smaller frames are decoded in full first."""
        width, height = self.source.clip.size
        return float(n_frames * width * height)

    def _enabled(self) -> int:
        if not self.plan.colour_only or "colour" not in self.engine.classifiers.names:
            return -1
        return self.engine.classifiers.subset_of(["colour"])

    def _descriptors_s(self) -> float:
        return sum(entry.spent_s for entry in self.ledger.descriptors.values())

    def _now_s(self) -> float:
        return time.perf_counter() - self.started


def _full_plan(source: VideoSource, request: Request) -> Plan:
    n_frames = source.n_frames or max(1, round((source.duration_s or 10.0) * source.rate))
    density = request.density or (200 if source.rate <= 2 else 35 if source.width * source.height >= 100_000 else 25)
    return Plan(n_frames, (source.height, source.width), density)
