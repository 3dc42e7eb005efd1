"""The labels of a window refined pixel by pixel, where there is somebody who knows how to, and time for it."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from budgetseg.descriptors.late import cutting_off
from budgetseg.descriptors.pointers import FrameArray
from budgetseg.inference.ledger import Entry
from budgetseg.inference.refining import Answers, Asking, Clock, Extent, Refined, Refiner, Seen
from budgetseg.inference.window import SAFETY, SLACK, WindowRun
from budgetseg.types import Float32, UInt8

__all__ = ["Pixels"]

MARGIN, MARGIN_S = 0.004, 0.001
"""Share of the budget, and seconds, that are left for what cannot be foretold."""
HALF = 0.5
"""Of the time that is left when networks are asked, at most: the rest is for what they said."""
LEAST = 4
"""Frames that networks must have time to be asked about: a supervoxel looks at three."""
TURNS_S, MOST_TURNS = 0.012, 0.006
"""Seconds more where others always have the core first, a turn or two of theirs, and the share that this may be."""


class Pixels:
    """Refines the labels of a window.

    Parameters
    ----------
    run : the window, whose supervoxels have labels when it comes to this
    stride : every so many frames of the video one is worked on
    size : rows and columns of a frame of the video
    """

    def __init__(self, run: WindowRun, stride: int, size: tuple[int, int]) -> None:
        self._run, self._stride, self._size = run, stride, size
        self._refiner = run.engine.refiner
        self._carry: str | None = None
        own = [one for one in run.engine.descriptors if self._refiner and one.name in self._refiner.networks]
        self._kinds = {one.name: one.resources[0].kind for one in own}

    def plan(self, left_s: float) -> None:
        """Whether it is worth it where so many seconds are left, and how."""
        self._carry = None
        if self._refiner is not None and self._kinds:
            self._carry = self._refiner.choose(self._run.books, self._extent(self._n_answers(HALF * left_s)), left_s)
            if self._n_answers(left_s - SAFETY * self.seconds()) < min(LEAST, len(self._run.frames)):
                self._carry = None

    def seconds(self, more_s: float = 0.0) -> float:
        """What it costs by the answers that there will be when so many seconds are over, and one more a thread."""
        if self._refiner is None or self._carry is None:
            return 0.0
        extent = self._extent(self._n_answers(more_s) + self._run.engine.threads)
        return self._refiner.seconds(self._run.books, extent, self._carry)

    def refine(
        self, deadline_s: float, now_s: Callable[[], float], out: UInt8, is_all_computed: bool = False
    ) -> Refined | None:
        """Write better labels to `out` (T, H, W) before the deadline; None where that cannot be.

        Where there is nothing left to compute, networks are asked about more frames first.
        """
        if self._refiner is None or self._carry is None or self._run.stopped():
            return None
        clock, asking = Clock(now_s, deadline_s - self._margin_s(deadline_s)), self._asking()
        with cutting_off(list(self._run.live.resources.values()), lambda: clock.end_s - now_s()):
            if is_all_computed:
                self._ask_on(self._refiner, asking, lambda: clock.end_s - SAFETY * self.seconds() - now_s())
            return self._refiner.refine(self._run.books, self.seen(), self._carry, clock, out, asking)

    def _asking(self) -> Asking:
        """Who asks the cheapest network."""
        live, costs = self._run.live, self._run.engine.costs
        name, kind = min(self._kinds.items(), key=lambda own: costs.predict(own[1], 1.0))

        def ask(k: int) -> Float32 | None:
            try:
                value = live.cache.get((kind, k), lambda: live.resources[kind].make(live.scene, k, []))
            except Exception:  # cut off, or a user's network that raises: what it said before will do
                return None
            is_sound = isinstance(value, FrameArray) and np.isfinite(value.array.sum())
            return value.array if is_sound else None  # type: ignore[attr-defined]

        return Asking(name, ask, lambda: SLACK * costs.predict(kind, 1.0))

    def _ask_on(self, refiner: Refiner, asking: Asking, left_s: Callable[[], float]) -> None:
        """Ask about frames that a network was not asked about, as long as there is time."""
        run, kind = self._run, self._kinds[asking.network]
        n, threads, n_asked, began = len(run.frames), run.engine.threads, 0, time.perf_counter()
        todo = iter(refiner.more(n, [k for k in range(n) if (kind, k) in run.live.cache]))
        planned_s = asking.seconds() / SLACK

        def ask(_: int) -> None:
            nonlocal n_asked
            while left_s() > asking.seconds() and (k := next(todo, None)) is not None:
                if asking.ask(k) is None:
                    return
                n_asked += 1

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(ask, range(threads)))
        if n_asked:
            entry = run.books.ledger.stages.setdefault("networks", Entry())
            entry.add(n_asked * planned_s / threads, time.perf_counter() - began)

    def again(self, refined: Refined, out: UInt8) -> None:
        """As it was done before."""
        if self._refiner is not None:
            self.ask(refined.answers)
            self._refiner.again(self.seen(refined.answers), refined, out)

    def seen(self, only: Answers | None = None) -> Seen:
        """What is known; of the answers of networks those that are there, or `only` some of them."""
        closed, run, answers = self._run.closed, self._run, {}
        for name, kind in self._kinds.items():
            numbers = range(len(run.frames)) if only is None else only.get(name, ())
            values = zip(numbers, run.live.cache.peek([(kind, k) for k in numbers]), strict=True)
            answers[name] = {k: value.array for k, value in values if isinstance(value, FrameArray)}
        certain = np.eye(closed.probabilities.shape[1], dtype=np.float32)[closed.labels]
        opinions = np.float32(0.5) * (closed.probabilities + certain)
        return Seen(self._stride, run.pictures, answers, run.scene.supervoxels.ids, opinions)

    def ask(self, answers: Answers) -> None:
        """Ask networks about frames, where they were not asked yet."""
        live, scene = self._run.live, self._run.scene
        for name, kind in self._kinds.items():
            resource = live.resources[kind]
            for k in answers.get(name, ()):
                live.cache.get((kind, k), lambda k=k, own=resource: own.make(scene, k, []))  # type: ignore[misc]

    def ask_again(self, answers: Answers) -> float:
        """What an earlier run had asked; the seconds that it took."""
        if not any(answers.values()):
            return 0.0
        began = time.perf_counter()
        self.ask(answers)
        again_s = time.perf_counter() - began
        note = f"what networks had been asked was asked again, in {again_s:.3g} s beside the budget"
        self._run.books.ledger.note(note)
        return again_s

    def _margin_s(self, deadline_s: float) -> float:
        if deadline_s == np.inf:
            return 0.0
        turns_s = self._run.engine.stages.contention.waiting * TURNS_S
        return MARGIN * deadline_s + MARGIN_S + min(turns_s, MOST_TURNS * deadline_s)

    def _extent(self, n_answers: float) -> Extent:
        n_worked = len(self._run.frames)
        return Extent(n_worked * self._stride, n_worked, self._size, n_answers)

    def _n_answers(self, left_s: float) -> float:
        """About how many frames networks will have been asked about when so many seconds are over."""
        run, n = self._run, len(self._run.frames)
        there = max(sum((kind, k) in run.live.cache for k in range(n)) for kind in self._kinds.values())
        each_s = min(run.engine.costs.predict(kind, 1.0) for kind in self._kinds.values())
        return min(float(n), there + run.engine.threads * max(left_s, 0.0) / max(each_s, 1e-9))
