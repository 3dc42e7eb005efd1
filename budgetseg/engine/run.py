"""A run: a video, a space and budgets in, labels and their accounts out.

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
from budgetseg.engine.memory import LARGE, made_ready, n_bytes, no_collection, room_for
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
"""Stage: the memory of a window is given back."""


@dataclass(frozen=True, eq=False)
class Earlier:
    """A run to go on from.

    Attributes
    ----------
    plan : its plan
    windows : what it did in each window that it came to
    memory : what it has kept of each of them, if anything
    """

    plan: Plan
    windows: Sequence[WindowTrace]
    memory: Sequence[Any] = ()


@dataclass
class _Done:
    """What a window has come to, budget by budget."""

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
    earlier : a run to go on from; what it did is done again, or taken from its memory, beside the budget
    """
    with no_collection(), one_thread_each():
        return _Run(space, video, request, classes, clock or WallClock(), stopped).label(earlier)


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
    ) -> None:
        self.space = space
        self.video = video
        self.request = request
        self.classes = classes
        self.clock = clock
        self.stopped = stopped
        self.done: list[_Done] = []
        self.ledgers = [Ledger(None, request.scope) for _ in request.budgets]

    def label(self, earlier: Earlier | None) -> list[Result]:
        """Labels at every budget."""
        self.n_frames = self.video.n_frames or self.video.count()
        self._make_room()
        self.plan = self.space.plan(self.video, self.request) if earlier is None else earlier.plan
        _log.info("plan: %s", self.plan)
        known = () if earlier is None else earlier.windows
        n_found = 0
        for window in self._windows([own.n_frames for own in known]):
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
            with last.stage(RELEASE, self._pixels_of(window)):  # the user waits until memory is given back
                del state
        if n_found == 0 and not self.plan.prior:
            raise VideoError(f"'{self.video.name}' has no frame; check the file")
        self._label_rest(n_found)
        if self.request.scope == "total" and len(self.ledgers) == 1:
            self.ledgers[0].spent_s = self.clock.now_s()
        return self._results(self.n_frames)

    def repeat(self, earlier: Earlier, n_frames: int) -> list[Result]:
        """Labels at every budget, as another run made them."""
        self.n_frames = n_frames
        self._make_room()
        self.plan = earlier.plan
        for window in self._windows([own.n_frames for own in earlier.windows]):
            if window.number == len(earlier.windows):
                break
            state, account = self._open(window)
            self._repeat_window(state, window, account, earlier.windows[window.number])
        for ledger in self.ledgers:
            ledger.spent_s = self.clock.now_s()
        return self._results(n_frames)

    # Windows

    def _windows(self, lengths: Sequence[int]) -> Iterator[Window]:
        """Windows of the lengths that an earlier run had, then of about one length."""
        reader, stride = self.space.reader(self.video, self.plan), self.plan.stride
        n_windows = -(-self.plan.n_worked // self.space.window_length(self.request, self.plan))
        usual = stride * -(-self.plan.n_worked // n_windows)
        first, number = 0, 0
        while first < self.n_frames and not self.plan.prior:
            length = lengths[number] if number < len(lengths) else usual
            span = range(first, min(first + length, self.n_frames))
            yield Window(number, span, reader, span.stop == self.n_frames)
            first, number = span.stop, number + 1

    def _open(self, window: Window) -> tuple[WindowState, Account]:
        account = Account(self.clock, self.space.prices, Ledger(None, self.request.scope))
        return self.space.open(window, self.video, self.request, self.plan, account), account

    def _recall(self, state: WindowState, earlier: Earlier, k: int, account: Account) -> None:
        """Know what an earlier run knew of a window; the clock stands still, since that run has paid for it."""
        trace = earlier.windows[k]
        memory = earlier.memory[k] if k < len(earlier.memory) else None
        with self.clock.paused():
            state.prepare_again(trace, len(trace.read), memory)
            if memory is None:
                spend(state, Listed(_actions(trace.events)), self.clock, lambda: np.inf, _refuse(self.space))
                account.ledger.note("actions of the earlier run were repeated, outside the budget")
        account.ledger.stages.clear()

    def _label_window(self, state: WindowState, window: Window, account: Account, known: Sequence[WindowTrace]) -> int:
        """Label a window at every budget; how many of its frames there are."""
        began_s, before = self.clock.now_s(), list(self.ledgers)
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
                finish, own = state.finish(end_s, out)
                finishes.append(replace(finish, n_events=len(events)))
                evidence.append(own)
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
        """Algorithm 1, until shortly before a deadline."""
        margins, ledger, began_s = self.space.margins, account.ledger, self.clock.now_s()
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
        """Write actions to the ledger and the trace."""
        actions = batch.actions
        planned, spent, shared = batch.planned_s.tolist(), outcome.spent_s.tolist(), outcome.shared_s.tolist()
        for k in done_of(batch, outcome):
            place, source = actions[k]
            ledger.book_source(self.space.sources[source], planned[k], spent[k])
            events.append(Event(place, source, at_s, spent[k], shared[k]))

    def _repeat_window(self, state: WindowState, window: Window, account: Account, trace: WindowTrace) -> None:
        evidence: list[Evidence | None] = []
        is_ready, n_done = False, 0
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
        self.ledgers = [ledger.plus(account.ledger) for ledger in self.ledgers]

    # Budgets

    def _end_s(self, end_s: float, window: Window) -> float:
        """When labels must be ready, before memory is given back; infinity where nothing bounds it."""
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
        left_s = (largest_s - spent_s) * self._share_of(window)
        found = [left_s]
        for budget, ledger in zip(budgets[-2::-1], self.ledgers[-2::-1], strict=True):
            # Where the largest budget leaves much to its last windows, a smaller one has no more than its own rest.
            own_s = (budget.amount - ledger.spent_s) * self._share_of(window)
            part_s = left_s * budget.amount / largest_s if largest_s < np.inf else own_s
            found.insert(0, min(part_s, own_s, found[0]))
        return found

    def _share_of(self, window: Window) -> float:
        """The share of a window in what is left of the video, by frames that are worked on."""
        stride = self.plan.stride
        return -(-len(window.span) // stride) / -(-(self.n_frames - window.span.start) // stride)

    def _close_budget(self, j: int, before: Ledger, ledger: Ledger, began_s: float, budget_s: float) -> None:
        """Write down what the window has cost up to a budget."""
        budget = self.request.budgets[j]
        ledger.spent_s = self.clock.now_s() - began_s if self.request.scope == "total" else ledger.sources_s
        total_s = budget_s + (before.budget_s or 0.0) if budget.is_share else budget.amount
        self.ledgers[j] = replace(before.plus(ledger), budget_s=total_s, next_s=ledger.next_s)

    def _close_empty(self, j: int, before: Ledger, ledger: Ledger, budget_s: float) -> None:
        """Write down that a budget was over before the window had labels."""
        self._close_budget(j, before, ledger, 0.0, budget_s)
        self.ledgers[j].spent_s = before.spent_s + budget_s
        self.ledgers[j].work_left = True
        self.ledgers[j].note("the budget is short: prior")

    # Labels

    def _pixels_of(self, window: Window) -> float:
        """Pixels of a window, at the size of the video."""
        return float(len(window.span) * self.video.height * self.video.width)

    def _make_room(self) -> None:
        """Make memory for labels, filled with the most frequent class.

        The first touch of new memory takes as long as the system likes: where there is much, the clock stands still.
        """
        size = self.video.height, self.video.width
        n = self.n_frames * size[0] * size[1] * len(self.ledgers)
        with self.clock.paused() if n > LARGE else nullcontext():
            self.labels = [room_for(self.n_frames, size, int(np.argmax(self.space.prior))) for _ in self.ledgers]
        if n_bytes(self.labels) > LARGE:
            self._note(made_ready(n_bytes(self.labels)))

    def _label_rest(self, n_found: int) -> None:
        """Say which frames have no label but the most frequent class."""
        if self.plan.prior and not self.done:
            self._note("the budget is short: prior")
            for ledger, budget in zip(self.ledgers, self.request.budgets, strict=True):
                ledger.budget_s, ledger.spent_s, ledger.work_left = budget.amount, self.clock.now_s(), True
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
    """The policy of a space: its state has it."""
    return state.choose(left_s)


def _actions(events: Sequence[Event]) -> list[Action]:
    return [Action(event.place, event.source) for event in events]


def _refuse(space: Space) -> Callable[[Batch, Outcome, float], None]:
    """Refuses to go on where something that was done cannot be done again."""

    def record(batch: Batch, outcome: Outcome, _: float) -> None:
        for k, why in outcome.missing.items():
            raise UsageError(f"{space.sources[batch.actions[k].source]} {why}; this run cannot be repeated")

    return record
