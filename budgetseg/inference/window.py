"""One window of a video under the clock: supervoxels, the budgeted loop, closing, pixels.

prepare ─► spend ─► close ─► (spend the rest ─► close again) ─► paint
"""

import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from threading import Lock

import numpy as np

from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.crf.potentials import Crf
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.costs import CostModel
from budgetseg.descriptors.live import LateError, LiveDescriptors
from budgetseg.descriptors.prices import price
from budgetseg.inference.closing import Closing
from budgetseg.inference.episode import Choice, Chooser, Episode, Selection
from budgetseg.inference.ledger import Books, Ledger
from budgetseg.inference.live import DroppedError, LiveSource
from budgetseg.inference.paint import paint
from budgetseg.inference.stages import StageCosts
from budgetseg.inference.state import ENABLED, full_cost, world_of
from budgetseg.supervoxels import segment
from budgetseg.types import Float32, Int32, Supervoxels, UInt8

__all__ = ["Engine", "Known", "Step", "Strategy", "WindowRun"]

SAFETY = 1.15  # on what the end is foretold to cost
MARGIN = 0.006  # of the budget that the loop leaves for what cannot be foretold
MARGIN_S = 0.001  # that the end leaves
SLACK = 1.2  # a descriptor must fit even if it takes so many times what is foretold
LUMP = 0.01  # of the budget; what costs more must fit even if it takes half as much again
WORTH = 0.02  # of the budget; less than this left is not worth going on for


Strategy = Callable[[float], tuple[Chooser, Selection]]
"""From the share of the full cost that may be spent to who decides, and who is considered first."""


@dataclass(frozen=True, eq=False)
class Engine:
    """What labels videos: all that does not depend on one.

    Attributes
    ----------
    classifiers : H
    crf : the energies
    descriptors : in the order of H
    costs : what descriptors cost on this machine
    stages : what all else costs
    strategy : says who decides, and which supervoxels are considered first, for a share of the full cost
    tier : of the supervoxels
    threads : cores to use
    guarded : names of descriptors that are not trusted to return
    counted : descriptors that make up the full cost of which the strategy is told a share, as bits; -1 for all
    """

    classifiers: SubsetClassifiers
    crf: Crf
    descriptors: Sequence[Descriptor]
    costs: CostModel
    stages: StageCosts
    strategy: Strategy
    tier: str = "fast"
    threads: int = 1
    guarded: Sequence[str] = ()
    counted: int = -1

    @property
    def supervoxels_line(self) -> str:
        """What the costs of its supervoxels are known by."""
        return f"supervoxels {self.tier} {self.threads}"

    @property
    def pixels_line(self) -> str:
        """What the costs of painting are known by."""
        return f"pixels {self.threads}"


@dataclass(frozen=True)
class Step:
    """A descriptor that was computed, for the trace.

    Attributes
    ----------
    region, descriptor : of which supervoxel, and which
    at_s : seconds since the clock started
    spent_s : what it took
    """

    region: int
    descriptor: int
    at_s: float
    spent_s: float


@dataclass(frozen=True, eq=False)
class Known:
    """What a run knows of a window, to go on from another time.

    Attributes
    ----------
    supervoxels : of the window
    subsets : (N,) int32, descriptors computed, as bits
    said : (N, L) float32, H's probabilities
    inputs : (N, d) float32, what was computed, as H scales it
    """

    supervoxels: Supervoxels
    subsets: Int32
    said: Float32
    inputs: Float32


