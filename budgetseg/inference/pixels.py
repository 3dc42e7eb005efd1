"""The labels of a window refined pixel by pixel, where there is somebody who knows how to, and time for it."""

from collections.abc import Callable

import numpy as np

from budgetseg.descriptors.pointers import FrameArray
from budgetseg.inference.refining import Answers, Extent, Refined, Seen
from budgetseg.inference.window import WindowRun
from budgetseg.types import UInt8

__all__ = ["Pixels"]

MARGIN, MARGIN_S = 0.004, 0.001
"""Share of the budget, and seconds, that are left for what cannot be foretold."""


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
        self._refiner, self._carry = run.engine.refiner, ""
        own = [one for one in run.engine.descriptors if self._refiner and one.name in self._refiner.networks]
        self._kinds = {one.name: one.resources[0].kind for one in own}

    def plan(self, left_s: float) -> float:
        """Seconds to keep for it of those that are left; 0 where it is not worth it."""
        self._carry = ""
        if self._refiner is None or not self._kinds:
            return 0.0
        n_worked = len(self._run.frames)
        extent = Extent(n_worked * self._stride, n_worked, self._size, self._n_answers(left_s))
        chosen = self._refiner.choose(self._run.books, extent, left_s)
        if chosen is None:
            return 0.0
        self._carry, seconds = chosen
        return seconds

    def refine(self, deadline_s: float, after_s: float, now_s: Callable[[], float], out: UInt8) -> Refined | None:
        """Write better labels to `out` (T, H, W), `after_s` before the deadline, if that was planned and is possible."""
        if self._refiner is None or not self._carry or self._run.stopped():
            return None
        margin_s = 0.0 if deadline_s == np.inf else MARGIN * deadline_s + MARGIN_S
        end_s = deadline_s - after_s - margin_s
        return self._refiner.refine(self._run.books, self.seen(), self._carry, end_s, now_s, out)

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

    def _n_answers(self, left_s: float) -> float:
        """About how many frames networks will have been asked about when so many seconds are over."""
        run, n = self._run, len(self._run.frames)
        there = max(sum((kind, k) in run.live.cache for k in range(n)) for kind in self._kinds.values())
        each_s = min(run.engine.costs.predict(kind, 1.0) for kind in self._kinds.values())
        return min(float(n), there + run.engine.threads * left_s / max(each_s, 1e-9))
