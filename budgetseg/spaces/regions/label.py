"""A video to labels under a budget; long ones in windows, which share it in proportion to their frames."""

import logging
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import chain, islice, repeat

import numpy as np

from budgetseg.engine.garbage import no_collection
from budgetseg.engine.known import Known
from budgetseg.engine.labelled import Earlier, Labelled, Why
from budgetseg.engine.memory import LARGE, made_ready, n_bytes, room_for
from budgetseg.engine.request import Request
from budgetseg.errors import VideoError
from budgetseg.spaces.regions.carry import carry, reduced, worked_on
from budgetseg.spaces.regions.floor import REDUCING, Floor
from budgetseg.engine.plan import LONGEST_STRIDE, Plan, cheapest, smaller
from budgetseg.spaces.regions.space import Engine
from budgetseg.spaces.regions.window import NEVER, SAFETY, WindowRun
from budgetseg.timing.clock import Clock, WallClock
from budgetseg.timing.deadline import LateError
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.types import UInt8
from budgetseg.video import Frame, VideoSource

__all__ = ["label_video"]

_log = logging.getLogger(__name__)

LETTING_GO = "letting go"  # of the memory of a window
CLEARLY_LESS = 0.6  # of the work, for which it pays to begin again
WINDOW_PIXELS = 42_000_000  # 240 frames of 480×360
DOUBT = 4.0  # what was learned on a busy machine alone may take so many times less


def label_video(
    engine: Engine,
    source: VideoSource,
    request: Request,
    stopped: Callable[[], bool] = lambda: False,
    earlier: Earlier | None = None,
    clock: Clock | None = None,
) -> Labelled:
    """Label a video; `stopped` ends the spending early, `earlier` is a run to go on from.

    The budget is counted by `clock`; None for one that starts now.
    """
    with no_collection():
        return _Job(engine, source, request, stopped, clock or WallClock()).run(earlier)