class WindowRun:
    """A window whose labelling gets better as time is spent.

    Parameters
    ----------
    engine : labels it
    frames : (T, H, W, 3) uint8
    ledger : of the run
    started : of the clock, on `time.perf_counter`
    seed : of what is random
    """

    def __init__(self, engine: Engine, frames: UInt8, ledger: Ledger, started: float, seed: int = 0) -> None:
        self.engine, self.frames, self.started, self.seed = engine, frames, started, seed
        self.books = Books(ledger, engine.stages, engine.costs)
        self.trace: list[Step] = []
        self.closings: list[tuple[int, int | None]] = []  # after how many steps, and with how many moves
        self.stopped: Callable[[], bool] = lambda: False
        self._lock = Lock()

    def prepare(self, n_supervoxels: int, enabled: int = -1, known: Known | None = None) -> None:
        """Supervoxels, and all that the loop needs to know of them; `known` is what an earlier run has found out."""
        engine, pixels = self.engine, float(self.frames[..., 0].size)
        supervoxels = None if known is None else known.supervoxels
        if supervoxels is None:
            with self.books.stage("supervoxels", pixels, engine.supervoxels_line):
                supervoxels = segment(self.frames, n_supervoxels, engine.tier, engine.threads)
        with self.books.stage("preparation", pixels):
            self.scene = Scene.of(self.frames, supervoxels)
            h, graph = engine.classifiers, supervoxels.graph
            self.live = LiveDescriptors(self.scene, engine.descriptors, engine.costs)
            self.source = LiveSource(self.live, h, engine.guarded)
            costs = price(self.scene, engine.descriptors, engine.costs)
            self._keys = [(kind, index) for kind, n in costs.kinds.items() for index in range(n)]
            asking_s = engine.stages.predict("asking H", 1.0)  # part of every descriptor's own cost
            world = world_of(graph, replace(costs, private_s=costs.private_s + asking_s))
            self._start, self._lump_s = (world, enabled, known), np.inf
            self._begin(1.0)
            if known is not None:
                self.source.inputs[:] = known.inputs
            self.closing = Closing(engine.crf, h.prior, h.starts, graph)

    def _begin(self, share: float) -> None:
        """Before the first decision: with such a share of the full cost to spend."""
        world, enabled, known = self._start
        self.policy, selection = self.engine.strategy(share)
        n_labels = self.engine.classifiers.n_labels
        self.episode = Episode.begin(world, n_labels, np.inf, selection, self.seed, enabled)
        if known is not None:
            self.episode.recall(known.subsets, known.said)

    def label(self, deadline_s: float, out: UInt8, after_s: float = 0.0) -> bool:
        """Spend until shortly before the deadline, seconds since the clock started, and paint the labels (T, H, W).

        False where everything was computed before. `after_s` is kept for what comes after it.
        """
        paint_s = self._paint_s() + after_s
        while True:
            end_s = deadline_s - SAFETY * paint_s - MARGIN_S
            until_s = end_s - SAFETY * self.closing.foretold_s(self.books) - self._margin_s(deadline_s)
            n_before, self._lump_s = self.episode.n_computed, LUMP * deadline_s
            work_left = self.spend(lambda until_s=until_s: until_s - self._now_s())  # type: ignore[misc]
            closing_s = self.close(lambda end_s=end_s: self._now_s() > end_s)  # type: ignore[misc]
            left_s = end_s - self._now_s()
            got_nothing = self.episode.n_computed == n_before  # nothing fits, or nothing more is wanted
            if not work_left or got_nothing or self.stopped() or left_s < max(1.5 * closing_s, WORTH * deadline_s):
                break
        self.paint(out)
        return work_left

    def spend(self, left_s: Callable[[], float]) -> bool:
        """Compute descriptors as long as there are seconds left; False where there is nothing left to compute."""
        if self.episode.n_decisions == 0:
            full_s = full_cost(self.episode.world, self.engine.counted) * self.engine.costs.pace
            self._begin(left_s() / max(full_s, 1e-9))
        self.episode.lump_s = self._lump_s
        self.live.late = lambda: left_s() < 0
        n_others = self.engine.threads - 1
        if n_others == 0:
            self._work(left_s)
        else:
            with ThreadPoolExecutor(n_others) as pool:
                others = [pool.submit(self._work, left_s) for _ in range(n_others)]
                self._work(left_s)
            for other in others:
                other.result()  # what went wrong there is not lost
        self._learn_asking()
        return self._has_work()

    def _learn_asking(self) -> None:
        """What it costs to ask H, from all that was asked since the last time."""
        if self.source.n_asked:
            seconds = self.source.asking_s / self.engine.costs.pace
            self.engine.stages.observe("asking H", float(self.source.n_asked), seconds)
        self.source.n_asked, self.source.asking_s = 0, 0.0

    def _work(self, left_s: Callable[[], float]) -> None:
        """One core: decide, compute, tell; decisions are taken one at a time, descriptors are computed side by side."""
        episode, engine = self.episode, self.engine
        while True:
            with self._lock:
                began_s = self._now_s()
                episode.left_s = -1.0 if self.stopped() else left_s() / SLACK
                episode.pace = engine.costs.pace
                choice = self.policy(episode)
                if choice is None:
                    return
                planned_s = episode.cost_s(*choice)
                episode.start(choice)
            try:
                outcome = self.source(episode, choice)
            except DroppedError as error:
                self._drop(choice, str(error))
                continue
            except LateError:
                self._put_back(choice)
                return
            with self._lock:
                episode.receive(choice, outcome.said, outcome.spent_s)
                name = engine.classifiers.names[choice[1]]
                self.books.ledger.computed(name, planned_s, outcome.spent_s)
                self.trace.append(Step(*choice, began_s, outcome.spent_s))

    def _drop(self, choice: Choice, why: str) -> None:
        """Do without a descriptor from now on; the supervoxel is finished with what it has."""
        region, d = choice
        with self._lock:
            self.episode.state.counts[ENABLED] &= ~(1 << d)
            self.episode.give_up(region)
            self.books.ledger.note(f"{self.engine.classifiers.names[d]} {why}; dropped")

    def _put_back(self, choice: Choice) -> None:
        """There was no time to end what was begun; of its resources, those that were made are there."""
        cell = choice[0] * self.episode.world.n_descriptors + choice[1]
        world, cache = self.episode.world, self.live.cache
        with self._lock:
            for resource in world.needed[world.needs_first[cell] : world.needs_first[cell + 1]].tolist():
                self.episode.state.made[resource] = self._keys[resource] in cache
            self.episode.give_up(choice[0])

    def close(self, enough: Callable[[], bool] = lambda: False) -> float:
        """Labels of supervoxels from what is known now; the seconds it took."""
        before_s = self._now_s()
        self.closing(self.episode.state, self.source.inputs, self.books, enough)
        self.closings.append((len(self.trace), self.closing.n_moves))
        return self._now_s() - before_s

    def paint(self, out: UInt8) -> None:
        """Labels of all pixels, (T, H, W)."""
        if self.closing.labels is None:
            raise ValueError("close before you paint")
        with self.books.stage("pixels", float(out.size), self.engine.pixels_line):
            paint(self.closing.labels, self.scene.supervoxels.ids, out, self.engine.threads)

    def replay(self, trace: Sequence[Step], n_moves: int | None) -> None:
        """Compute what another run computed, in its order, and close as it did."""
        for step in trace:
            choice = step.region, step.descriptor
            self.episode.withdraw(step.region)
            outcome = self.source(self.episode, choice)
            self.episode.receive(choice, outcome.said, outcome.spent_s)
        asked = iter(range(1, 1 << 60))
        self.close(lambda: n_moves is not None and next(asked) >= n_moves)

    def closing_s(self) -> float:
        """Seconds that closing and painting would cost."""
        return self.closing.foretold_s(self.books) + self._paint_s()

    def full_s(self) -> float:
        """Seconds that all descriptors of the window would cost."""
        return self.episode.full_s * self.engine.costs.pace

    def known(self) -> Known:
        """What there is to go on from."""
        state = self.episode.state
        return Known(self.scene.supervoxels, state.subsets, state.said, self.source.inputs)

    def _now_s(self) -> float:
        return time.perf_counter() - self.started

    def _paint_s(self) -> float:
        return self.books.foretold_s(self.engine.pixels_line, float(self.frames[..., 0].size))

    def _margin_s(self, deadline_s: float) -> float:
        return MARGIN * deadline_s if deadline_s < np.inf else 0.0

    def _has_work(self) -> bool:
        """Whether any supervoxel lacks a descriptor; of one that was dropped, some may be there."""
        state = self.episode.state
        return bool((state.counts[ENABLED] & ~state.subsets).any())
