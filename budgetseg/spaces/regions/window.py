"""One window of a video under the clock: supervoxels, the budgeted loop, closing, pixels.

prepare ─► spend ─► close ─► paint
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

import numpy as np

from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.prices import price, workload
from budgetseg.engine.known import Known, Step
from budgetseg.errors import UsageError
from budgetseg.policy.episode import Episode
from budgetseg.policy.state import full_cost, least_cost, world_of
from budgetseg.spaces.regions.absent import Absent
from budgetseg.spaces.regions.closing import Closed, Closing
from budgetseg.spaces.regions.paint import paint
from budgetseg.spaces.regions.space import Engine
from budgetseg.spaces.regions.worker import LATE, LiveOutcome, LiveSource
from budgetseg.supervoxels import Segmenter
from budgetseg.timing.deadline import LateError, cutting_off
from budgetseg.timing.ledger import Account
from budgetseg.types import Action, Batch, Supervoxels, UInt8

__all__ = ["DESCRIPTORS", "NEVER", "SAFETY", "SLACK", "WindowRun"]

NEVER = (0, 0)  # after how many steps, and with how many moves, labels were closed that are those of nothing: the prior
DESCRIPTORS = "all descriptors"  # what the cost of everything is known by
SAFETY = 1.15  # on what the end is foretold to cost
MARGIN = 0.006  # of the budget that the loop leaves for what cannot be foretold
TURNS_S = 0.018  # that it leaves more where others always have the core first: a few turns of theirs
MOST_TURNS = 0.012  # of the budget; no more is left for them
SLABS = 0.65  # of the time of supervoxels that goes by while they report what is done
MARGIN_S = 0.003  # that the end leaves
SLACK = 1.2  # a descriptor must fit even if it takes so many times what is foretold
MANY, TOGETHER_S = 32, 5e-4  # descriptors, and seconds of them, that are chosen and computed at a time


class WindowRun:
    """A window whose labelling gets better as time is spent.

    Parameters
    ----------
    engine : labels it
    frames : (T, H, W, 3) uint8
    account : clock, prices and ledger of the run
    seed : of what is random
    """

    def __init__(self, engine: Engine, frames: UInt8, account: Account, seed: int = 0) -> None:
        self.engine = engine
        self.frames = frames
        self.account = account
        self.seed = seed
        self.trace: list[Step] = []
        self.closings: list[tuple[int, int | None]] = []  # after how many steps, and with how many moves
        self.stopped: Callable[[], bool] = lambda: False
        self._lock = Lock()
        self._episode: Episode | None = None

    def prepare(
        self, n_supervoxels: int, enabled: int = -1, known: Known | None = None, latest_s: float = np.inf
    ) -> None:
        """Supervoxels, and all that the loop needs to know of them; `known` is what an earlier run has found out.

        LateError as soon as it shows that there will be no supervoxels by `latest_s`.
        """
        engine, pixels = self.engine, float(self.frames[..., 0].size)
        supervoxels = None if known is None else known.supervoxels
        if supervoxels is None:
            line, work = engine.cutting(len(self.frames), self.frames.shape[1:3])
            with self.account.stage("supervoxels", work, line):
                supervoxels = self._segment(n_supervoxels, latest_s)
        with self.account.stage("preparation", pixels):
            self.scene = Scene.of(self.frames, supervoxels)
            h, graph = engine.classifiers, supervoxels.graph
            descriptors = [self._trusted(descriptor) for descriptor in engine.descriptors]
            for d, (descriptor, own) in enumerate(zip(descriptors, engine.descriptors, strict=True)):
                enabled &= -1 if descriptor is own else ~(1 << d)
            self.live = LiveDescriptors(self.scene, descriptors, engine.prices, timer=self.account.clock.now_s)
            self.source = LiveSource(self.live, h, self.account.clock, engine.guarded)
            costs = price(self.scene, descriptors, engine.prices)
            self._keys = [(kind, index) for kind, n in costs.kinds.items() for index in range(n)]
            asking_s = engine.prices.usual("asking H", 1.0)  # part of every descriptor's own cost
            self.world = world_of(graph, replace(costs, private_s=costs.private_s + asking_s))
            self._start = enabled, known
            if known is not None:
                self.source.inputs[:] = known.inputs
            self.closing = Closing(engine.crf, h.prior, h.starts, graph)

    def _segment(self, n: int, latest_s: float) -> Supervoxels:
        """Supervoxels; LateError where the first of the frames took so long that the rest would not be in time."""
        began_s, n_frames, n_done = self._now_s(), len(self.frames), 0

        def advance(n_more: int) -> None:
            nonlocal n_done
            n_done += n_more
            now_s = self._now_s()
            is_telling = 3 * n_done >= n_frames  # the first few may have been unlucky
            if is_telling and began_s + (now_s - began_s) * n_frames / n_done / SLABS > latest_s:
                raise LateError

        segmenter = Segmenter(self.frames.shape[1:3], self.engine.tier, self.engine.threads)
        ids = segmenter.push(self.frames, n_new=n, advance=advance)
        return Supervoxels(ids, segmenter.graph())

    def _trusted(self, descriptor: Descriptor) -> Descriptor:
        """Itself, or nothing in its place where it is not trusted and cannot say what it needs."""
        if descriptor.name in self.engine.guarded:
            try:
                workload(self.scene, [descriptor])
            except Exception as error:  # a plug-in may raise anything, and the run must go on
                self.account.ledger.note(f"{descriptor.name} failed ({type(error).__name__}: {error}); dropped")
                return Absent(descriptor)
        return descriptor

    @property
    def episode(self) -> Episode:
        """Where the loop stands; it begins when it is first looked at."""
        if self._episode is None:
            self._begin(1.0)
        assert self._episode is not None
        return self._episode

    def _begin(self, share: float) -> None:
        """Before the first decision: with such a share of the full cost to spend."""
        enabled, known = self._start
        self.policy, selection = self.engine.strategy(share)
        n_labels = self.engine.classifiers.n_labels
        self._episode = Episode.begin(self.world, n_labels, np.inf, selection, self.seed, enabled)
        if known is not None:
            self._episode.recall(known.subsets, known.said)

    def label(self, deadline_s: float, out: UInt8, after_s: float = 0.0) -> bool:
        """Spend until shortly before the deadline, seconds since the clock started, and paint the labels (T, H, W).

        False where everything was computed before. `after_s` is what comes after it takes.
        """
        end_s = deadline_s - SAFETY * (self._paint_s() + after_s) - MARGIN_S
        until_s = end_s - SAFETY * self.closing.foretold_s(self.account) - self._margin_s(deadline_s)
        work_left = self.spend(lambda: until_s - self._now_s())
        self.close(lambda: self._now_s() > end_s)
        self.paint(out)
        return work_left

    def spend(self, left_s: Callable[[], float]) -> bool:
        """Compute descriptors as long as there are seconds left; False where there is nothing left to compute."""
        prices = self.engine.prices
        if self._episode is None:
            full_s = full_cost(self.world, self.engine.counted) * prices.slowdown.factor
            prices.observe_stage(DESCRIPTORS, float(self.frames[..., 0].size), full_s)
            self._begin(self.engine.threads * left_s() / max(full_s, 1e-9))
        self.live.late = lambda: left_s() < 0
        clock = self.account.clock
        n_others = 0 if clock.is_simulated else self.engine.threads - 1
        with (
            cutting_off(list(self.live.resources.values()), left_s, clock),
            ThreadPoolExecutor(max(n_others, 1)) as pool,
        ):
            others = [pool.submit(self._work, left_s) for _ in range(n_others)]
            self._work(left_s)
        for other in others:
            other.result()  # what went wrong there is not lost
        self.live.late = lambda: False  # the other holds on to this run, and so to its frames
        self._learn_asking()
        least_s = least_cost(self.world, self.episode.state)
        has_work = bool(least_s < np.inf)
        self.account.ledger.next_s = SLACK * prices.slowdown.factor * least_s if has_work else 0.0
        return has_work

    def _learn_asking(self) -> None:
        """What it costs to ask H, from all that was asked since the last time."""
        if self.source.n_asked:
            self.engine.prices.observe_stage("asking H", float(self.source.n_asked), self.source.asking_s)
        self.source.n_asked, self.source.asking_s = 0, 0.0

    def _work(self, left_s: Callable[[], float]) -> None:
        """One core: decide, compute, tell; one core at a time decides, descriptors are computed side by side."""
        is_late = False
        while not is_late:
            with self._lock:
                began_s = self._now_s()
                batch = self._choose(-1.0 if self.stopped() else left_s())
            if len(batch.regions) == 0:
                return
            outcome = self.source(self.episode, batch)
            is_late = LATE in outcome.missing.values()
            with self._lock:
                self._take(batch, outcome, began_s)

    def _choose(self, left_s: float) -> Batch:
        """What fits."""
        episode = self.episode
        episode.pace, episode.left_s = self.engine.prices.slowdown.factor, left_s / SLACK
        return self.policy(episode, MANY, TOGETHER_S)

    def _take(self, batch: Batch, outcome: LiveOutcome, began_s: float) -> None:
        """Tell the episode of what was computed, write it down, and do without what could not be had."""
        choices, missing = batch.choices, outcome.missing
        for k, why in missing.items():
            if why == LATE:
                self._put_back(choices[k])
            else:
                self._drop(choices[k], why)
        there = [k for k in range(len(choices)) if k not in missing]
        done = batch if not missing else batch.take(there)
        self.episode.receive_all(done, outcome.said[there], outcome.spent_s[there])
        rows = outcome.spent_s.tolist(), outcome.shared_s.tolist(), batch.planned_s.tolist()
        for k in there:
            (region, d), (spent_s, shared_s, planned_s) = choices[k], (row[k] for row in rows)
            self.account.ledger.book_source(self.engine.classifiers.names[d], planned_s, spent_s)
            self.trace.append(Step(region, d, began_s, spent_s, shared_s))

    def _drop(self, choice: Action, why: str) -> None:
        """Do without a descriptor from now on; the supervoxel is finished with what it has."""
        region, d = choice
        self.episode.drop(d)
        self.episode.give_up(region)
        self.account.ledger.note(f"{self.engine.classifiers.names[d]} {why}; dropped")

    def _put_back(self, choice: Action) -> None:
        """There was no time to end what was begun; of its resources, those that were made are there."""
        cell = choice[0] * self.episode.world.n_descriptors + choice[1]
        world, cache = self.episode.world, self.live.cache
        needed = world.needed[world.needs_first[cell] : world.needs_first[cell + 1]].tolist()
        keys = {resource: self._keys[resource] for resource in needed}
        self.episode.lose([own for own, key in keys.items() if key not in cache and not cache.is_in_the_making(key)])
        self.episode.give_up(choice[0])

    def close(self, enough: Callable[[], bool] = lambda: False) -> None:
        """Labels of supervoxels from what is known now; the expansion ends early where it is `enough`."""
        closed = self.closing(self.episode.state, self.source.inputs, self.account, enough)
        self.closings.append((len(self.trace), closed.n_moves))

    @property
    def closed(self) -> Closed:
        """What came of the last closing."""
        if self.closing.last is None:
            raise ValueError("close before you paint")
        return self.closing.last

    def paint(self, out: UInt8) -> None:
        """Labels of all pixels, (T, H, W)."""
        line, work = self.engine.painting(out.size)
        with self.account.stage(line, work):
            paint(self.closed.labels, self.scene.supervoxels.ids, out, self.engine.threads)

    def replay(self, trace: Sequence[Step], n_moves: int | None) -> None:
        """Compute what another run computed, in its order, and close as it did."""
        self.compute(trace)
        asked = iter(range(1, 1 << 60))
        self.close(lambda: n_moves is not None and next(asked) >= n_moves)

    def compute(self, trace: Sequence[Step]) -> None:
        """What another run computed, in its order."""
        for step in trace:
            self.episode.withdraw(step.region)
            batch = Batch(np.array([step.region]), np.array([step.descriptor]), np.zeros(1))
            outcome = self.source(self.episode, batch)
            for why in outcome.missing.values():
                raise UsageError(f"{self.engine.classifiers.names[step.descriptor]} {why}: it cannot be done again")
            self.episode.receive_all(batch, outcome.said, outcome.spent_s)

    def closing_s(self) -> float:
        """Seconds that closing and painting would cost."""
        return self.closing.foretold_s(self.account) + self._paint_s()

    def full_s(self) -> float:
        """Seconds that all descriptors of the window would cost."""
        return full_cost(self.world, self._start[0]) * self.engine.prices.slowdown.factor

    def known(self) -> Known:
        """What there is to go on from."""
        state = self.episode.state
        return Known(self.scene.supervoxels, state.subsets, state.said, self.source.inputs)

    def _now_s(self) -> float:
        return self.account.clock.now_s()

    def _paint_s(self) -> float:
        return self.account.predict_s(*self.engine.painting(self.frames[..., 0].size))

    def _margin_s(self, deadline_s: float) -> float:
        """For what cannot be foretold."""
        if deadline_s == np.inf:
            return 0.0
        turns_s = self.engine.prices.slowdown.waiting * TURNS_S
        return MARGIN * deadline_s + min(turns_s, MOST_TURNS * deadline_s)