class _Job:
    def __init__(
        self, engine: Engine, source: VideoSource, request: Request, stopped: Callable[[], bool], clock: Clock
    ) -> None:
        self.engine, self.source, self.request = engine, source, request
        self.stopped, self.clock = stopped, clock
        self.account = self._new_account()  # of the window at hand
        self.floor = Floor.of(engine, source, request)
        self.full, self.end_s = self.floor.full, self.floor.end_s

    def run(self, earlier: Earlier | None) -> Labelled:
        full, budgets = self.full, self.request.budgets
        plan, decoding = full, 1.0
        if earlier is not None:
            plan = earlier.plan  # its supervoxels are of such frames
        elif self.end_s < np.inf:
            plan, decoding = self._first_plan()
        self.plan, self.is_fixed = plan, earlier is not None
        self._say_plan()
        # Small budgets that are over before such a plan has any labels: the largest one decides.
        floor_s = 0.0 if self.is_fixed or self.end_s == np.inf else self.floor.seconds(plan, decoding=decoding)
        self.n_early = sum(budget.amount < floor_s for budget in budgets[:-1])
        self.done = Labelled([], [Ledger(None, self.request.scope) for _ in budgets], [], plan)
        for ledger in self.done.ledgers[: self.n_early]:
            ledger.note(f"over before there are labels by the plan for {budgets[-1].amount:g} s: prior")
        self.parts: list[list[UInt8]] = [[] for _ in budgets]
        self._make_room()
        self.began_s = 0.0
        if plan.prior:
            self._label_by_prior(full.n_frames)
        else:
            self._label_windows(earlier)
        return self._assemble()

    def _make_room(self) -> None:
        """Fill it: the first touch of new memory takes as long as the system likes, and the end must be foretold.

        While there is much to be filled the clock stands still.
        """
        sizes = [self.full.n_frames * self.full.size[0] * self.full.size[1]] * len(self.request.budgets)
        with self.clock.paused() if sum(sizes) > LARGE else nullcontext():
            self.wholes = [self._by_prior(self.full.n_frames) for _ in self.request.budgets]
        if n_bytes(self.wholes) > LARGE:
            self._note(made_ready(n_bytes(self.wholes)))

    def _first_plan(self) -> tuple[Plan, float]:
        """Before anything is read; and how many times what is known of it decoding is taken to cost."""
        plan, decoding = self.floor.begin(), 1.0
        if plan.prior:  # nothing would be read, and what reading costs would never be known better
            decoding = 1 / DOUBT
            plan = self.floor.begin(decoding)
        return plan, decoding

    def _label_windows(self, earlier: Earlier | None) -> None:
        known = earlier.windows if earlier else ()
        n_done, windows = 0, self._windows([len(one.supervoxels.ids) for one in known])
        for k, read in enumerate(windows):
            if self.stopped() and k:
                break
            self._plan_again(len(read), n_done)
            if self.plan.prior:
                break
            _log.info("window %d: %d frames are there after %.3f s", k, len(read), self._now_s())
            run = self._prepared(read, k, n_done, known[k] if k < len(known) else None)
            self._label_window(run, n_done)
            n_done += len(run.frames)
            is_last = self.source.n_frames is not None and n_done >= self.plan.n_worked
            last = Account(self.clock, self.engine.prices, self.done.ledgers[-1])
            with last.stage(LETTING_GO, float(read[..., 0].size)):
                del run, read
                if is_last:
                    windows.close()
            if is_last:
                break
            self.account = self._new_account()
            self.began_s = self._now_s()
        if n_done == 0 and self.is_late:
            self._change_plan(replace(self.plan, prior=True))
        if self.plan.prior and n_done == 0:
            self._label_by_prior(self.full.n_frames)
        elif n_done == 0:
            raise VideoError(f"'{self.source.name}' gives no frame; check the file")
        elif self.stopped() or self.is_late:
            self._label_rest(self.full.n_frames - sum(len(part) for part in self.parts[-1]))

    def _label_rest(self, n_missing: int) -> None:
        """Frames that were not read; of a file that does not say how many it has, there are none."""
        why = "stopped" if self.stopped() else "reading took too long"
        if self.source.n_frames is None:
            self._note(f"{why}: only frames that were read have labels")
        elif n_missing > 0:
            self._note(f"{why}: the rest of the video has the most frequent class")
            self._label_by_prior(n_missing)
        else:
            return
        for ledger in self.done.ledgers:
            ledger.work_left = True

    def _plan_again(self, n_read: int, n_done: int) -> None:
        """Do without more in this window, and those after it, where reading it took longer than was foretold."""
        if self.is_fixed or self.end_s == np.inf:
            return
        is_all = n_read >= self.plan.n_worked or (self.is_late and n_done == 0)
        # With more to be read, windows must begin where they began, and have labels of their own.
        longest, least_s = (LONGEST_STRIDE, 0.0) if is_all else (self.plan.stride, 1e-3)
        left_s = max(self._window_end_s(n_read, n_done) - self._now_s(), least_s)

        plan = self.floor.choose(self.plan, left_s, partial(self._read_floor_s, n_read), longest)
        self._change_plan(plan if is_all else replace(plan, prior=False))

    def _read_floor_s(self, n_read: int, plan: Plan) -> float:
        """What a plan costs for so many frames that were read by the plan of now."""
        return self.floor.seconds(plan, -(-n_read * self.plan.stride // plan.stride), decoding=0.0)

    def _change_plan(self, plan: Plan) -> None:
        """Go on by another plan, of frames that are read as before."""
        if plan.size != self.plan.size:
            plan = replace(plan, read_size=self.plan.read_size or self.plan.size)
        has_changed = plan != self.plan
        self.plan = self.done.plan = plan
        if has_changed:
            self._say_plan()

    def _say_plan(self) -> None:
        plan, lacks = self.plan, ", ".join(self.plan.lacks(self.full))
        tier = self.engine.of_tier(plan.tier).tier
        what = f"{plan.n_worked} frames of {plan.size[1]}×{plan.size[0]}, {plan.n_supervoxels} supervoxels, {tier}"
        _log.info("plan: %s%s", what, f"; the budget is short: {lacks}" if lacks else "")

    def _prepared(self, read: UInt8, k: int, n_done: int, known: Known | None) -> WindowRun:
        """A window with its supervoxels; of smaller frames, where those that were read take too long."""
        stride = self.plan.stride // self.read_stride
        while True:
            size = self.plan.size if known is None else known.supervoxels.ids.shape[1:3]
            pictures, engine = read[::stride], self.engine.of_tier(self.plan.tier)
            frames = self._reduced(pictures, size)
            seed = self.request.seed + k
            run = WindowRun(engine, frames, self.account, seed)
            run.stopped = self.stopped
            cheaper = None if self.is_fixed else self._cheaper(len(frames))
            latest_s = np.inf if cheaper is None else self._latest_s(len(frames), n_done)
            try:
                run.prepare(self.plan.supervoxels_in(len(frames)), self._enabled(), known, latest_s)
                return run
            except LateError:
                assert cheaper is not None
                self._change_plan(cheaper)

    def _reduced(self, pictures: UInt8, size: tuple[int, int]) -> UInt8:
        """Frames that were read, at the size that is worked on."""
        if pictures.shape[1:3] == size:
            return np.ascontiguousarray(pictures)
        with self.account.stage(REDUCING, float(pictures[..., 0].size)):
            return reduced(pictures, size)

    def _cheaper(self, n_frames: int) -> Plan | None:
        """The plan with the next smaller frames that take clearly less time to cut; None where there is none."""
        engine, plan = self.engine.of_tier(self.plan.tier), smaller(self.plan)
        work = engine.cutting(n_frames, self.plan.size)[1]
        while plan is not None and engine.cutting(n_frames, plan.size)[1] > CLEARLY_LESS * work:
            plan = smaller(plan)
        return plan

    def _latest_s(self, n_frames: int, n_done: int) -> float:
        """When the supervoxels of a window must be there, so that there is time to label them."""
        return self._window_end_s(n_frames, n_done) - self.floor.after_cutting_s(self.plan, n_frames)

    def _window_end_s(self, n_frames: int, n_done: int) -> float:
        """When the labels of a window must be there."""
        return self.began_s + self._share_of(n_frames, n_done) * (self.end_s - self.began_s)

    def _label_window(self, run: WindowRun, n_done: int) -> None:
        """A window at every budget: of each it gets its share of the frames, the last one what is left of it."""
        before, painted = list(self.done.ledgers), []
        prior = self.engine.classifiers.prior.astype(np.float32)
        opinions = [np.broadcast_to(prior, (len(run.scene.supervoxels), len(prior)))] * self.n_early
        for j, (window_s, total_s) in enumerate(self._budgets_s(run, n_done)):
            if j < self.n_early:
                run.closings.append(NEVER)
                painted.append(len(run.closings) - 1)
                self.parts[j].append(self._by_prior(len(run.frames) * self.plan.stride))
                self.done.ledgers[j] = replace(before[j], budget_s=total_s, spent_s=total_s, work_left=True)
                continue
            out, deadline_s = self._place_for(j, n_done, run.frames), self.began_s + window_s
            # The user waits until memory is given back.
            last_s = self.account.predict_s(LETTING_GO, float(out.size)) if j == len(before) - 1 else 0.0
            if self.request.scope == "total":
                work_left = run.label(deadline_s, out, self._carry_s(out) + last_s)
            else:
                work_left = run.spend(lambda end_s=window_s: end_s - run.account.ledger.sources_s)  # type: ignore[misc]
                run.close()
                run.paint(out)
            painted.append(len(run.closings) - 1)
            opinions.append(run.closed.probabilities)  # every closing makes new ones
            self.parts[j].append(self._carried(out, j, n_done))
            ledger = self._account(run, work_left)
            self.done.ledgers[j] = replace(before[j].plus(ledger), budget_s=total_s, work_left=work_left)
        told = run.trace, run.closings, painted
        self.done.whys.append(Why(n_done, run.known(), opinions, run.closed.labels, *told))

    def _budgets_s(self, run: WindowRun, n_done: int) -> list[tuple[float, float]]:
        """Seconds for this window at every budget, and for all windows up to now, or all there are."""
        budgets, ledgers = self.request.budgets, self.done.ledgers
        if budgets[0].is_share:
            full_s = run.full_s()
            if self.request.scope == "total":
                full_s += self._now_s() - self.began_s + run.closing_s()
            own_s = [budget.in_s(full_s) for budget in budgets]
            return [(own, own + (ledger.budget_s or 0.0)) for own, ledger in zip(own_s, ledgers, strict=True)]
        largest_s = budgets[-1].amount
        left_s = (largest_s - ledgers[-1].spent_s) * self._share_of(len(run.frames), n_done)
        shares = [budget.amount / largest_s if budget.amount < largest_s else 1.0 for budget in budgets]
        return [(left_s * part, budget.amount) for part, budget in zip(shares, budgets, strict=True)]

    def _share_of(self, n_frames: int, n_done: int) -> float:
        """Of what is left of the video, of the frames that are worked on."""
        return 1.0 if self.is_late else n_frames / max(self.plan.n_worked - n_done, n_frames)

    def _place_for(self, j: int, n_done: int, frames: UInt8) -> UInt8:
        """Where the labels of a window belong: in the whole, unless they are carried over or more than was said."""
        if not self.floor.is_carried(self.plan) and n_done + len(frames) <= self.full.n_frames:
            return self.wholes[j][n_done : n_done + len(frames)]
        return np.empty(frames.shape[:3], np.uint8)

    def _carried(self, labels: UInt8, j: int, n_done: int) -> UInt8:
        """At the size of the video, and for the frames between those that were worked on."""
        if not self.floor.is_carried(self.plan):
            return labels
        start, n = n_done * self.plan.stride, len(labels) * self.plan.stride
        # A plan may end between two frames that it works on; only of a video whose length is known is that the end.
        n = n if self.source.n_frames is None else min(n, self.full.n_frames - start)
        place = self.wholes[j][start : start + n] if 0 < n <= self.full.n_frames - start else None
        with self.account.stage("carrying", self.floor.carry_work(self.plan, len(labels))):
            return carry(labels, self.plan, self.full.size, place)

    def _carry_s(self, labels: UInt8) -> float:
        """Seconds that this is foretold to take."""
        if not self.floor.is_carried(self.plan):
            return 0.0
        return self.account.predict_s("carrying", self.floor.carry_work(self.plan, len(labels)))

    def _account(self, run: WindowRun, work_left: bool) -> Ledger:
        """Of this window up to now."""
        ledger = run.account.ledger
        spent_s = self._now_s() - self.began_s if self.request.scope == "total" else ledger.sources_s
        cache = run.live.cache
        ledger.spent_s, ledger.work_left, ledger.decisions = spent_s, work_left, run.episode.n_decisions
        ledger.cache_hits, ledger.cache_misses = cache.hits, cache.misses
        return ledger

    def _note(self, *lines: str) -> None:
        """Tell the user, at every budget."""
        for ledger in self.done.ledgers:
            for line in lines:
                ledger.note(line)

    def _assemble(self) -> Labelled:
        n = self.full.n_frames if self.source.n_frames is not None else None
        for whole, part in zip(self.wholes, self.parts, strict=True):
            if not all(np.may_share_memory(whole, one) for one in part):
                whole = part[0] if len(part) == 1 else np.concatenate(part)
            n_found = sum(map(len, part))  # a video may end before it said so
            self.done.labels.append(whole[: n_found if n is None else min(n, n_found)])
        if not self.is_fixed:
            given_up = [f"the budget is short: {name}" for name in self.plan.lacks(self.full)]
            for ledger in self.done.ledgers:
                ledger.notes[:0] = given_up
        if self.request.scope == "total" and len(self.parts) == 1:
            self.done.ledgers[0].spent_s = self._now_s()
        return self.done

    def _by_prior(self, n_frames: int) -> UInt8:
        """The most frequent class everywhere."""
        return room_for(n_frames, self.full.size, int(np.argmax(self.engine.classifiers.prior)))

    def _label_by_prior(self, n_frames: int) -> None:
        """So, at every budget; the whole is of that class where nothing else was written."""
        books = zip(self.parts, self.wholes, self.done.ledgers, self.request.budgets, strict=True)
        for part, whole, ledger, budget in books:
            first = sum(map(len, part))
            part.append(whole[first : first + n_frames])
            if ledger.budget_s is None:
                ledger.budget_s, ledger.spent_s, ledger.work_left = budget.amount, self._now_s(), True

    def _windows(self, lengths: Sequence[int]) -> Generator[UInt8, None, None]:
        """Frames, a window at a time, the first of these lengths; no more than can be labelled in the cheapest way."""
        height, width = self.plan.read_size or self.plan.size
        self.read_stride, self.is_late = self.plan.stride, False
        frames = iter(worked_on(self.source, self.plan))
        longest = self.request.window or max(8, WINDOW_PIXELS // (height * width))
        n_windows = -(-self.plan.n_worked // longest)
        length = longest if self.source.n_frames is None else -(-self.plan.n_worked // n_windows)
        window = np.empty((max(length, *lengths, 0), height, width, 3), np.uint8)  # for one after the other
        for wanted in chain(lengths, repeat(length)):
            n = self._read(islice(frames, wanted), window)
            if n == 0:
                return
            yield window[:n]
            if self.is_late:
                return

    def _read(self, frames: Iterable[Frame], window: UInt8) -> int:
        """Frames into a window, as long as there will be time to label them; how many."""
        n, began_s = 0, self._now_s()
        # Windows after the first must keep the stride: they begin where it says.
        least = cheapest(self.plan, self.plan.stride if self.began_s else LONGEST_STRIDE)
        is_timed = not self.is_fixed and self.end_s < np.inf
        for n, frame in enumerate(frames, 1):
            window[n - 1] = frame.pixels
            self.clock.charge(self.floor.frame_s(self.read_stride))
            if not is_timed:
                continue
            next_s = (self._now_s() - began_s) / n + SAFETY * self._read_floor_s(n, least)
            if self._now_s() + next_s > self.end_s:
                self.is_late = True
                break
        if n:
            work = self.floor.decode_work(n, self.read_stride)
            self.account.book("decode", work, self._now_s() - began_s, self.floor.decode_line)
        return n

    def _enabled(self) -> int:
        if not self.plan.colour_only or "colour" not in self.engine.classifiers.names:
            return -1
        return self.engine.classifiers.subset_of(["colour"])

    def _now_s(self) -> float:
        return self.clock.now_s()

    def _new_account(self) -> Account:
        return Account(self.clock, self.engine.prices, Ledger(None, self.request.scope))
