"""What is known of one window of a video: frames, predictions about some, flow, and labels made of it."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetseg.engine.loop import LATE, Outcome
from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.engine.threads import for_each
from budgetseg.engine.trace import Finish, WindowTrace
from budgetseg.engine.window import Window
from budgetseg.propagate.cells import confidence_of, grey_cells, reduced, step_flow, top_classes
from budgetseg.propagate.fusion import neighbours
from budgetseg.propagate.gaps import change
from budgetseg.propagate.order import spread
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.spaces.frames.painter import Painter
from budgetseg.spaces.frames.plan import Options, choose
from budgetseg.spaces.frames.policy import EvenSpread
from budgetseg.timing.deadline import Cuttable, LateError
from budgetseg.timing.ledger import Account
from budgetseg.timing.margins import Margins
from budgetseg.types import Action, Batch, Float32, UInt8

if TYPE_CHECKING:
    from budgetseg.spaces.frames.space import Frames

__all__ = ["FrameState", "Prediction"]

_log = logging.getLogger(__name__)


@dataclass(frozen=True, eq=False)
class Prediction:
    """What a network predicts for a frame.

    Attributes
    ----------
    probabilities : (h, w, L), times the weights of the classes
    top : (h, w), the most probable classes
    confidence : (h, w), their share, 255 for all
    """

    probabilities: Float32
    top: UInt8
    confidence: UInt8

    @classmethod
    def of(cls, probabilities: Float32) -> "Prediction":
        """With its most probable classes."""
        return cls(probabilities, top_classes(probabilities), confidence_of(probabilities))


class FrameState:
    """A window whose labels get better as time is spent.

    Parameters
    ----------
    space : labels it
    window : which frames
    rate : of the video, frames a second
    plan : what is done
    account : clock, prices and ledger
    explain : whether to find out where labels come from

    Attributes
    ----------
    plan : what is done, now that frames were read
    frames : by number in the window, those that were read
    read : their numbers, in the order in which they were read
    predictions : of each network, by number of the frame
    gap : how far apart neighbouring frames lie, in frames of usual video
    threads : that work; one under a simulated clock
    """

    def __init__(
        self,
        space: "Frames",
        window: Window,
        rate: float,
        plan: Plan,
        account: Account,
        explain: bool = False,
    ) -> None:
        self.plan = plan
        self.frames: dict[int, UInt8] = {}
        self.read: list[int] = []
        self.predictions: list[dict[int, Prediction]] = [{} for _ in space.networks]
        self.gap = space.settings.gaps.by_rate(rate)
        self._space = space
        self._window = window
        self._account = account
        self._explain = explain
        self._began_s = account.clock.now_s()
        self._asked: list[set[int]] = [set() for _ in space.networks]
        self._dropped: set[int] = set()
        self._cut_off: set[int] = set()
        self._flows: dict[tuple[int, int], Float32] = {}
        self._small: dict[int, UInt8] = {}
        self._greys: dict[int, Float32] = {}
        self._has_looked = False
        self._fused: list[list[tuple[int, int]]] = []
        self._fused_at: tuple[int, float] | None = None
        self._policy = EvenSpread()
        # A simulated run is decided by one thread, so that it repeats.
        self.threads = 1 if account.clock.is_simulated else space.threads
        self._costs = space.costs(plan.size[0] * plan.size[1], self.threads)

    # What the policy asks

    @property
    def names(self) -> Sequence[str]:
        """Names of the networks, from the cheapest to the dearest."""
        return self._space.sources

    @property
    def margins(self) -> Margins:
        """What is kept back."""
        return self._space.margins

    @property
    def n_frames(self) -> int:
        """Frames of the window that there are."""
        there, span = self._window.reader.n_there, self._window.span
        return len(span) if there is None else min(max(there - span.start, 0), len(span))

    @property
    def n_predictions(self) -> int:
        """Predictions of all networks."""
        return sum(map(len, self.predictions))

    @property
    def n_under_way(self) -> int:
        """Actions that were begun, and have not come to an end."""
        return sum(map(len, self._asked)) - self.n_predictions

    def read_frames(self) -> list[int]:
        """Numbers of the frames that were read, rising."""
        return sorted(self.frames)

    def networks_left(self) -> list[int]:
        """Numbers of the networks that have not failed, from the cheapest to the dearest."""
        return [k for k in range(len(self.names)) if k not in self._dropped]

    def asked(self, network: int) -> set[int]:
        """Frames that a network has seen, or is looking at."""
        return set(self._asked[network])

    def may_do(self, action: Action) -> bool:
        """Whether an action was neither done nor given up."""
        return action.source not in self._dropped and action.place not in self._asked[action.source]

    def price_s(self, action: Action) -> float:
        """Predicted seconds of an action, on its thread."""
        return self._costs.network_s(self.names[action.source])

    def plan_keys(self, left_s: float) -> Plan:
        """The network and the number of key frames that promise most, where so many seconds are left to ask."""
        end_s = self.margins.finish * self.finish_s()
        options = replace(self._options(), strides=[self.plan.stride], carries=[self.plan.carry or COPY])
        plan = choose(options, left_s + end_s, self._costs, self._space.settings, self.margins)
        if plan is None:
            left = self.networks_left()
            plan = replace(self.plan, network=self.names[left[0]] if left else "", n_keys=1)
        self.plan = replace(self.plan, network=plan.network, n_keys=plan.n_keys, score=plan.score)
        _log.info("%s on %d key frames, %s", plan.network, plan.n_keys, plan.carry)
        return plan

    # Making ready

    def prepare(self, end_s: float, last_s: float) -> bool:
        """Read frames and find flow, with labels due at `end_s`; False where there is no time for any."""
        self._policy.begin()
        plan = self._choose(end_s, 1.0) or self._choose(end_s, 1 / self.margins.decode_doubt)
        is_hopeless = plan is None and self._choose(last_s, 1 / self.margins.decode_doubt) is None
        if is_hopeless and self._leave_out(range(len(self._window.span)), last_s):
            plan = self._choose(end_s, 1.0)
        stride = self._longest_stride() if plan is None else plan.stride
        self._read(stride, end_s - self._least_s(end_s), last_s - self._least_s(last_s))
        if not self.frames:
            return False
        least = replace(self.plan, carry=COPY, edges=False)
        plan = self._choose(end_s, 0.0) or least
        if plan.carry == FLOW:
            if self.find_flow(end_s - self._least_s(end_s)):
                plan = self._choose(end_s, 0.0) or least  # it may have taken longer than planned
            else:
                self._account.ledger.note("no time to find flow: labels are copied from the nearest key frames")
                plan = replace(plan, carry=COPY)
        self.plan = replace(plan, stride=stride)
        return True

    def prepare_again(self, earlier: WindowTrace, n_read: int, memory: Any = None) -> None:  # noqa: ARG002
        """Read the first `n_read` frames that another run has read."""
        wanted = [t for t in earlier.read[:n_read] if t not in self.frames]
        reader, first = self._window.reader, self._window.span.start
        numbers = sorted(first + t for t in wanted)
        if wanted and numbers[-1] - numbers[0] != len(numbers) - 1 and reader.may_leave_out:
            reader.leave_out(self._window.span)  # as that run did
        for number, pixels in reader.read(numbers):
            self.frames[number - first] = pixels
        self.read += wanted

    def _longest_stride(self) -> int:
        return STRIDES[-1] if self._window.reader.can_skip else 1

    def _strides(self) -> Sequence[int]:
        reader = self._window.reader
        if reader.alone is not None:
            n = len(self._missing(1)) + len(self.frames)
            return [max(1, len(self._window.span) // max(n, 1))]
        if not reader.can_skip:
            return STRIDES[:1]
        return STRIDES if not self.frames else [stride for stride in STRIDES if self.plan.stride % stride == 0]

    def _options(self, decoding: float = 0.0) -> Options:
        reader, prices = self._window.reader, self._space.prices
        strides = self._strides() if decoding else [self.plan.stride]
        missing = {stride: len(self._missing(stride)) for stride in strides} if decoding else {}
        n_pairs = {stride: self._n_pairs(stride if decoding else None) for stride in strides}
        is_sparse = reader.alone is not None and strides[0] > STRIDES[-1]
        return Options(
            len(self._window.span),
            self.plan.size,
            [self.names[k] for k in self.networks_left()],
            {self.names[k]: len(own) for k, own in enumerate(self.predictions) if own},
            strides,
            (COPY,) if is_sparse else (FLOW, COPY),
            {stride: decoding * reader.predict_s(prices, n) for stride, n in missing.items()},
            n_pairs,
            self.gap,
        )

    def _n_pairs(self, stride: int | None) -> int:
        """Pairs of neighbours without flow, once every so many frames were read; of those that are there for None."""
        there = sorted({*self.frames, *(self._missing(stride) if stride else ())})
        return sum(pair not in self._flows for pair in pairwise(there))

    def _choose(self, end_s: float, decoding: float) -> Plan | None:
        """The best plan from now on, if decoding costs so many times what is known of it."""
        left_s = end_s - self._account.clock.now_s()
        return choose(self._options(decoding), left_s, self._costs, self._space.settings, self.margins)

    def _least_s(self, end_s: float) -> float:
        """Seconds that must be left before `end_s` when reading ends: one prediction, copied to all frames."""
        left, margins = self.networks_left(), self.margins
        ask_s = self._costs.network_s(self.names[left[0]]) if left else 0.0
        copying_s = self._costs.finish_s(len(self._window.span), 1, 0, COPY, False)
        kept_s = margins.reserve_s(end_s - self._began_s, self._space.prices.slowdown.waiting)
        return margins.action * ask_s + margins.finish * copying_s + kept_s

    def _missing(self, stride: int) -> list[int]:
        """Frames to read so that there is one every so many, and the last; coarse to fine where any order will do."""
        n, reader, first = len(self._window.span), self._window.reader, self._window.span.start
        if reader.alone is not None:
            return [
                number - first
                for number in reader.alone
                if first <= number < first + n and number - first not in self.frames
            ]
        wanted = sorted({*range(0, n, stride), n - 1})
        if reader.can_skip:
            wanted = [wanted[k] for k in spread(len(wanted))]
        return [t for t in wanted if t not in self.frames]

    def _read(self, stride: int, until_s: float, last_s: float) -> None:
        """Read every so many frames, as long as there is time to label them.

        Where there is no time for all even at the largest budget, which ends reading at `last_s`, only frames are read
        from then on that decode without others.
        """
        wanted = self._missing(stride)
        n_read, is_late = self._read_some(wanted, until_s, last_s)
        reader = self._window.reader
        rest = range(max(self.read, default=-1) + 1, len(self._window.span))
        if n_read < len(wanted) and not is_late:
            self._leave_out(rest, until_s)
            self._read_some(self._missing(stride), until_s, last_s)
        if reader.alone is not None:
            self._account.ledger.note("no time to decode all frames: only frames that decode without others were read")

    def _read_some(self, wanted: Sequence[int], until_s: float, last_s: float) -> tuple[int, bool]:
        """Read frames until a time, or until it is clear that there is no time for all of them by `last_s`.

        How many were read, and whether there is no time for another one.
        """
        reader, clock, first = self._window.reader, self._account.clock, self._window.span.start
        began_s, n_before, n, is_late = clock.now_s(), reader.n_decoded, 0, False
        settings = self._space.settings
        for n, (number, pixels) in enumerate(
            reader.read([first + t for t in wanted], lambda: clock.now_s() > until_s), 1
        ):
            self.frames[number - first] = pixels
            self.read.append(number - first)
            clock.charge(reader.predict_s(self._space.prices, 1))
            now_s = clock.now_s()
            frame_s = (now_s - began_s) / n
            if n < len(wanted) and now_s + frame_s > until_s:
                is_late = True
                break
            rest_s = frame_s * (len(wanted) - n)
            is_telling = reader.may_leave_out and n >= settings.telling * len(wanted)
            if is_telling and now_s + rest_s / settings.clearly > last_s:
                break
        n_decoded = reader.n_decoded - n_before
        if n_decoded:
            self._account.book("decode", reader.work(n_decoded), clock.now_s() - began_s, reader.key)
        is_late |= n < len(wanted) and clock.now_s() > until_s
        if is_late:
            self._account.ledger.note(f"reading took too long: {len(wanted) - n} frames were left out")
        return n, is_late

    def _leave_out(self, numbers: range, end_s: float) -> bool:
        """Whether from now on only frames are read that decode without others, since some of these do."""
        reader, clock, first = self._window.reader, self._account.clock, self._window.span.start
        if not reader.may_leave_out:
            return False
        until_s = clock.now_s() + self._space.settings.search * (end_s - clock.now_s())
        return reader.leave_out(range(first + numbers.start, first + numbers.stop), lambda: clock.now_s() > until_s)

    def find_flow(self, until_s: float) -> bool:
        """Find flow between neighbouring frames, and how far apart they lie; whether there was time."""
        pairs = [pair for pair in pairwise(self.read_frames()) if pair not in self._flows]
        if pairs:
            clock, began_s = self._account.clock, self._account.clock.now_s()
            n_done = self._find_flows(pairs, until_s)
            self._costs.book(self._account, "flow", n_done * self._costs.flow_work, clock.now_s() - began_s)
            if n_done < len(pairs):
                return False
        self._look()
        return True

    def _find_flows(self, pairs: Sequence[tuple[int, int]], until_s: float) -> int:
        """Find flow as long as there is time for one more, and it is not clear that there is none for all; how many."""
        clock, settings, price_s = self._account.clock, self._space.settings, self._costs.flow_s(1)
        n_begun, n_done, spent_s = 0, 0, 0.0

        def find(pair: tuple[int, int]) -> None:
            nonlocal n_done, spent_s
            before_s = clock.now_s()
            self._flow(pair)
            clock.charge(price_s)
            spent_s += clock.now_s() - before_s
            n_done += 1

        def fits() -> bool:
            nonlocal n_begun
            each_s = max(self.threads * price_s, spent_s / max(n_done, 1))
            rest_s = each_s * (len(pairs) - n_begun) / self.threads
            is_telling = n_done >= settings.telling * len(pairs)
            n_begun += 1
            if clock.now_s() + each_s > until_s:
                return False
            return not is_telling or clock.now_s() + rest_s / settings.clearly <= until_s

        return for_each(pairs, find, self.threads, fits)

    def _flow(self, pair: tuple[int, int]) -> None:
        """Flow from the later of two frames to the earlier, for each frame between them."""
        earlier, later = (self._reduced(number) for number in pair)
        flow = step_flow(later, earlier, self._space.cells, fine=True)
        self._flows[pair] = flow / np.float32(pair[1] - pair[0])

    def _look(self) -> None:
        """Find out how far apart frames lie, once, by what has changed between some."""
        pairs = sorted(self._flows)
        if self._has_looked or not pairs:
            return
        self._has_looked = True
        some = pairs[:: -(-len(pairs) // self._space.settings.looked_at)]
        changes = [self._change(pair) for pair in some]
        self.gap = self._space.settings.gaps.by_changes(changes, float(np.mean(np.diff(some))))

    def _change(self, pair: tuple[int, int]) -> float:
        step = self._flows[pair] * np.float32(pair[1] - pair[0])
        return change(self.grey(pair[1]), self.grey(pair[0]), step)

    def _reduced(self, number: int) -> UInt8:
        small = self._small.get(number)
        if small is None:
            small = reduced(self.frames[number], self._space.settings.propagation.flow_pixels)
            self._small[number] = small
        return small

    # Algorithm 1

    def choose(self, left_s: float) -> Batch:
        """The next network and frame."""
        if not self.networks_left():
            return Batch.of([], [])
        batch = self._policy(self, left_s)
        for action in batch.actions:
            self._asked[action.source].add(action.place)
        return batch

    def do(self, batch: Batch) -> Outcome:
        """Run a network on a frame."""
        (action,), clock = batch.actions, self._account.clock
        began_s, values, missing = clock.now_s(), None, dict[int, str]()
        try:
            values = Prediction.of(self._space.predict(action.source, self.frames[action.place]))
        except LateError:
            missing[0] = LATE
        except Exception as error:  # a user's network may raise anything, and the run must go on
            missing[0] = f"failed ({type(error).__name__}: {error})"
        clock.charge(float(batch.planned_s[0]))
        return Outcome(values, np.array([clock.now_s() - began_s]), np.zeros(1), missing)

    def add(self, batch: Batch, outcome: Outcome) -> None:
        """Take in a prediction, and learn what it cost; do without a network that fails."""
        (action,), spent_s = batch.actions, float(outcome.spent_s[0])
        network, why = self.names[action.source], outcome.missing.get(0)
        self._asked[action.source].add(action.place)
        prices, key = self._space.prices, self._costs.key(network)
        if why is None:
            self.predictions[action.source][action.place] = outcome.values
            prices.look()
            prices.observe_stage(key, 1.0, spent_s)
        elif why == LATE:
            self._cut_off.add(action.source)
            self._asked[action.source].discard(action.place)  # another budget may have time for it
            if spent_s > prices.predict(key, 1.0):
                prices.observe_stage(key, 1.0, spent_s)  # it takes at least so long
        else:
            self._asked[action.source].discard(action.place)
            self._dropped.add(action.source)
            self._account.ledger.note(f"{network} {why}; dropped")

    def cuttable(self) -> Sequence[Cuttable]:
        """The networks."""
        return self._space.networks_in_order

    def full_s(self, scope: str) -> float:  # noqa: ARG002 - descriptors are of the other space
        """Predicted seconds of everything: all frames read, the dearest network on each, labels along edges."""
        n = len(self._window.span)
        read_s = self._window.reader.predict_s(self._space.prices, n)
        n_sources = n * (2 * int(self._space.settings.propagation.reach / self.gap) + 1)
        end_s = self._costs.finish_s(n, n, n_sources, FLOW, True)
        ask_s = n * self._costs.network_s(self.names[-1]) / self.threads
        return read_s + self._costs.flow_s(n - 1) + ask_s + end_s

    def next_s(self) -> float:
        """Predicted seconds of a prediction by the dearest network for a frame that it has not seen; 0 for none."""
        left = self.networks_left()
        if not left or not self.frames:
            return 0.0
        is_done = self.frames.keys() <= self.predictions[left[-1]].keys()
        reader = self._window.reader
        cheapest_s = self.margins.action * min(self._costs.network_s(self.names[k]) for k in left)
        return 0.0 if is_done and reader.alone is None else cheapest_s

    # The end

    def finish_s(self) -> float:
        """Predicted seconds from the last prediction to labels of all frames; one is copied while there is none."""
        n_frames, n_known = len(self._window.span), max(map(len, self.predictions), default=0)
        if not n_known:
            return self._costs.finish_s(n_frames, 1, 0.0, COPY, False)
        n_sources = float(sum(map(len, self.fusion_neighbours()))) if self.plan.carry == FLOW else 0.0
        n_keys = n_known + self.threads
        return self._costs.finish_s(n_frames, n_keys, n_sources, self.plan.carry or COPY, self.plan.edges)

    def fusion_neighbours(self) -> list[list[tuple[int, int]]]:
        """(Network, key frame) pairs that each frame is fused from; kept until there is another prediction.

        Every decision asks, to know what the end will cost.
        """
        now = self.n_predictions, self.gap
        if self._fused_at != now:
            keys = [sorted(dict(own)) for own in self.predictions]
            reach = int(self._space.settings.propagation.reach / self.gap)
            self._fused = neighbours(keys, len(self._window.span), reach)
            self._fused_at = now
        return self._fused

    def finish(self, end_s: float, out: UInt8, like: Finish | None = None) -> tuple[Finish, FrameEvidence | None]:
        """Carry, fuse and paint; frames for which there is no time are like the nearest that was painted."""
        if not self.n_predictions:
            out[:] = int(np.argmax(self._space.prior))
            for k in sorted(self._cut_off):
                self._account.ledger.note(f"{self.names[k]} did not finish in time")
            self._account.ledger.note("the budget is short: prior")
            return Finish(0, prior=True, n_read=len(self.read)), None
        if like is not None:
            self.gap = like.gap
            if like.carry == FLOW:
                self._has_looked = True
                self.find_flow(np.inf)
        carry = self.plan.carry if like is None else like.carry
        edges = self.plan.edges if like is None else like.edges
        painter = Painter(self._space, self._account, self._costs, self, len(out), end_s)
        late = painter.paint(carry, edges, out, () if like is None else like.late)
        if late and like is None:
            self._account.ledger.note(
                f"painting took too long: {len(late)} frames have the labels of the nearest painted one"
            )
        finish = Finish(0, n_read=len(self.read), carry=carry, edges=edges, gap=self.gap, late=late)
        evidence = FrameEvidence(painter.confidence)
        if self._explain:
            with self._account.clock.paused():
                evidence = replace(evidence, **painter.explain(carry, late))
        return finish, evidence

    def steps(self) -> list[Float32]:
        """Flow from each frame but the first to the one before; even over a gap, and none after the last read."""
        steps: list[Float32] = []
        for a, b in pairwise(self.read_frames()):
            steps += [self._flows[a, b]] * (b - a)
        still = np.zeros((*self._space.cells, 2), np.float32)
        first = min(self.frames)
        return [still] * first + steps + [still] * (len(self._window.span) - 1 - first - len(steps))

    def grey(self, number: int) -> Float32:
        """Grey of a frame that was read, in cells."""
        grey = self._greys.get(number)
        if grey is None:
            grey = self._greys[number] = grey_cells(self._reduced(number), self._space.cells)
        return grey

    # What is kept

    def trace(self) -> tuple[Sequence[int], tuple[int, int], int]:
        """Frames read, their size, and how many could be asked about."""
        return tuple(self.read), self.plan.size, len(self._window.span)

    def memory(self) -> Mapping[str, Any] | None:
        """Nothing: what was asked is asked again."""
        return None
