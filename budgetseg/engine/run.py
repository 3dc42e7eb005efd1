"""A run: a video, a space and budgets in; labels, and how the time was spent, out.

plan ─► for each window: read and prepare ─► for each budget: spend (Algorithm 1) ─► finish

Long videos are labelled in windows, one after the other. Each window gets its share of what is left of a budget, in
proportion to its frames. A window is labelled at every budget before the next one is opened.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from budgetseg.engine.loop import Listed, Outcome, done_of, spend
from budgetseg.engine.memory import LabelMemory, made_ready, n_bytes, no_collection, room_for
from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.space import Evidence, Space, WindowState
from budgetseg.engine.threads import one_thread_each
from budgetseg.engine.trace import Event, Finish, WindowTrace
from budgetseg.engine.window import Window
from budgetseg.errors import UsageError, VideoError
from budgetseg.timing.clock import Clock, WallClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.types import Action, Batch, Classes
from budgetseg.video import VideoSource

__all__ = ["Earlier", "replay", "run"]

_log = logging.getLogger(__name__)

Stopped = Callable[[], bool]

RELEASE = "release"
"""Name of the stage in which the memory of a window is released."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """An earlier run to continue or replay.

    Attributes
    ----------
    plan : its plan
    windows : trace of each window that it worked on
    memory : what it has kept of each of them; empty if it kept nothing
    """

    plan: Plan
    windows: Sequence[WindowTrace]
    memory: Sequence[Any] = ()


@dataclass
class _Done:
    """A window after all of its budgets; `evidence` has an item for each budget."""

    trace: WindowTrace
    evidence: list[Evidence | None]
    memory: Any


def run(
    space: Space,
    video: VideoSource,
    request: Request,
    classes: Classes,
    clock: Clock | None = None,
    stopped: Stopped = lambda: False,
    earlier: Earlier | None = None,
    memory: LabelMemory | None = None,
) -> list[Result]:
    """Label a video. Returns a result for each budget.

    Parameters
    ----------
    space : labels the video
    video : to label
    request : budgets, and how they are counted
    classes : names and colours of label indices
    clock : measures the budgets; None for a clock that starts now
    stopped : called again and again; once it returns True, nothing more is spent, and labels are made from what is
        known
    earlier : a run to continue; its actions are repeated, or taken from its memory, without charge to the budget
    memory : where labels are kept; None for the default
    """
    with no_collection(), one_thread_each():
        return _Run(space, video, request, classes, clock or WallClock(), stopped, memory).label(earlier)


def replay(
    space: Space, video: VideoSource, request: Request, classes: Classes, earlier: Earlier, n_frames: int
) -> list[Result]:
    """Replay an earlier run on a video of n_frames frames: the same actions, the same labels, without a deadline."""
    with one_thread_each():
        return _Run(space, video, request, classes, WallClock(), lambda: False).repeat(earlier, n_frames)


class _Run:
    def __init__(
        self,
        space: Space,
        video: VideoSource,
        request: Request,
        classes: Classes,
        clock: Clock,
        stopped: Stopped,
        memory: LabelMemory | None = None,
    ) -> None:
        self.space = space
        self.video = video
        self.request = request
        self.classes = classes
        self.clock = clock
        self.stopped = stopped
        self.memory = memory or LabelMemory()
        self.done: list[_Done] = []
        self.ledgers = [Ledger(None, request.scope) for _ in request.budgets]

    def label(self, earlier: Earlier | None) -> list[Result]:
        """Label the video. Returns a result for each budget."""
        self.n_frames = self.video.n_frames or self.video.count()
        self._make_room()
        self.plan = self.space.plan(self.video, self.request) if earlier is None else earlier.plan
        _log.info("plan: %s", self.plan)
        known = () if earlier is None else earlier.windows
        n_found = 0
        for window in self._windows([trace.n_frames for trace in known]):
            if self.stopped() and window.number:
                break
            state, account = self._open(window)
            if window.number < len(known):
                assert earlier is not None
                self._recall(state, earlier, window.number, account)
            n_found = window.span.start + self._label_window(state, window, account, known)
            if n_found < window.span.stop:
                self.n_frames = n_found  # the video is shorter than its file promised
            last = Account(self.clock, self.space.prices, self.ledgers[-1])
            with last.stage(RELEASE, self._pixels_of(window)):  # the user waits until memory is released
                del state
        if n_found == 0 and not self.plan.prior:
            raise VideoError(f"'{self.video.name}' gives no frame; check the file")
        self._label_rest(n_found)
        if self.request.scope == "total" and len(self.ledgers) == 1:
            self.ledgers[0].spent_s = self.clock.now_s()
        return self._results(self.n_frames)

    def repeat(self, earlier: Earlier, n_frames: int) -> list[Result]:
        """Replay an earlier run. Returns a result for each budget."""
        self.n_frames = n_frames
        self._make_room()
        self.plan = earlier.plan
        for window in self._windows([trace.n_frames for trace in earlier.windows]):
            if window.number == len(earlier.windows):
                break
            state, account = self._open(window)
            self._repeat_window(state, window, account, earlier.windows[window.number])
        for ledger in self.ledgers:
            ledger.spent_s = self.clock.now_s()
        return self._results(n_frames)

    # Windows

    def _windows(self, lengths: Sequence[int]) -> Iterator[Window]:
        """Windows of the lengths of an earlier run, in frames, then windows of about one length."""
        reader = self.space.reader(self.video, self.plan)
        stride = self.plan.stride
        n_windows = -(-self.plan.n_worked // self.space.window_length(self.request, self.plan))
        usual = stride * -(-self.plan.n_worked // n_windows)
        first = 0
        number = 0
        while first < self.n_frames and not self.plan.prior:
            length = lengths[number] if number < len(lengths) else usual
            span = range(first, min(first + length, self.n_frames))
            yield Window(number, span, reader, span.stop == self.n_frames)
            first = span.stop
            number = number + 1

    def _open(self, window: Window) -> tuple[WindowState, Account]:
        account = Account(self.clock, self.space.prices, Ledger(None, self.request.scope))
        return self.space.open(window, self.video, self.request, self.plan, account), account

    def _recall(self, state: WindowState, earlier: Earlier, k: int, account: Account) -> None:
        """Restore what an earlier run knew of a window k. The clock stands still, since that run has paid for it."""
        trace = earlier.windows[k]
        memory = earlier.memory[k] if k < len(earlier.memory) else None
        with self.clock.paused():
            state.prepare_again(trace, len(trace.read), memory)
            if memory is None:
                spend(state, Listed(_actions(trace.events)), self.clock, lambda: np.inf, _refuse(self.space))
                account.ledger.note("what the earlier run had asked was asked again, beside the budget")
        account.ledger.stages.clear()

    def _label_window(self, state: WindowState, window: Window, account: Account, known: Sequence[WindowTrace]) -> int:
        """Label a window at every budget. Returns the number of its frames that exist."""
        began_s = self.clock.now_s()
        before = list(self.ledgers)
        events = list(known[window.number].events) if window.number < len(known) else []
        finishes: list[Finish] = []
        evidence: list[Evidence | None] = []
        budgets_s = self._budgets_s(state, window, began_s)
        ends_s = [self._end_s(began_s + budget_s, window) for budget_s in budgets_s]
        for j, (budget_s, end_s) in enumerate(zip(budgets_s, ends_s, strict=True)):
            is_ready = state.prepare(end_s, ends_s[-1])
            is_over = j + 1 < len(ends_s) and self.clock.now_s() + state.finish_s() > end_s
            if is_ready and not is_over:
                self._spend(state, account, budget_s, end_s, events)
                out = self.labels[j][window.span.start : window.span.start + state.n_frames]
                finish, found = state.finish(end_s, out)
                finishes.append(replace(finish, n_events=len(events)))
                evidence.append(found)
                self._close_budget(j, before[j], account.ledger, began_s, budget_s)
            else:
                finishes.append(Finish(len(events), prior=True))
                evidence.append(None)
                if state.n_frames:
                    self._close_empty(j, before[j], account.ledger, budget_s)
                else:
                    self._close_budget(j, before[j], account.ledger, began_s, budget_s)
        self.plan = state.plan
        if state.n_frames:
            trace = WindowTrace(state.n_frames, *state.trace(), events, finishes)
            self.done.append(_Done(trace, evidence, state.memory()))
        return state.n_frames

    def _spend(self, state: WindowState, account: Account, budget_s: float, end_s: float, events: list[Event]) -> None:
        """Run Algorithm 1 until shortly before the deadline `end_s`, and append what was done to `events`."""
        margins = self.space.margins
        ledger = account.ledger
        began_s = self.clock.now_s()
        kept_s = margins.reserve_s(budget_s, self.space.prices.slowdown.waiting)
        planned_s = 0.0

        def left_s() -> float:
            if self.stopped():
                return -1.0
            if self.request.scope != "total":
                return budget_s - ledger.sources_s
            return end_s - kept_s - margins.finish * state.finish_s() - self.clock.now_s()

        def record(batch: Batch, outcome: Outcome, at_s: float) -> None:
            nonlocal planned_s
            planned_s += float(batch.planned_s.sum())
            self._record(batch, outcome, at_s, ledger, events)

        n_before = len(events)
        spend(state, _chosen, self.clock, left_s, record, self.space.threads)
        if len(events) > n_before:
            ledger.book_stage(self.space.stage, planned_s / self.space.threads, self.clock.now_s() - began_s)
        ledger.next_s = state.next_s()
        ledger.work_left = ledger.next_s > 0

    def _record(self, batch: Batch, outcome: Outcome, at_s: float, ledger: Ledger, events: list[Event]) -> None:
        """Add the actions of a batch to the ledger and to the events of the trace."""
        actions = batch.actions
        planned = batch.planned_s.tolist()
        spent = outcome.spent_s.tolist()
        shared = outcome.shared_s.tolist()
        for k in done_of(batch, outcome):
            place, source = actions[k]
            ledger.book_source(self.space.sources[source], planned[k], spent[k])
            events.append(Event(place, source, at_s, spent[k], shared[k]))

    def _repeat_window(self, state: WindowState, window: Window, account: Account, trace: WindowTrace) -> None:
        evidence: list[Evidence | None] = []
        is_ready = False
        n_done = 0
        for j, finish in enumerate(trace.finishes):
            if finish.prior:
                evidence.append(None)
                continue
            if not is_ready or finish.n_read:
                state.prepare_again(trace, finish.n_read or len(trace.read))
                is_ready = True
            next_events = trace.events[n_done : finish.n_events]
            spend(state, Listed(_actions(next_events)), self.clock, lambda: np.inf, _refuse(self.space))
            n_done = finish.n_events
            out = self.labels[j][window.span.start : window.span.start + state.n_frames]
            evidence.append(state.finish(np.inf, out, finish)[1])
        if is_ready:
            spend(state, Listed(_actions(trace.events[n_done:])), self.clock, lambda: np.inf, _refuse(self.space))
        self.plan = state.plan if is_ready else self.plan
        self.done.append(_Done(trace, evidence, state.memory() if is_ready else None))
        self.ledgers = [ledger.plus(account.ledger) for ledger in self.ledgers]

    # Budgets

    def _end_s(self, end_s: float, window: Window) -> float:
        """When labels must be ready for memory to be released by `end_s`; infinity if the scope does not bound it."""
        if self.request.scope != "total":
            return np.inf
        return end_s - self.space.margins.finish * self.space.prices.predict(RELEASE, self._pixels_of(window))

    def _budgets_s(self, state: WindowState, window: Window, began_s: float) -> list[float]:
        """Seconds that this window gets of each budget."""
        budgets = self.request.budgets
        scope = self.request.scope
        if budgets[0].is_share:
            full_s = state.full_s(scope)
            return [budget.in_s(full_s) for budget in budgets]
        largest_s = budgets[-1].amount
        spent_s = began_s if scope == "total" else self.ledgers[-1].spent_s
        left_s = (largest_s - spent_s) * self._share_of(window)
        budgets_s = [left_s]
        for budget, ledger in zip(budgets[-2::-1], self.ledgers[-2::-1], strict=True):
            # Where the largest budget leaves much to its last windows, a smaller one has no more than its own rest.
            rest_s = (budget.amount - ledger.spent_s) * self._share_of(window)
            part_s = left_s * budget.amount / largest_s if largest_s < np.inf else rest_s
            budgets_s.insert(0, min(part_s, rest_s, budgets_s[0]))
        return budgets_s

    def _share_of(self, window: Window) -> float:
        """The share, 0 to 1, that a window has of the frames that are still to be labelled."""
        stride = self.plan.stride
        return -(-len(window.span) // stride) / -(-(self.n_frames - window.span.start) // stride)

    def _close_budget(self, j: int, before: Ledger, ledger: Ledger, began_s: float, budget_s: float) -> None:
        """Write the ledger of budget j: what was spent before this window (`before`) and in it."""
        budget = self.request.budgets[j]
        ledger.spent_s = self.clock.now_s() - began_s if self.request.scope == "total" else ledger.sources_s
        total_s = budget_s + (before.budget_s or 0.0) if budget.is_share else budget.amount
        self.ledgers[j] = replace(before.plus(ledger), budget_s=total_s, next_s=ledger.next_s)

    def _close_empty(self, j: int, before: Ledger, ledger: Ledger, budget_s: float) -> None:
        """Write the ledger of budget j, which was over before the window had labels."""
        self._close_budget(j, before, ledger, 0.0, budget_s)
        self.ledgers[j].spent_s = before.spent_s + budget_s
        self.ledgers[j].work_left = True
        self.ledgers[j].note("the budget is short: prior")

    # Labels

    def _pixels_of(self, window: Window) -> float:
        """Number of pixels of a window, at the size of the video."""
        return float(len(window.span) * self.video.height * self.video.width)

    def _make_room(self) -> None:
        """Allocate label arrays, one for each budget, filled with the most frequent class.

        How long the first touch of new memory takes is up to the system: where there is much, the clock stands still.
        """
        size = self.video.height, self.video.width
        n = self.n_frames * size[0] * size[1] * len(self.ledgers)
        prior_label = int(np.argmax(self.space.prior))
        most_bytes = self.memory.in_memory_bytes
        with self.clock.paused() if n > self.memory.unpaid_bytes else nullcontext():
            self.labels = [room_for(self.n_frames, size, prior_label, most_bytes) for _ in self.ledgers]
        if n_bytes(self.labels) > self.memory.unpaid_bytes:
            self._note(made_ready(n_bytes(self.labels)))

    def _label_rest(self, n_found: int) -> None:
        """Note in the ledgers if frames from n_found on were left with the most frequent class."""
        if self.plan.prior and not self.done:
            self._note("the budget is short: prior")
            for ledger, budget in zip(self.ledgers, self.request.budgets, strict=True):
                ledger.budget_s = budget.amount
                ledger.spent_s = self.clock.now_s()
                ledger.work_left = True
        elif self.stopped() and n_found < self.n_frames:
            self._note("stopped: the rest of the video has the most frequent class")
            for ledger in self.ledgers:
                ledger.work_left = True

    def _note(self, line: str) -> None:
        for ledger in self.ledgers:
            ledger.note(line)

    def _results(self, n_frames: int) -> list[Result]:
        windows = [done.trace for done in self.done]
        memory = [done.memory for done in self.done]
        return [
            Result(
                labels[:n_frames],
                ledger,
                self.classes,
                self.space.name,
                self.plan,
                windows,
                [done.evidence[j] for done in self.done],
                memory,
                float(self.space.prior.max()),
            )
            for j, (labels, ledger) in enumerate(zip(self.labels, self.ledgers, strict=True))
        ]


def _chosen(state: WindowState, left_s: float) -> Batch:
    """The policy of a space, which is part of its state."""
    return state.choose(left_s)


def _actions(events: Sequence[Event]) -> list[Action]:
    return [Action(event.place, event.source) for event in events]


def _refuse(space: Space) -> Callable[[Batch, Outcome, float], None]:
    """A record that raises UsageError if an action of the earlier run cannot be repeated."""

    def record(batch: Batch, outcome: Outcome, _: float) -> None:
        for k, why in outcome.missing.items():
            raise UsageError(f"{space.sources[batch.actions[k].source]} {why}: it cannot be done again")

    return record
