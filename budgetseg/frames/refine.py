"""Labels of supervoxels, refined: what networks said of some frames is carried to all of them, pixel by pixel.

Supervoxels take part: what each of them is counts beside the network's answers, more where these come from afar.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

import numpy as np

from budgetseg.frames.apart import foretell_apart
from budgetseg.frames.brush import Again
from budgetseg.frames.costs import PaintingCosts
from budgetseg.frames.crew import Crew, one_thread_each
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.evidence import Ask, Evidence, Painting
from budgetseg.frames.heard import reach_at
from budgetseg.frames.order import fill
from budgetseg.frames.painter import More, Painter
from budgetseg.frames.plan import COARSE, COPY, FINE, carries_at, loss, recipes_for
from budgetseg.inference.ledger import Books
from budgetseg.inference.refining import Asking, Clock, Extent, Refined, Seen
from budgetseg.types import Float32, UInt8

__all__ = ["FrameRefiner"]

COUNTS = 0.03
"""What supervoxels count, where a key frame at a distance of d frames of usual video counts 1 / (d + 2)."""
MOST = {FINE: 0.3, COARSE: 0.6, COPY: 1.0}
"""Share of the time that is left which refining may take, by how labels are carried."""


@dataclass(frozen=True, eq=False)
class FrameRefiner:
    """Refines by the networks of an engine of frames.

    Attributes
    ----------
    engine : of frames
    least : rows and columns of a frame that its networks make full use of
    """

    engine: FrameEngine
    least: tuple[int, int]

    @property
    def networks(self) -> tuple[str, ...]:
        """Those whose answers are of use."""
        return tuple(self.engine.networks)

    def carries(self, apart: float) -> Mapping[str, float]:
        """As of `Refiner`."""
        return {carry: MOST[carry] for carry in carries_at(apart)}

    def foretell_apart(self, rate: float) -> float:
        """As of `Refiner`."""
        return foretell_apart(rate)

    def apart(self, books: Books, pictures: UInt8, stride: int, left_s: float) -> float | None:
        """As of `Refiner`."""
        evidence = Evidence(len(pictures) * stride, self.engine.cells)
        costs = PaintingCosts(books, evidence, pictures.shape[1:3], self.engine.threads)
        if not costs.may_look(left_s) or len(pictures) < 2:
            return None
        evidence.frames = dict(zip(range(0, evidence.n_frames, stride), pictures, strict=True))
        with one_thread_each(), Crew(self.engine.threads) as crew, costs.looking():
            evidence.look_apart(crew)
        return evidence.apart

    def worth(self, extent: Extent, carry: str, network: str) -> float:
        """As of `Refiner`: points of mean IoU, against an answer of the cheapest network about every frame."""
        skipped = extent.n_frames / max(extent.n_worked, 1) - 1
        lost = loss(extent.n_frames / max(extent.n_answers, 1.0) - 1, skipped, carry, extent.apart)
        return self._quality.get(network, 0.0) - lost

    @cached_property
    def _quality(self) -> Mapping[str, float]:
        """Points that networks are better than the cheapest, by what is known of them."""
        return {recipe.network: recipe.quality for recipe in recipes_for(self.networks) if recipe.views == 1}

    def seconds(self, books: Books, extent: Extent, carry: str) -> float:
        """As of `Refiner`."""
        evidence = Evidence(extent.n_frames, self.engine.cells, apart=extent.apart)
        costs = PaintingCosts(books, evidence, extent.size, self.engine.threads)
        n_seen = 0.0 if reach_at(extent.apart) else extent.n_answers + extent.n_beside
        n_told = max(extent.n_worked - n_seen, 0.0)
        painting_s = costs.paint_s(carry, extent.n_frames / max(extent.n_answers, 1.0), n_told, extent.n_beside)
        ready_s = books.foretold_s(self._line, extent.n_answers + extent.n_beside)
        return ready_s + costs.flow_s(carry, extent.n_worked - 1) + painting_s

    @property
    def _line(self) -> str:
        return f"frames answers {self.engine.threads}"

    def more(self, n_worked: int, asked: Sequence[int]) -> Sequence[int]:
        """As of `Refiner`."""
        return list(fill(range(n_worked), sorted(asked)))

    def refine(
        self, books: Books, seen: Seen, carry: str, clock: Clock, out: UInt8, askings: Sequence[Asking] = ()
    ) -> Refined | None:
        """As of `Refiner`."""
        with one_thread_each(), Crew(self.engine.threads) as crew:
            with books.stage("answers", sum(map(len, seen.answers.values())), self._line):
                evidence = self._evidence(crew, seen, carry, len(out))
            costs = PaintingCosts(books, evidence, out.shape[1:], self.engine.threads)
            painter = Painter(crew, evidence, costs, clock.now_s)
            if not evidence.answers:
                return None
            if not painter.find_flow(carry, clock.end_s):
                if clock.now_s() > clock.end_s:
                    return None
                carry, evidence.told, evidence.has_labels = COPY, None, False
            network = evidence.loudest
            late, sharp = painter.paint(carry, network, clock.end_s, self._sure(len(out)), out)
            painting = Painting(len(evidence.frames), len(evidence.asks), carry, network, late, sharp)
            # A network that has not spoken would change what all frames hear.
            for asking in askings if carry != COPY and not late else ():
                if asking.network in evidence.answers:
                    self._ask_on(crew, evidence, painter, painting, clock, asking, out)
        numbers = {name: sorted(t // seen.stride for t in own) for name, own in evidence.answers.items()}
        return Refined({name: tuple(own) for name, own in numbers.items()}, carry, late, sharp, seen.apart)

    def _ask_on(
        self,
        crew: Crew,
        evidence: Evidence,
        painter: Painter,
        painting: Painting,
        clock: Clock,
        asking: Asking,
        out: UInt8,
    ) -> None:
        """Where painting took less than was foretold: ask about more frames, and paint those again that hear of it."""
        worked, own, sure = sorted(evidence.frames), evidence.answers[asking.network], self._sure(len(out))
        stride = worked[1] if len(worked) > 1 else 1
        while some := [Ask(asking.network, t) for t in islice(fill(worked, sorted(own)), crew.threads)]:

            def answer(until_s: float, some: Sequence[Ask] = some) -> bool:
                found: dict[Ask, Float32 | None] = {}
                crew.each(some, lambda ask: found.update({ask: asking.ask(ask.frame // stride)}))
                said = {ask: one for ask, one in found.items() if one is not None}
                if len(said) < len(some) or clock.now_s() > until_s:  # nobody would hear of it
                    return False
                for ask, one in said.items():
                    evidence.add(ask, one * self.engine.scale)
                return True

            if not painter.ask_and_paint(painting, More(some, asking.seconds(), answer), clock.end_s, sure, out):
                return

    def again(self, seen: Seen, refined: Refined, out: UInt8) -> None:
        """As of `Refiner`."""
        seen = replace(seen, apart=refined.apart)
        with one_thread_each(), Crew(self.engine.threads) as crew:
            evidence = self._evidence(crew, seen, refined.carry, len(out))
            for pair in evidence.flow_pairs(refined.carry):
                evidence.find_flow(pair, refined.carry)
            brush = Again(self._sure(len(out)), refined.late, set(refined.sharp))
            evidence.paint(crew, refined.carry, evidence.loudest, out, brush)

    def _evidence(self, crew: Crew, seen: Seen, carry: str, n_frames: int) -> Evidence:
        evidence = Evidence(n_frames, self.engine.cells, apart=seen.apart)
        worked = range(0, n_frames, seen.stride)
        evidence.frames = dict(zip(worked, seen.pictures, strict=False))  # the video may end before the last
        if carry != COPY:  # what is copied, is copied as it is
            evidence.told, evidence.has_labels = _Supervoxels(seen, self.engine.cells), not seen.rough
        asked = [(name, k) for name, own in seen.answers.items() for k in own if k * seen.stride in evidence.frames]
        evidence.answers = {
            name: {} for name, own in seen.answers.items() if own
        }  # their order must not be a matter of luck
        crew.each(asked, lambda one: self._add(evidence, seen, *one))
        evidence.answers = {name: own for name, own in evidence.answers.items() if own}
        return evidence

    def _add(self, evidence: Evidence, seen: Seen, network: str, k: int) -> None:
        """An answer, unless it is no number: a user's network may say anything."""
        said = seen.answers[network][k] * self.engine.scale
        if np.isfinite(said.sum()):
            evidence.add(Ask(network, k * seen.stride), said)

    def _sure(self, n_frames: int) -> UInt8:
        """Nobody asks how sure these labels are."""
        return np.zeros((n_frames, *self.engine.cells), np.uint8)


class _Supervoxels:
    """What supervoxels say of the frames that were worked on, in cells."""

    def __init__(self, seen: Seen, cells: tuple[int, int]) -> None:
        self._seen = seen
        sides = zip(cells, seen.ids.shape[1:], strict=True)
        self._places = np.ix_(*(((np.arange(n) + 0.5) * (side / n)).astype(np.int64) for n, side in sides))

    def __call__(self, t: int) -> tuple[Float32, float] | None:
        k, between = divmod(t, self._seen.stride)
        if between or k >= len(self._seen.ids):
            return None
        return self._seen.opinions[self._seen.ids[k][self._places]], COUNTS
