"""Flow and labels of a window before a time is over, and what they cost learned from it."""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from budgetseg.frames.brush import Again, Hurried
from budgetseg.frames.costs import PaintingCosts
from budgetseg.frames.crew import Crew
from budgetseg.frames.evidence import Ask, Evidence, Painting
from budgetseg.frames.plan import COPY
from budgetseg.types import UInt8

__all__ = ["SAFETY", "More", "Painter"]

SAFETY = 1.1
"""On what painting is foretold to cost."""


class More(NamedTuple):
    """Questions that may yet be asked.

    Attributes
    ----------
    asks : what is asked
    seconds : that must be left for them
    answer : asks them, and says whether the answers are there before a time; if so, they will be heard
    """

    asks: Sequence[Ask]
    seconds: float
    answer: Callable[[float], bool]


class Painter:
    """Makes labels of what is known of a window.

    Parameters
    ----------
    crew : threads that do
    evidence : what is known of it
    costs : of doing so
    now_s : seconds since the clock started
    """

    def __init__(self, crew: Crew, evidence: Evidence, costs: PaintingCosts, now_s: Callable[[], float]) -> None:
        self._crew, self._evidence, self._costs, self._now_s = crew, evidence, costs, now_s

    def find_flow(self, carry: str, end_s: float = math.inf) -> bool:
        """Whether there was time to find it."""
        pairs, started = self._evidence.flow_pairs(carry), self._now_s()
        if not pairs:
            return True
        rest_s = self._costs.paint_s(COPY, 1.0)
        n_done = self._crew.each(
            pairs, lambda pair: self._evidence.find_flow(pair, carry), lambda: self._now_s() < end_s - rest_s
        )
        if n_done:
            self._costs.found_flow(carry, n_done, self._now_s() - started)
        return n_done == len(pairs)

    def paint(
        self, carry: str, network: str, end_s: float, sure: UInt8, out: UInt8
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Write labels to `out` (T, H, W), and how sure they are to `sure` (T, h, w); frames late, and along edges.

        Late are those after `end_s`, which get the labels of others, unless they have some; where labels are copied,
        those of a `network`.
        """
        started, costs, evidence, threads = self._now_s(), self._costs, self._evidence, self._crew.threads
        n_keys, n_all = len(evidence.answers[network]), evidence.n_frames
        n = n_keys if carry == COPY else n_all  # the others are copied
        painting_s = costs.paint_s(carry, n_all / n_keys) - costs.copy_s(n_all - n)
        of_thread = threads * painting_s / n, threads * costs.plain_s, threads * costs.sharp_s
        brush = Hurried(sure, self._now_s, end_s, n, n_all - n, threads, *of_thread, costs.copy_s(1))
        late = evidence.paint(self._crew, carry, network, out, brush)
        (n_copied, copying_s), again = evidence.copied, evidence.again
        at_once = [seconds for t, seconds in brush.sharp.items() if t not in again]
        plainly_s = self._now_s() - started - sum(at_once) / threads - copying_s - evidence.again_s
        costs.painted(carry, n_keys, len(late), len(at_once), plainly_s)
        costs.copied(n_copied, copying_s)
        costs.sharpened(len(brush.sharp), sum(brush.sharp.values()) / threads)
        return late, tuple(sorted(brush.sharp))

    def paint_plainly(self, carry: str, network: str, sure: UInt8, out: UInt8) -> None:
        """The same, however long it takes, and no frame along its edges: so it shows what that alone takes."""
        started, evidence = self._now_s(), self._evidence
        evidence.paint(self._crew, carry, network, out, Again(sure, (), ()))
        plainly_s = self._now_s() - started - evidence.copied[1]
        self._costs.painted(carry, len(evidence.answers[network]), 0, 0, plainly_s)

    def ask_and_paint(self, painting: Painting, more: More, end_s: float, sure: UInt8, out: UInt8) -> bool:
        """Whether there was time for more questions, and to paint whoever hears the answers as it was before."""
        hearers = self._evidence.hearers(more.asks)
        until_s = end_s - SAFETY * self._costs.again_s(painting, hearers)
        if self._now_s() + more.seconds > until_s or not more.answer(until_s):
            return False
        started = self._now_s()
        self.paint_some(painting, hearers, sure, out)
        self._costs.painted_again(painting, hearers, self._now_s() - started)
        return True

    def paint_some(self, painting: Painting, frames: Sequence[int], sure: UInt8, out: UInt8) -> None:
        """Write labels of some frames to `out` once more."""
        self._evidence.paint_some(self._crew, painting.carry, frames, out, Again(sure, (), set(painting.sharp)))
