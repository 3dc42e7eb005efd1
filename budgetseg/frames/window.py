"""One window of a video under the clock.

plan ─► read ─► the first key frames ─► plan again ─► flow ─► more key frames, as many as fit ─► fuse and paint
             where time is left after all: yet another key frame ─► the frames around it once more ─► edges of others
"""

import logging
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import islice, product
from threading import get_ident

import numpy as np

from budgetseg.errors import VideoError
from budgetseg.frames.apart import foretell_apart
from budgetseg.frames.brush import Again
from budgetseg.frames.costs import WindowCosts
from budgetseg.frames.crew import Crew
from budgetseg.frames.engine import FrameEngine
from budgetseg.frames.evidence import Ask, Evidence, Painting
from budgetseg.frames.order import spread
from budgetseg.frames.painter import SAFETY, More, Painter
from budgetseg.frames.plan import COPY, Plan, Prices, Recipe, carries_at, choose
from budgetseg.frames.questions import Questions
from budgetseg.frames.reader import Reader
from budgetseg.frames.reading import Reading, Rest
from budgetseg.inference.ledger import Ledger
from budgetseg.inference.stages import DOUBT
from budgetseg.timing.deadline import LateError, cutting_off
from budgetseg.types import UInt8

__all__ = ["PRIOR", "WindowRun"]

_log = logging.getLogger(__name__)

MARGIN, MARGIN_S = 0.004, 0.001
"""Share of the budget, and seconds, that are left for what cannot be foretold."""
ALONE = 2.0
"""Times as long a frame takes by itself: the way from key frames to it is gone for it alone."""
KEPT = 0.5
"""Share of the frames for which time to follow edges is kept from questions; more are done if there is time."""
PRIOR = "prior"


