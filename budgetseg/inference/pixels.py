"""The labels of a window refined pixel by pixel, where there is somebody who knows how to, and time for it."""

import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from threading import Lock

import numpy as np

from budgetseg.descriptors.late import cutting_off
from budgetseg.descriptors.pointers import FrameArray
from budgetseg.inference.ledger import Entry
from budgetseg.inference.prospect import LEAST, Outlook, Prospect
from budgetseg.inference.refining import Answers, Asking, Clock, Refined, Refiner, Seen
from budgetseg.inference.window import SAFETY, SLACK, WindowRun
from budgetseg.types import Float32, UInt8

__all__ = ["Pixels"]

MARGIN, MARGIN_S = 0.004, 0.001
"""Share of the budget, and seconds, that are left for what cannot be foretold."""
OFTEN_S = 0.002
"""How long what it costs is told again before it is found out anew."""
TURNS_S, MOST_TURNS = 0.012, 0.006
"""Seconds more where others always have the core first, a turn or two of theirs, and the share that this may be."""


class Pixels:
    """Refines the labels of a window.

    Parameters
    ----------
    run : the window, whose supervoxels have labels when it comes to this
    stride : every so many frames of the video one is worked on
    size : rows and columns of a frame of the video
    apart : how far frames of the video lie from each other, in frames of usual video, as far as is known before it is
        looked at them
    """

    def __init__(self, run: WindowRun, stride: int, size: tuple[int, int], apart: float = 1.0) -> None:
        self._run, self._stride = run, stride
        self._refiner = run.engine.refiner
        self._way: Outlook | None = None
        self._told = -np.inf, 0.0  # when it was last told what this costs, and what
        n_worked = len(run.frames)
        self._prospect = Prospect(run.engine, run.books, n_worked * stride, n_worked, size, apart)
        self._kinds, self._has_looked = self._prospect.kinds, False

    def plan(self, left_s: float, least: int = LEAST) -> None:
        """Whether it is worth it where so many seconds are left, how, and by which network."""
        run, began = self._run, time.perf_counter()
        if self._refiner is not None and not self._has_looked:
            apart = self._refiner.apart(run.books, run.pictures, self._stride, left_s)
            if apart is not None:
                self._prospect, self._has_looked = replace(self._prospect, apart=apart), True
        left_s -= time.perf_counter() - began
        self._way = self._prospect.best(left_s, self._n_there(), least, run.network if run.has_begun else None)
        self._told = -np.inf, 0.0

    @property
    def network(self) -> str | None:
        """That is to be asked; None where labels will not be refined."""
        return None if self._way is None else self._way.network

    def seconds(self, more_s: float = 0.0) -> float:
        """What it costs by the answers that there will be when so many seconds are over, and one more a thread.

        It is asked before every decision, and the answer is told again for a while.
        """
        if self._way is None:
            return 0.0
        now, (then, told_s) = time.perf_counter(), self._told
        if more_s == 0 and now < then + OFTEN_S:
            return told_s
        there = self._n_there()
        is_possible = any(there.values()) or self._run.may_compute(self._kinds)
        seconds = self._prospect.seconds(self._way.network, self._way.carry, there, more_s) if is_possible else 0.0
        self._told = (now, seconds) if more_s == 0 else self._told
        return seconds

    @property
    def may_ask(self) -> bool:
        """Whether labels will be refined, and there are frames left that a network can be asked about for it."""
        if self._way is None:
            return False
        n, there = len(self._run.frames), self._n_there()
        return any(there[name] < n for name in self._in_turn(self._way.network))

    def refine(self, deadline_s: float, now_s: Callable[[], float], out: UInt8) -> Refined | None:
        """Write better labels to `out` (T, H, W) before the deadline; None where that cannot be.

        Networks are asked about more frames first, where there is time: nothing was left to compute for supervoxels, or
        nothing that fits, since most look at three frames each. A dearer one is where the one that was planned has said
        all that it can, a cheaper one where what is left is too short for that.
        """
        if self._refiner is None or self._way is None or self._run.stopped():
            return None
        clock, askings = Clock(now_s, deadline_s - self._margin_s(deadline_s)), self._askings()
        if not any(self._n_there().values()):
            self.plan(clock.end_s - now_s(), 1)  # as was planned at first it may not be possible any more
        if self._way is None:
            return None
        way, resources = self._way, list(self._run.live.resources.values())

        def left_s() -> float:
            there = self._n_there()
            return clock.end_s - SAFETY * self._prospect.seconds(way.network, way.carry, there) - now_s()

        with cutting_off(resources, left_s):
            for name in self._in_turn(way.network):
                self._ask_on(self._refiner, askings[name], left_s)
            if self._n_there()[way.network] < len(self._run.frames):  # there is no time for it, or it says nothing
                for name in reversed(list(askings)[: list(askings).index(way.network)]):
                    self._ask_on(self._refiner, askings[name], left_s)
        # Where everything was said, and time is left, answers need not be copied.
        self._way = way = self._prospect.best_now(way, self._n_there(), clock.end_s - now_s())
        with cutting_off(resources, lambda: clock.end_s - now_s()):
            return self._refiner.refine(self._run.books, self.seen(), way.carry, clock, out, list(askings.values()))

    def _askings(self) -> dict[str, Asking]:
        """Who asks networks, by their names, the cheapest first."""
        return {name: self._asking(name, kind) for name, kind in self._by_cost()}

    def _in_turn(self, network: str) -> list[str]:
        """Networks that are asked where it is planned to ask one: that, and when it has said all, dearer ones."""
        names = [name for name, _ in self._by_cost()]
        return names[names.index(network) :]

    def _by_cost(self) -> list[tuple[str, str]]:
        """Networks and the resources that they make, the cheapest first."""
        costs = self._run.engine.costs
        return sorted(self._kinds.items(), key=lambda own: costs.predict(own[1], 1.0))

    def _asking(self, name: str, kind: str) -> Asking:
        run, live, costs, lock = self._run, self._run.live, self._run.engine.costs, Lock()

        def ask(k: int) -> Float32 | None:
            began, planned_s = time.perf_counter(), costs.predict(kind, 1.0)
            try:
                if run.stopped() or not live.make_ahead((kind, k)):
                    return None
            except Exception:  # cut off, or a user's network that raises: what it said before will do
                return None
            with lock:
                entry = run.books.ledger.stages.setdefault("networks", Entry())
                threads = run.engine.threads
                entry.add(planned_s / threads, (time.perf_counter() - began) / threads)
            (value,) = live.cache.peek([(kind, k)])
            return value.array if isinstance(value, FrameArray) and np.isfinite(value.array.sum()) else None

        return Asking(name, ask, lambda: SLACK * costs.predict(kind, 1.0))

    def _ask_on(self, refiner: Refiner, asking: Asking, left_s: Callable[[], float]) -> None:
        """Ask about frames that a network was not asked about, as long as there is time."""
        n, kind, threads = len(self._run.frames), self._kinds[asking.network], self._run.engine.threads
        todo = iter(refiner.more(n, [k for k in range(n) if (kind, k) in self._run.live.cache]))

        def ask(_: int) -> None:
            while left_s() > asking.seconds() and (k := next(todo, None)) is not None and asking.ask(k) is not None:
                pass

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(ask, range(threads)))

    def again(self, refined: Refined, out: UInt8) -> None:
        """As it was done before."""
        if self._refiner is not None:
            self._refiner.again(self._seen(self._asked(refined.answers)), refined, out)

    def seen(self) -> Seen:
        """What is known."""
        run, answers = self._run, {}
        for name, kind in self._kinds.items():
            values = enumerate(run.live.cache.peek([(kind, k) for k in range(len(run.frames))]))
            answers[name] = {k: value.array for k, value in values if isinstance(value, FrameArray)}
        return self._seen(answers)

    def _seen(self, answers: Mapping[str, Mapping[int, Float32]]) -> Seen:
        closed, run = self._run.closed, self._run
        certain = np.eye(closed.probabilities.shape[1], dtype=np.float32)[closed.labels]
        opinions = np.float32(0.5) * (closed.probabilities + certain)
        ids, rough = run.scene.supervoxels.ids, run.engine.has_blocks
        return Seen(self._stride, run.pictures, answers, ids, opinions, rough, self._prospect.apart)

    def _asked(self, answers: Answers) -> dict[str, dict[int, Float32]]:
        """What networks say of frames; they are asked where they were not yet."""
        live, found = self._run.live, {}
        with ThreadPoolExecutor(self._run.engine.threads) as pool:
            for name, kind in self._kinds.items():

                def ask(k: int, kind: str = kind) -> Float32:
                    value = live.cache.get((kind, k), lambda: live.resources[kind].make(live.scene, k, []))
                    assert isinstance(value, FrameArray)
                    return value.array

                numbers = answers.get(name, ())
                found[name] = dict(zip(numbers, pool.map(ask, numbers), strict=True))
        return found

    def ask_again(self, answers: Answers) -> float:
        """What an earlier run had asked; the seconds that it took."""
        if not any(answers.values()):
            return 0.0
        began = time.perf_counter()
        self._asked(answers)
        again_s = time.perf_counter() - began
        note = f"what networks had been asked was asked again, in {again_s:.3g} s beside the budget"
        self._run.books.ledger.note(note)
        return again_s

    def _margin_s(self, deadline_s: float) -> float:
        if deadline_s == np.inf:
            return 0.0
        turns_s = self._run.engine.stages.contention.waiting * TURNS_S
        return MARGIN * deadline_s + MARGIN_S + min(turns_s, MOST_TURNS * deadline_s)

    def _n_there(self) -> dict[str, int]:
        """Frames that each network was asked about."""
        cache, n = self._run.live.cache, len(self._run.frames)
        return {name: sum((kind, k) in cache for k in range(n)) for name, kind in self._kinds.items()}
