"""A run: a video, a space and budgets in; labels, and how the time was spent, out.

plan ─► a glance at every window ─► for each window: read and prepare ─► for each budget: spend (Algorithm 1) ─► finish

Long videos are labelled in windows, one after the other. Each window gets its share of what is left of a budget, in
proportion to its frames. A window is labelled at every budget before the next one is opened. First, one place of every
window is asked about: whatever happens then, windows that come late have labels of their content.
"""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from budgetseg.engine.loop import LATE, Listed, Outcome, Policy, done_of, spend
from budgetseg.engine.memory import LabelMemory, made_ready, n_bytes, no_collection, room_for
from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.space import Evidence, Space, WindowState
from budgetseg.engine.threads import one_thread_each
from budgetseg.engine.trace import Event, Finish, WindowTrace
from budgetseg.engine.window import Window
from budgetseg.errors import ModelError, UsageError, VideoError
from budgetseg.propagate.order import spread
from budgetseg.timing.clock import Clock, WallClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.types import NOTHING, Action, Batch, Bool, Classes, UInt8
from budgetseg.video import VideoSource

__all__ = ["Earlier", "replay", "run"]

_log = logging.getLogger(__name__)

Stopped = Callable[[], bool]

RELEASE = "release"
"""Name of the stage in which the memory of a window is released."""
PRIOR_NOTE = "no time for a prediction: all is the most frequent class"
"""Note on labels that show nothing of the video."""
FILL = "filling"
"""Name of the stage in which windows that there was no time for take labels from others."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """A run to continue.

    Attributes
    ----------
    plan : its plan
    windows : what it did in each window that it came to
    memory : what it has kept of each of them; empty if it kept nothing
    sources : names of its networks or descriptors, in the order of the source numbers of its events
    """

    plan: Plan
    windows: Sequence[WindowTrace]
    memory: Sequence[Any] = ()
    sources: Sequence[str] = ()


@dataclass
class _Opened:
    """A window that work has begun on.

    Attributes
    ----------
    state : what is known of it
    account : clock, prices and its ledger
    events : what was done
    spent_s : seconds before it is labelled
    """

    state: WindowState
    account: Account
    events: list[Event]
    spent_s: float = 0.0


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
    """Label a video; a result for each budget.

    Parameters
    ----------
    space : how it is labelled
    video : what is labelled
    request : budgets, and how they are counted
    classes : what label indices mean
    clock : that budgets are counted by; None for one that starts now
    stopped : asked again and again; once it says so, no more is spent, and labels are made from what there is
    earlier : a run to continue; its actions are repeated, or taken from its memory, without charge to the budget
    memory : where labels are kept; None for the default
    """
    with no_collection(), one_thread_each():
        return _Run(space, video, request, classes, clock or WallClock(), stopped, memory).label(earlier)


def replay(
    space: Space, video: VideoSource, request: Request, classes: Classes, earlier: Earlier, n_frames: int
) -> list[Result]:
    """Do again what a run did to a video of so many frames: the same actions, the same labels. No clock is heeded."""
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
        self.space = space.for_run()
        self.video = video
        self.request = request
        self.classes = classes
        self.clock = clock
        self.stopped = stopped
        self.memory = memory or LabelMemory()
        self.done: list[_Done] = []
        self.glanced: dict[int, _Opened] = {}
        self.is_seen = False  # whether there is a prediction of any window
        self.failed = ""  # the first source that did, and how
        self._to_fill = [0.0] * len(request.budgets)  # pixels that take their labels from other windows
        self.ledgers = [Ledger(None, request.scope) for _ in request.budgets]

    def label(self, earlier: Earlier | None) -> list[Result]:
        """Labels at every budget."""
        self.n_frames = self.video.n_frames or self.video.count()
        self._make_room()
        self.plan = self.space.plan(self.video, self.request) if earlier is None else earlier.plan
        _log.info("plan: %s", self.plan)
        self.reader = self.space.reader(self.video, self.plan)
        known = () if earlier is None else earlier.windows
        lengths = [trace.n_frames for trace in known]
        self._glance(list(self._windows(lengths))[len(known) :])
        n_found = 0
        for window in self._windows(lengths):
            opened = self.glanced.pop(window.number, None) or self._open(window)
            if window.number < len(known) and (known[window.number].read or known[window.number].events):
                assert earlier is not None
                self._recall(opened, earlier, window.number)
            n_found = window.span.start + self._label_window(opened, window)
            if n_found < window.span.stop:
                self.n_frames = n_found  # the video is shorter than its file promised
            last = Account(self.clock, self.space.prices, self.ledgers[-1])
            with last.stage(RELEASE, self._pixels_of(window)):  # the user waits until memory is released
                del opened
        if n_found == 0 and not self.plan.prior:
            raise VideoError(f"'{self.video.name}' has no frame; check the file")
        self._check_failed()
        self._label_rest()
        if self.request.scope == "total" and len(self.ledgers) == 1:
            self.ledgers[0].spent_s = self.clock.now_s()
        return self._results(self.n_frames)

    def repeat(self, earlier: Earlier, n_frames: int) -> list[Result]:
        """Labels at every budget, as another run made them."""
        self.n_frames = n_frames
        self._make_room()
        self.plan = earlier.plan
        self.reader = self.space.reader(self.video, self.plan)
        for window in self._windows([trace.n_frames for trace in earlier.windows]):
            if window.number == len(earlier.windows):
                break
            opened = self._open(window)
            self._repeat_window(opened, window, earlier.windows[window.number])
        self._label_rest()
        for ledger in self.ledgers:
            ledger.spent_s = self.clock.now_s()
        return self._results(n_frames)

    # Windows

    def _windows(self, lengths: Sequence[int]) -> Iterator[Window]:
        """Windows of the lengths of an earlier run, in frames, then windows of about one length."""
        stride = self.plan.stride
        n_windows = -(-self.plan.n_worked // self.space.window_length(self.request, self.plan))
        usual = stride * -(-self.plan.n_worked // n_windows)
        first, number = 0, 0
        while first < self.n_frames and not self.plan.prior:
            length = lengths[number] if number < len(lengths) else usual
            span = range(first, min(first + length, self.n_frames))
            yield Window(number, span, self.reader, span.stop == self.n_frames)
            first = span.stop
            number += 1

    def _open(self, window: Window) -> _Opened:
        account = Account(self.clock, self.space.prices, Ledger(None, self.request.scope), self.stopped)
        return _Opened(self.space.open(window, self.video, self.request, self.plan, account), account, [])

    def _glance(self, windows: Sequence[Window]) -> None:
        """Ask about one place of every window, in an order of which every beginning is spread, while there is time.

        The first answer may take nearly all of the smallest budget: all other labels would be those of the prior. So
        may all of them where the share of a window pays for hardly more than one.
        """
        smallest, margins = self.request.budgets[0], self.space.margins
        if len(windows) < 2 or smallest.is_share or self.request.scope != "total":
            return
        last_s = self._last_glance_s(smallest.amount)
        until_s = last_s
        for k in spread(len(windows))[: margins.glances]:
            began_s = self.clock.now_s()
            opened = self._open(windows[k])
            finish_s = margins.finish * opened.state.finish_s()
            if began_s > until_s - finish_s or self.stopped():
                return
            if not self._has_glanced(opened, until_s - finish_s):
                continue
            opened.spent_s = self.clock.now_s() - began_s
            last_s -= finish_s
            if not self.glanced and opened.spent_s <= margins.glance_alone * smallest.amount / len(windows):
                until_s = began_s + margins.glance * smallest.amount
            until_s = min(until_s, last_s)
            self.glanced[windows[k].number] = opened

    def _has_glanced(self, opened: _Opened, end_s: float) -> bool:
        """Ask about one place of a window by a time; whether there is an answer."""
        batch = opened.state.glance(end_s)
        if batch.n_actions and self.clock.now_s() + batch.planned_s.sum() <= end_s:
            self._spend_on(opened, _once(batch), lambda: end_s - self.clock.now_s())
        return opened.state.is_known

    def _last_glance_s(self, budget_s: float) -> float:
        """When glances must end so that there is time to copy what they saw to all frames by the end of a budget."""
        margins, prices = self.space.margins, self.space.prices
        pixels = float(self.n_frames * self.video.height * self.video.width)
        kept_s = margins.reserve_s(budget_s, prices.slowdown.waiting) + margins.finish * prices.predict(FILL, pixels)
        return budget_s - kept_s

    def _recall(self, opened: _Opened, earlier: Earlier, k: int) -> None:
        """Know what an earlier run knew of a window; the clock stands still, since that run has paid for it."""
        trace = earlier.windows[k]
        memory = earlier.memory[k] if k < len(earlier.memory) else None
        with self.clock.paused():
            opened.state.prepare_again(trace, len(trace.read), memory)
            if memory is None:
                done = Listed(_actions(trace.events))
                spend(opened.state, done, self.clock, lambda: np.inf, _refuse(self.space))
                opened.account.ledger.note("actions of the earlier run were repeated, outside the budget")
        opened.account.ledger.stages.clear()
        opened.events.extend(trace.events)

    def _label_window(self, opened: _Opened, window: Window) -> int:
        """Label a window at every budget; how many of its frames there are."""
        state = opened.state
        ledger = opened.account.ledger
        events = opened.events
        began_s = self.clock.now_s()
        before = list(self.ledgers)
        finishes: list[Finish] = []
        evidence: list[Evidence | None] = []
        budgets_s = self._budgets_s(state, window, began_s)
        ends_s = [self._end_s(began_s + budget_s, window) for budget_s in budgets_s]
        for j, (budget_s, end_s) in enumerate(zip(budgets_s, ends_s, strict=True)):
            is_ready = self._is_worth_reading(window, state, ends_s[-1]) and state.prepare(end_s, ends_s[-1])
            is_over = j + 1 < len(ends_s) and self.clock.now_s() + state.finish_s() > end_s
            if is_ready and not is_over:
                self._spend(opened, budget_s, end_s)
            if state.is_known or (is_ready and not is_over):
                out = self.labels[j][window.span.start : window.span.start + state.n_frames]
                finish, own = state.finish(end_s, out)
                finishes.append(replace(finish, n_events=len(events)))
                evidence.append(own)
            else:
                finishes.append(Finish(len(events), prior=True))
                evidence.append(None)
            self._close_budget(j, before[j], ledger, began_s - opened.spent_s, budget_s)
            if finishes[-1].prior and state.n_frames:
                self.ledgers[j].spent_s = min(self.ledgers[j].spent_s, before[j].spent_s + budget_s)
                self.ledgers[j].work_left = True
                self._to_fill[j] += self._pixels_of(window)
        self.plan = state.plan
        if state.n_frames:
            trace = WindowTrace(state.n_frames, *state.trace(), events, finishes)
            self.done.append(_Done(trace, evidence, state.memory()))
        return state.n_frames

    def _is_worth_reading(self, window: Window, state: WindowState, last_s: float) -> bool:
        """Whether to read a window: the first one at any rate, the others unless time is up or the user wants labels.

        Without a prediction of any window, reading goes on: there would be no labels of the content.
        """
        if window.number == 0:
            return True
        is_late = self.clock.now_s() + self.space.margins.finish * state.finish_s() > last_s
        return not self.stopped() and not (self.is_seen and is_late)

    def _spend(self, opened: _Opened, budget_s: float, end_s: float) -> None:
        """Run Algorithm 1 until shortly before the deadline `end_s`."""
        margins = self.space.margins
        ledger = opened.account.ledger
        state = opened.state
        kept_s = margins.reserve_s(budget_s, self.space.prices.slowdown.waiting)
        first_s = margins.first * state.next_s()
        stopped_s: float | None = None

        def left_s() -> float:
            nonlocal stopped_s
            if self.stopped():
                # The first action is done nevertheless: without it there would be no labels of the content.
                stopped_s = self.clock.now_s() if stopped_s is None else stopped_s
                return -1.0 if state.is_known else stopped_s + first_s - self.clock.now_s()
            if self.request.scope != "total":
                return budget_s - ledger.sources_s
            return end_s - kept_s - margins.finish * state.finish_s() - self.clock.now_s()

        self._spend_on(opened, _chosen, left_s)
        ledger.next_s = state.next_s()
        ledger.work_left = ledger.next_s > 0

    def _spend_on(self, opened: _Opened, policy: Policy, left_s: Callable[[], float]) -> None:
        """Do what a policy decides while seconds are left, and add it to the ledger and the events of a window."""
        ledger = opened.account.ledger
        events = opened.events
        began_s = self.clock.now_s()
        before_s = ledger.stages_s
        planned_s = 0.0

        def record(batch: Batch, outcome: Outcome, at_s: float) -> None:
            nonlocal planned_s
            planned_s += float(batch.planned_s.sum())
            self._record(batch, outcome, at_s, ledger, events)

        n_before = len(events)
        spend(opened.state, policy, self.clock, left_s, record, self.space.threads)
        if len(events) > n_before:
            others_s = ledger.stages_s - before_s  # stages that ran in between have entries of their own
            spent_s = self.clock.now_s() - began_s - others_s
            ledger.book_stage(self.space.stage, planned_s / self.space.threads, spent_s)

    def _record(self, batch: Batch, outcome: Outcome, at_s: float, ledger: Ledger, events: list[Event]) -> None:
        """Add the actions of a batch to the ledger and to the events of the trace."""
        actions = batch.actions
        planned = batch.planned_s.tolist()
        spent = outcome.spent_s.tolist()
        shared = outcome.shared_s.tolist()
        for k, why in outcome.missing.items():
            if why != LATE and not self.failed:
                self.failed = f"'{self.space.sources[actions[k].source]}' {why}"
        for k in done_of(batch, outcome):
            place, source = actions[k]
            self.is_seen = True
            ledger.book_source(self.space.sources[source], planned[k], spent[k])
            events.append(Event(place, source, at_s, spent[k], shared[k]))

    def _check_failed(self) -> None:
        """Raise ModelError where labels would be those of the prior because networks fail, not for want of time."""
        is_prior = all(finish.prior for done in self.done for finish in done.trace.finishes)
        if self.failed and is_prior:
            raise ModelError(f"{self.failed} on '{self.video.name}', and no frame was predicted; check the network")

    def _repeat_window(self, opened: _Opened, window: Window, trace: WindowTrace) -> None:
        state = opened.state
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
            some = trace.events[n_done : finish.n_events]
            spend(state, Listed(_actions(some)), self.clock, lambda: np.inf, _refuse(self.space))
            n_done = finish.n_events
            out = self.labels[j][window.span.start : window.span.start + state.n_frames]
            evidence.append(state.finish(np.inf, out, finish)[1])
        if is_ready:
            spend(state, Listed(_actions(trace.events[n_done:])), self.clock, lambda: np.inf, _refuse(self.space))
        self.plan = state.plan if is_ready else self.plan
        self.done.append(_Done(trace, evidence, state.memory() if is_ready else None))
        self.ledgers = [ledger.plus(opened.account.ledger) for ledger in self.ledgers]

    # Budgets

    def _end_s(self, end_s: float, window: Window) -> float:
        """When labels must be ready for memory to be released by `end_s`; infinity if the scope does not bound it."""
        if self.request.scope != "total":
            return np.inf
        return end_s - self.space.margins.finish * self.space.prices.predict(RELEASE, self._pixels_of(window))

    def _budgets_s(self, state: WindowState, window: Window, began_s: float) -> list[float]:
        """Seconds of this window at every budget."""
        budgets, scope = self.request.budgets, self.request.scope
        if budgets[0].is_share:
            full_s = state.full_s(scope)
            return [budget.in_s(full_s) for budget in budgets]
        largest_s = budgets[-1].amount
        spent_s = began_s if scope == "total" else self.ledgers[-1].spent_s
        kept_s = [self.space.prices.predict(FILL, pixels) for pixels in self._to_fill]
        glanced_s = sum(opened.spent_s for opened in self.glanced.values())
        left_s = (largest_s - spent_s - kept_s[-1]) * self._share_of(window)
        found = [left_s]
        for j in reversed(range(len(budgets) - 1)):
            # Where the largest budget leaves much to its last windows, a smaller one has no more than its own rest.
            budget = budgets[j]
            own_s = (budget.amount - self.ledgers[j].spent_s - glanced_s - kept_s[j]) * self._share_of(window)
            part_s = left_s * budget.amount / largest_s if largest_s < np.inf else own_s
            found.insert(0, min(part_s, own_s, found[0]))
        return found

    def _share_of(self, window: Window) -> float:
        """The share, 0 to 1, that a window has of the frames that are still to be labelled."""
        stride = self.plan.stride
        return -(-len(window.span) // stride) / -(-(self.n_frames - window.span.start) // stride)

    def _close_budget(self, j: int, before: Ledger, ledger: Ledger, began_s: float, budget_s: float) -> None:
        """Add what the window has cost up to budget j to its ledger."""
        budget = self.request.budgets[j]
        ledger.spent_s = self.clock.now_s() - began_s if self.request.scope == "total" else ledger.sources_s
        total_s = budget_s + (before.budget_s or 0.0) if budget.is_share else budget.amount
        self.ledgers[j] = replace(before.plus(ledger), budget_s=total_s, next_s=ledger.next_s)

    # Labels

    def _pixels_of(self, window: Window) -> float:
        """Pixels of a window, at the size of the video."""
        return float(len(window.span) * self.video.height * self.video.width)

    def _make_room(self) -> None:
        """Make memory for labels, filled with the most frequent class.

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

    def _label_rest(self) -> None:
        """Give windows without labels of their own those of the nearest frame that has some."""
        if self.plan.prior and not self.done:
            for ledger, budget in zip(self.ledgers, self.request.budgets, strict=True):
                ledger.budget_s = budget.amount
                ledger.spent_s = self.clock.now_s()
                ledger.work_left = True
        for j, (labels, ledger) in enumerate(zip(self.labels, self.ledgers, strict=True)):
            is_own = np.repeat(
                [not done.trace.finishes[j].prior for done in self.done], [done.trace.n_frames for done in self.done]
            )
            if not is_own.any():
                ledger.note(PRIOR_NOTE)
            elif not is_own.all():
                self._fill(labels, ledger, is_own)
        if self.stopped():
            self._note("stopped: labels are made from what was known by then")
            for ledger in self.ledgers:
                ledger.work_left = True

    def _fill(self, labels: UInt8, ledger: Ledger, is_own: Bool) -> None:
        """Copy labels to the frames that have none of their own."""
        known = np.flatnonzero(is_own)
        empty = np.flatnonzero(~is_own)
        after = np.searchsorted(known, empty)
        sides = known[np.maximum(after - 1, 0)], known[np.minimum(after, len(known) - 1)]
        nearest = np.where(np.abs(sides[0] - empty) <= np.abs(sides[1] - empty), *sides)
        account = Account(self.clock, self.space.prices, ledger)
        began_s = self.clock.now_s()
        with account.stage(FILL, float(len(empty) * self.video.height * self.video.width)):
            for frame, source in zip(empty.tolist(), nearest.tolist(), strict=True):
                labels[frame] = labels[source]
        ledger.spent_s += self.clock.now_s() - began_s
        ledger.count("no time for {}: labels there are those of the nearest frame that has some", len(empty))

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
    """The policy of a space: its state has it."""
    return state.choose(left_s)


def _once(batch: Batch) -> Policy:
    """A policy that decides for one batch, and then stops."""
    left = iter([batch])
    return lambda _state, _left_s: next(left, NOTHING)


def _actions(events: Sequence[Event]) -> list[Action]:
    return [Action(event.place, event.source) for event in events]


def _refuse(space: Space) -> Callable[[Batch, Outcome, float], None]:
    """Refuses to go on where something that was done cannot be done again."""

    def record(batch: Batch, outcome: Outcome, _: float) -> None:
        for k, why in outcome.missing.items():
            raise UsageError(f"{space.sources[batch.actions[k].source]} {why}; this run cannot be repeated")

    return record