class WindowRun:
    """A window whose labels get better as time is spent.

    Parameters
    ----------
    engine : labels it
    crew : threads that do
    reader : of the video
    span : numbers of its frames in the video
    size : rows and columns of a frame
    ledger : of the window
    now_s : seconds since the clock started

    Attributes
    ----------
    painter : finds flow and makes labels
    """

    def __init__(
        self,
        engine: FrameEngine,
        crew: Crew,
        reader: Reader,
        span: range,
        size: tuple[int, int],
        ledger: Ledger,
        now_s: Callable[[], float],
    ) -> None:
        self.engine, self.span, self.size = engine, span, size
        self.evidence = Evidence(len(span), engine.cells, apart=foretell_apart(reader.rate))
        self._has_looked = False
        self.paintings: list[Painting] = []
        self.sures: list[UInt8] = []  # (T, h, w), how sure the labels of each painting are at the cells
        self.ledger = ledger
        self.stopped: Callable[[], bool] = lambda: False
        self._costs = WindowCosts(engine, self.evidence, reader, size, ledger)
        self.painter = Painter(crew, self.evidence, self._costs, now_s)
        self._crew, self._reader, self._now_s = crew, reader, now_s
        parts = self.evidence, span, self._costs, ledger, engine.threads
        self._reading = Reading(reader, *parts, now_s, lambda: self.stopped())
        self._questions = Questions(engine, self.evidence)
        self._home = get_ident()

    @property
    def read(self) -> Sequence[int]:
        """Numbers in the window, in the order in which frames were read."""
        return self._reading.numbers

    # Planning

    def plan(self, left_s: float, decoding: float = 1.0) -> Plan | None:
        """The best plan for so many seconds, if decoding costs so many times what is known of it; None for none."""
        recipes, strides = self._questions.recipes, self._reading.strides
        return choose(len(self.span), left_s, self._prices(decoding), recipes, strides, self.evidence.apart)

    def full_s(self) -> float:
        """Seconds that everything would cost."""
        prices, best = self._prices(), self._questions.recipes[-1]
        n = len(self.span)
        each_s = best.views * prices.ask_s[best.network] + prices.sharp_s
        carry = COPY if self._reading.is_sparse else carries_at(self.evidence.apart)[0]
        return prices.base_s(1, carry) + prices.paint_s(carry, 1.0) + n * each_s

    def _prices(self, decoding: float = 1.0) -> Prices:
        asked = {recipe: self._n_answered(recipe) for recipe in self._questions.recipes}
        return Prices(
            partial(self._base_s, decoding=decoding),
            lambda carry, k: SAFETY * self._costs.paint_s(carry, k),
            self._costs.sharp_s,
            self._ask_s(),
            {(recipe.network, recipe.views): n for recipe, n in asked.items() if n},
        )

    def _ask_s(self) -> dict[str, float]:
        """For a question to each network."""
        return {recipe.network: self._costs.ask_s(recipe.network) for recipe in self._questions.recipes}

    def _n_answered(self, recipe: Recipe) -> int:
        answers = self.evidence.answers.get(recipe.network, {}).values()
        return sum(answer.views >= recipe.views for answer in answers)

    def _base_s(self, stride: int, carry: str, decoding: float) -> float:
        reading = self._reading
        if carry != COPY and reading.is_sparse:
            return math.inf
        is_as_read = reading.is_done or stride == reading.stride
        n_pairs = len(self.evidence.flow_pairs(carry)) if is_as_read else -(-len(self.span) // stride) - 1
        return decoding * reading.seconds(stride) + self._costs.flow_s(carry, n_pairs)

    # Doing

    def label(self, deadline_s: float, budget_s: float, out: UInt8, rest: Rest | None = None) -> bool:
        """Spend until shortly before the deadline, and write labels to `out` (T, H, W); False where all was done.

        The deadline is in seconds since the clock started; `budget_s` is what the window has of it. Where there is no
        time to decode all of a file, frames that need others are left out for good, in all that is the `rest`.
        """
        margin_s = 0.0 if budget_s == math.inf else MARGIN * budget_s + MARGIN_S
        end_s = deadline_s - margin_s
        rest = None if rest is None else rest._replace(deadline_s=rest.deadline_s - margin_s)
        self._reading.is_done = False
        plan = self.plan(end_s - self._now_s())
        if plan is None:  # decoding may be quicker than is known, and of a file less of it may do
            plan = self.plan(end_s - self._now_s(), decoding=1 / DOUBT if self._reader.can_skip else 0.0)
        if plan is not None:
            least_s = SAFETY * self._costs.paint_s(COPY, float(len(self.span)))
            least_s += self.engine.threads * min(self._ask_s().values())
            end_s = self._reading.read(plan.stride, end_s, least_s, rest)
            if self._look(end_s):
                end_s = self._read_more(end_s, least_s, rest)
            plan = self._begin(end_s)
        self._say_plan(plan)
        if plan is None:
            self._paint_prior(out)
            return True
        work_left = self._spend(self._queue(plan, end_s), lambda: self._until_s(plan, end_s) - self._now_s())
        self._close(plan, end_s, out)
        if work_left:
            self._ask_on(plan, end_s, out)
        self.ledger.next_s = self._questions.next_s(plan, self._costs.call_s) if work_left else 0.0
        return work_left or self._reader.alone is not None

    def _say_plan(self, plan: Plan | None) -> None:
        where = f"frames {self.span.start} to {self.span.stop - 1}, after {self._now_s():.3f} s"
        if plan is None:
            _log.info("%s: no plan fits, they get the most frequent class", where)
            return
        asked = f"{plan.recipe.network} on {plan.n_keys} key frames"
        _log.info("%s: one in %d read, %s, labels carried: %s", where, plan.stride, asked, plan.carry)

    def recall(self, read: Sequence[int], asks: Sequence[Ask]) -> None:
        """Read frames and ask questions again, those that are not there yet."""
        self._reading.again(read)
        known = set(self.evidence.asks)
        self._crew.each(self._questions.issue(ask for ask in asks if ask not in known), self._answer)
        self.evidence.asks[len(known) :] = [ask for ask in asks if ask not in known]

    def replay(
        self, read: Sequence[int], asks: Sequence[Ask], paintings: Sequence[Painting], outs: Sequence[UInt8]
    ) -> None:
        """Do again what was done, and write the labels of each painting to one of `outs` (T, H, W)."""
        for painting, out in zip(paintings, outs, strict=True):
            self.recall(read[: painting.n_read], asks[: painting.n_asks])
            self.evidence.apart = painting.apart
            if painting.carry == PRIOR:
                self._paint_prior(out)
                continue
            self.painter.find_flow(painting.carry)
            self.paint_again(painting, out)

    def ask_all(self, asks: Iterable[Ask], until_s: float = math.inf) -> None:
        """Ask, and learn what it costs; who has not answered by then is not waited for."""
        self._spend(self._questions.issue(asks), lambda: until_s - self._now_s())

    def _begin(self, end_s: float) -> Plan | None:
        """The first key frames, and flow; the plan after that, None where no network has anything to say."""
        if self._reader.n_decoded == 0:
            raise VideoError("the video gives no frame; check the file")
        if not self.evidence.answers and self.evidence.frames:
            self._ask_first(end_s)
        if not self.evidence.answers:
            return None
        plan = self.plan(end_s - self._now_s()) or self._least()
        if not self.painter.find_flow(plan.carry, end_s):
            plan = replace(plan, carry=COPY)
        return plan

    def _look(self, end_s: float) -> bool:
        """Look how far apart frames lie, once, if there is time; whether that is farther than was thought."""
        if self._has_looked or len(self.evidence.frames) < 2 or not self._costs.may_look(end_s - self._now_s()):
            return False
        before, self._has_looked = self.evidence.apart, True
        with self._costs.looking():
            self.evidence.look_apart(self._crew)
        return self.evidence.apart > before

    def _read_more(self, end_s: float, least_s: float, rest: Rest | None) -> float:
        """Frames that were left out since they were thought to be alike; when labels must be there."""
        self._reading.is_done = not self._reader.can_skip or self._reader.alone is not None
        plan = self.plan(end_s - self._now_s())
        if plan is not None and plan.stride < self._reading.stride:
            end_s = self._reading.read(plan.stride, end_s, least_s, rest)
        self._reading.is_done = True
        return end_s

    def _ask_first(self, end_s: float) -> None:
        """By the plan, a question for each thread; one to the cheapest network, where no plan fits any more."""
        plan, decoded = self.plan(end_s - self._now_s()), self.evidence.decoded
        if plan is not None:
            network, keys = plan.recipe.network, self._questions.keys(plan)[: self.engine.threads]
        else:
            network, keys = self._questions.recipes[0].network, decoded[len(decoded) // 2 :][:1]
        asks = (Ask(network, key) for key in keys)
        self.ask_all(asks, end_s - self._costs.paint_s(COPY, float(len(self.span))))

    def _least(self) -> Plan:
        """What is always possible with what there is: labels of the network that has spoken most are copied."""
        name = self.evidence.loudest
        recipe = next(recipe for recipe in self.engine.recipes if recipe.network == name)
        return Plan(recipe, len(self.evidence.answers[name]), self._reading.stride, COPY, False, 0.0, 0.0)

    def _spend(self, asks: Iterator[Ask], left_s: Callable[[], float]) -> bool:
        """Ask as long as there are questions; whether there was one that did not fit, or nobody wanted to wait for.

        Those that are not answered when no seconds are left are cut off.
        """
        started, before, planned_s = self._now_s(), self._costs.n_answered(), self._ask_s()
        self._work_left = False
        with cutting_off(list(self.engine.networks.values()), left_s):
            self._crew.each(asks, self._ask)
        self._costs.asked(before, planned_s, self._now_s() - started)
        return self._work_left

    def _answer(self, ask: Ask) -> None:
        said = self.engine.ask(ask.network, self.evidence.frames[ask.frame], ask.mirrored)
        self.evidence.add(ask, said)

    def _ask(self, ask: Ask) -> None:
        started = self._now_s()
        try:
            self._answer(ask)
        except LateError:
            self._questions.take_back(ask)  # another budget may have time for it
            self._work_left = True
            self._costs.cut_off(ask.network, self._now_s() - started)
            return
        except Exception as error:  # a user's network may raise anything, and the run must go on
            self._questions.drop(ask.network)
            self.ledger.note(f"{ask.network} failed ({type(error).__name__}: {error}); dropped")
            return
        self._costs.answered(ask.network, self._now_s() - started)
        if get_ident() == self._home:
            self.engine.stages.contention.look()

    def _queue(self, plan: Plan, end_s: float) -> Iterator[Ask]:
        """Questions in the order of their worth; where one does not fit, a smaller one that does."""
        questions = self._questions
        wanted, smaller = questions.worthy(plan), questions.small_change(plan)
        for ask in wanted:
            while not self.stopped() and not self._fits(ask, plan, end_s):
                self._work_left = True
                other = next(smaller, None)
                if other is None or not self._fits(other, plan, end_s):
                    return
                yield from questions.issue([other])
            if self.stopped():
                self._work_left = True
                return
            if questions.may_ask(ask.network):
                yield from questions.issue([ask])

    def _fits(self, ask: Ask, plan: Plan, end_s: float) -> bool:
        sharp_s = KEPT * plan.sharp * len(self.evidence.frames) * self._costs.sharp_s
        return self._now_s() + self._costs.call_s(ask.network) + sharp_s <= self._until_s(plan, end_s)

    def _until_s(self, plan: Plan, end_s: float) -> float:
        """When to begin with painting, so that it ends in time."""
        n_keys = max(self.evidence.n_answers(), default=1)
        return end_s - SAFETY * self._costs.paint_s(plan.carry, len(self.span) / n_keys)

    def _close(self, plan: Plan, end_s: float, out: UInt8) -> None:
        """Carry, fuse, paint, until it is time to copy."""
        network = self.evidence.loudest
        self.paint(Painting(len(self.read), len(self.evidence.asks), plan.carry, network), end_s, out)

    def _ask_on(self, plan: Plan, end_s: float, out: UInt8) -> None:
        """Where painting took less than was foretold: more questions, and who hears the answers is painted again.

        As many at a time as there are threads, then one, then smaller ones; at last edges of frames. Only networks that
        have spoken are asked: another one would change what all frames hear. Answers that come too late are of use to a
        larger budget.
        """
        if self.paintings[-1].carry == COPY or self.paintings[-1].late:
            return
        spoken = {name for name in self.evidence.answers if self._questions.may_ask(name)}
        for questions, n in product((self._questions.worthy, self._questions.small_change), (self.engine.threads, 1)):
            if len(self.evidence.asks) > self.paintings[-1].n_asks:
                return  # an answer came too late: nobody has heard it, and a replay must know of none after it
            wanted = (ask for ask in questions(plan) if ask.network in spoken)
            while not self.stopped() and (some := list(islice(wanted, n))) and self._ask_and_paint(some, end_s, out):
                pass
        if len(self.evidence.asks) == self.paintings[-1].n_asks:
            self._sharpen_on(end_s, out)

    def _sharpen_on(self, end_s: float, out: UInt8) -> None:
        """Where no question fits any more: frames that were painted plainly once more, along their edges."""
        painting, threads, took_s = self.paintings[-1], self.engine.threads, 0.0
        left = self.evidence.frames.keys() - {*painting.sharp}
        plain = [t for t in spread(len(self.span)) if t in left]
        while not self.stopped() and (some := plain[:threads]):
            painting = replace(painting, sharp=tuple(sorted({*painting.sharp, *some})))
            if self._now_s() + SAFETY * max(ALONE * self._costs.again_s(painting, some), took_s) > end_s:
                return
            started, plain = self._now_s(), plain[threads:]
            self.painter.paint_some(painting, some, self.sures[-1], out)
            self.paintings[-1], took_s = painting, self._now_s() - started
            self._costs.painted_again(painting, some, took_s)

    def _ask_and_paint(self, some: Sequence[Ask], end_s: float, out: UInt8) -> bool:
        """Whether there was time for some more questions, and for who hears the answers."""
        painting, call_s = self.paintings[-1], max(self._costs.call_s(ask.network) for ask in some)

        def answer(until_s: float) -> bool:
            self.ask_all(some, until_s)
            return self._now_s() <= until_s

        if not self.painter.ask_and_paint(painting, More(some, call_s, answer), end_s, self.sures[-1], out):
            return False
        self.paintings[-1] = replace(painting, n_asks=len(self.evidence.asks))
        return True

    def paint(self, painting: Painting, end_s: float, out: UInt8) -> None:
        """Write labels to `out` in a way; frames after `end_s` are copied."""
        late, sharp = self.painter.paint(painting.carry, painting.network, end_s, self._new_sure(), out)
        self.paintings.append(replace(painting, late=late, sharp=sharp, apart=self.evidence.apart))

    def paint_again(self, painting: Painting, out: UInt8) -> None:
        """Write labels to `out` as it was done before."""
        brush = Again(self._new_sure(), painting.late, set(painting.sharp))
        self.evidence.paint(self._crew, painting.carry, painting.network, out, brush)
        self.paintings.append(painting)

    def _new_sure(self) -> UInt8:
        self.sures.append(np.zeros((len(self.span), *self.engine.cells), np.uint8))
        return self.sures[-1]

    def _paint_prior(self, out: UInt8) -> None:
        """The most frequent class everywhere."""
        out[:] = int(np.argmax(self.engine.prior))
        self._new_sure()[:] = int(255 * self.engine.prior.max())
        self.paintings.append(Painting(len(self.read), len(self.evidence.asks), PRIOR, ""))
        self.ledger.note("the budget is short: prior")
