"""What is known of one window of a video: its footage, predictions about some frames, and labels made of them."""

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetseg.engine.loop import LATE, Outcome
from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.engine.trace import Finish, WindowTrace
from budgetseg.engine.window import Window
from budgetseg.propagate.cells import confidence_of, top_classes
from budgetseg.propagate.chains import chains_to
from budgetseg.propagate.fusion import Source, count_sources, fuse, n_sources, neighbours
from budgetseg.propagate.timeline import Timeline
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.spaces.frames.footage import Footage
from budgetseg.spaces.frames.painter import Painter, rehearse
from budgetseg.spaces.frames.plan import Options, carried_loss, choose, loss_at
from budgetseg.spaces.frames.policy import Coverage
from budgetseg.spaces.frames.worth import Worth
from budgetseg.timing.deadline import Cuttable, LateError
from budgetseg.timing.ledger import Account
from budgetseg.timing.margins import Margins
from budgetseg.types import NOTHING, Action, Batch, Float32, Float64, UInt8

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
    footage : the frames that were read, their flow and what has changed between them
    predictions : of each network, by number of the frame
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
        self.predictions: list[dict[int, Prediction]] = [{} for _ in space.networks]
        # A simulated run is decided by one thread, so that it repeats.
        self.threads = 1 if account.clock.is_simulated else space.threads
        self._costs = space.costs(plan.size[0] * plan.size[1], self.threads)
        self.footage = Footage(space, window, rate, account, self._costs)
        self._space = space
        self._window = window
        self._account = account
        self._explain = explain
        self._began_s = 0.0
        self._end_s = np.inf
        self._is_prepared = False
        self._asked: list[set[int]] = [set() for _ in space.networks]
        self._dropped: set[int] = set()
        self._cut_off: set[int] = set()
        self._fused = -1, 0  # predictions, and key frames fused by all frames then
        self._n_trials = 0
        self._policy = Coverage()

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
        """Predicted seconds of an action, on its thread; a frame that was not read is read for it."""
        return self._costs.network_s(self.names[action.source]) + self.footage.fetch_s(action.place)

    @property
    def probe_share(self) -> float:
        """Share of the time left that a network may take on its first frame."""
        return self._space.settings.probe_share

    @property
    def worth(self) -> Worth:
        """What networks and carrying are worth here."""
        return self._space.worth

    def would_choose(self, network: int, left_s: float) -> bool:
        """Whether a network would be planned with, if it were as good as may be hoped."""
        options = self._key_options()
        name = self.names[network]
        gains = {**options.gains, name: options.gains[name] + self._space.settings.losses.hope}
        end_s = self.margins.finish * self.finish_s()
        costs, settings = self._costs, self._space.settings
        plan = choose(replace(options, gains=gains), left_s + end_s, costs, settings, self.margins)
        return plan is not None and plan.network == name

    def _key_options(self) -> Options:
        """What there is to choose from now that frames were read."""
        return replace(self._options(), strides=[self.plan.stride], carries=[self.plan.carry or COPY])

    def gains(self) -> list[float]:
        """Points by which each network is better than the cheapest."""
        return self.worth.gains({name: self._costs.network_s(name) for name in self.names})

    def timeline(self) -> Timeline:
        """Where the frames of the window lie, by the way in which predictions are carried."""
        return self.footage.timeline(self.plan.carry or COPY)

    def plan_keys(self, left_s: float) -> Plan:
        """The network and the number of key frames that promise most, where so many seconds are left to ask."""
        end_s = self.margins.finish * self.finish_s()
        plan = choose(self._key_options(), left_s + end_s, self._costs, self._space.settings, self.margins)
        if plan is None:
            left = self.networks_left()
            plan = replace(self.plan, network=self.names[left[0]] if left else "", n_keys=1, edges=False)
        self.plan = replace(self.plan, network=plan.network, n_keys=plan.n_keys, edges=plan.edges, score=plan.score)
        _log.info("%s on %d key frames, %s", plan.network, plan.n_keys, plan.carry)
        return plan

    # Making ready

    def glance(self, end_s: float) -> Batch:
        """The cheapest network on a frame near the middle of the window, before anything is read."""
        left = self.networks_left()
        place = self.footage.entry(end_s) if left else None
        if place is None:
            return NOTHING
        action = Action(place, left[0])
        self._asked[action.source].add(place)
        return Batch.of([action], [self.price_s(action)])

    @property
    def is_known(self) -> bool:
        """Whether there is a prediction."""
        return self.n_predictions > 0

    def prepare(self, end_s: float, last_s: float) -> bool:
        """Read frames and find flow, with labels due at `end_s`; False where there is no time for any."""
        self._policy.begin()
        self._end_s = end_s
        if not self._is_prepared:
            self._began_s = self._account.clock.now_s()
            self._is_prepared = True
        self.footage.probe(end_s)  # of film, only once it is read
        stride = self._stride(end_s, last_s)
        self.footage.read_every(stride, end_s - self._least_s(end_s), last_s - self._least_s(last_s))
        if not self.footage.frames:
            return False
        self.footage.look(end_s)
        self.footage.probe(end_s)
        self.plan = replace(self.plan, stride=stride)
        may_refine = stride > 1 and self._window.reader.alone is None and not self.footage.missing(stride)
        finer = self._stride(end_s, last_s) if may_refine else stride
        if finer < stride:  # more changes from frame to frame than was expected
            stride = finer
            self.footage.read_every(stride, end_s - self._least_s(end_s), last_s - self._least_s(last_s))
            self.footage.look(end_s)
        least = replace(self.plan, carry=COPY, edges=False)
        plan = self._choose(end_s, 0.0) or least
        if plan.carry == FLOW:
            if self.footage.find_flow(end_s - self._least_s(end_s)):
                plan = self._choose(end_s, 0.0) or least  # it may have taken longer than planned
            else:
                plan = replace(plan, carry=COPY)
                if not self._account.stopped():
                    self._account.ledger.note("no time to find flow: labels are copied from the nearest key frames")
        self.plan = replace(plan, stride=stride)
        return True

    def prepare_again(self, earlier: WindowTrace, n_read: int, memory: Any = None) -> None:  # noqa: ARG002
        """Read the first `n_read` frames that another run has read."""
        self.footage.read_again(earlier.read[:n_read])

    def _stride(self, end_s: float, last_s: float) -> int:
        """Every how many frames to read one, with labels due at `end_s`, and at `last_s` by the largest budget."""
        doubt = 1 / self.margins.decode_doubt
        plan = self._choose(end_s, 1.0) or self._choose(end_s, doubt)
        is_hopeless = plan is None and self._choose(last_s, doubt) is None
        if is_hopeless and self.footage.leave_out(range(len(self._window.span)), last_s):
            plan = self._choose(end_s, 1.0)
        if plan is not None:
            return plan.stride
        return STRIDES[-1] if self._window.reader.can_skip else 1

    def _options(self, decoding: float = 0.0) -> Options:
        footage = self.footage
        strides = footage.strides(self.plan.stride) if decoding else [self.plan.stride]
        return Options(
            len(self._window.span),
            self.plan.size,
            [self.names[k] for k in self.networks_left()],
            {self.names[k]: len(known) for k, known in enumerate(self.predictions) if known},
            strides,
            (COPY,) if footage.is_sparse else (FLOW, COPY),
            {stride: decoding * footage.read_s(stride) for stride in strides} if decoding else {},
            footage.n_read(strides) if decoding else {self.plan.stride: len(footage.frames)},
            {stride: footage.n_pairs(stride if decoding else None) for stride in strides},
            footage.step(),
            len(footage.timeline(COPY).cuts),
            footage.alone_s(),
            dict(zip(self.names, self.gains(), strict=True)),
            self.worth.scales(),
        )

    def _choose(self, end_s: float, decoding: float) -> Plan | None:
        """The best plan from now on, if decoding costs so many times what is known of it."""
        left_s = end_s - self._account.clock.now_s()
        return choose(self._options(decoding), left_s, self._costs, self._space.settings, self.margins)

    def _least_s(self, end_s: float) -> float:
        """Seconds that must be left before `end_s` when reading ends: one prediction, copied to all frames."""
        left, margins = self.networks_left(), self.margins
        ask_s = self._costs.network_s(self.names[left[0]]) if left and not self.is_known else 0.0
        copying_s = self._costs.finish_s(len(self._window.span), 1, 0.0, COPY, 0)
        return margins.action * ask_s + margins.finish * copying_s + self._kept_s(end_s)

    def _kept_s(self, end_s: float) -> float:
        """Seconds kept back before `end_s`: a thread that waits for a core then is late by that."""
        return self.margins.reserve_s(end_s - self._began_s, self._space.prices.slowdown.waiting)

    # Algorithm 1

    def choose(self, left_s: float) -> Batch:
        """The next network and frame."""
        if not self.networks_left():
            return NOTHING
        batch = self._policy(self, left_s)
        for action in batch.actions:
            self._asked[action.source].add(action.place)
        return batch

    def do(self, batch: Batch) -> Outcome:
        """Run a network on a frame."""
        (action,) = batch.actions
        clock = self._account.clock
        began_s = clock.now_s()
        values = None
        missing: dict[int, str] = {}
        try:
            frame = self.footage.frame(action.place)
            began_s = clock.now_s()
            values = Prediction.of(self._space.predict(action.source, frame))
        except LateError:
            missing[0] = LATE
        except Exception as error:  # a user's network may raise anything, and the run must go on
            missing[0] = f"failed ({type(error).__name__}: {error})"
        clock.charge(self._costs.network_s(self.names[action.source]))
        return Outcome(values, np.array([clock.now_s() - began_s]), np.zeros(1), missing)

    def add(self, batch: Batch, outcome: Outcome) -> None:
        """Take in a prediction, and learn what it cost; do without a network that fails."""
        (action,) = batch.actions
        spent_s = float(outcome.spent_s[0])
        network = self.names[action.source]
        why = outcome.missing.get(0)
        self._asked[action.source].add(action.place)
        prices, key = self._space.prices, self._costs.key(network)
        if why is None:
            self.predictions[action.source][action.place] = outcome.values
            prices.look()
            prices.observe_stage(key, 1.0, spent_s)
            if self._may_rehearse(action.place):
                frame = self.footage.frames[action.place]
                grey = self.footage.grey(action.place)
                rehearse(self._space, self._account, self._costs, outcome.values, grey, frame)
            if self._is_prepared:  # nothing is decided in a replay
                self._compare(action)
        elif why == LATE:
            self._cut_off.add(action.source)
            self._asked[action.source].discard(action.place)  # another budget may have time for it
            if spent_s > prices.predict(key, 1.0):
                prices.observe_stage(key, 1.0, spent_s)  # it takes at least so long
        else:
            self._asked[action.source].discard(action.place)
            self._dropped.add(action.source)
            self._account.ledger.note(f"{network} {why}; dropped")

    def _may_rehearse(self, place: int) -> bool:
        """Whether to try on a prediction that just came in what the end will take."""
        settings = self._space.settings
        price_s = self._costs.fuse_s(2) + 2 * self._costs.paint_s(1) + self._costs.edges_s(1)
        most_s = settings.rehearsal_share * (self._end_s - self._account.clock.now_s())
        return self.n_predictions <= settings.rehearsals and place in self.footage.frames and price_s <= most_s

    def _compare(self, action: Action) -> None:
        """Learn what networks and carrying are worth, where there is another answer about the frame of an action."""
        place, network = action
        own = self.predictions[network][place]
        for other in range(len(self.names)):
            if other != network and place in self.predictions[other]:
                cheap, dear = sorted((network, other))
                labels = self.predictions[cheap][place].top
                self.worth.compare(cheap, dear, labels, self.predictions[dear][place].probabilities)
        key = self._nearest_key(action)
        if key is not None:
            expected = loss_at(self.timeline().distance(key, place), self.plan.carry, self._space.settings.losses)
            labels = self._carried(network, key, place)
            self.worth.carried(self.plan.carry, expected, labels, own.probabilities)
            self._n_trials += 1

    def _nearest_key(self, action: Action) -> int | None:
        """The key frame from which a prediction of this network would be carried to the frame, if that may be tried."""
        place, network = action
        settings = self._space.settings
        if self._n_trials >= settings.trials or place not in self.footage.frames:
            return None
        if self.plan.carry == FLOW and self.footage.n_pairs():
            return None
        timeline = self.timeline()
        others = [t for t in self.predictions[network] if t != place and timeline.shots[t] == timeline.shots[place]]
        others = [t for t in others if t in self.footage.frames]
        key = min(others, key=lambda t: timeline.distance(t, place), default=None)
        if key is None:
            return None
        most_s = settings.trial_share * (self._end_s - self._account.clock.now_s())
        return key if self._costs.fuse_s(abs(key - place) + 1) * self.threads <= most_s else None

    def _carried(self, network: int, key: int, place: int) -> UInt8:
        """Labels (h, w) that a frame has from a key frame alone."""
        other = self.predictions[network][key]
        if self.plan.carry == COPY:
            return other.top
        clock = self._account.clock
        began_s = clock.now_s()
        steps = self.footage.steps()
        chain = chains_to(key, min(key, place), max(key, place), steps, self._space.cells)[place]
        grey = self.footage.grey(place)
        source = Source(other.probabilities, other.top, self.footage.grey(key), chain, 1.0)
        labels = fuse(grey, [source], self._space.settings.propagation).top
        planned_s = self._costs.fuse_s(abs(key - place) + 1)
        clock.charge(planned_s)
        self._account.ledger.book_stage("rehearsal", planned_s, (clock.now_s() - began_s) / self.threads)
        return labels

    def cuttable(self) -> Sequence[Cuttable]:
        """The networks."""
        return self._space.networks_in_order

    def full_s(self, scope: str) -> float:  # noqa: ARG002 - descriptors are of the other space
        """Predicted seconds of everything: all frames read, the dearest network on each, labels along edges."""
        n = len(self._window.span)
        read_s = self._window.reader.predict_s(self._space.prices, n)
        n_fused = n_sources(n, n, self._space.settings.propagation.reach, self.footage.step())
        end_s = self._costs.finish_s(n, n, n_fused, FLOW, n)
        ask_s = n * self._costs.network_s(self.names[-1]) / self.threads
        return read_s + self._costs.look_s(n) + self._costs.flow_s(n - 1) + ask_s + end_s

    def next_s(self) -> float:
        """Predicted seconds of the cheapest network on a frame; 0 where the dearest has seen all frames."""
        left, frames = self.networks_left(), self.footage.frames
        if not left or not frames:
            return 0.0
        is_done = all(place in self.predictions[left[-1]] for place in self.footage.places())
        if is_done and self._window.reader.alone is None:
            return 0.0
        return self.margins.action * min(self._costs.network_s(self.names[k]) for k in left)

    # The end

    def finish_s(self) -> float:
        """Predicted seconds from the last prediction to labels of all frames; one is copied while there is none."""
        n_frames = len(self._window.span)
        n_known = max(map(len, self.predictions), default=0)
        if not n_known:
            return self._costs.finish_s(n_frames, 1, 0.0, COPY, 0)
        carry = self.plan.carry or COPY
        n_keys = n_known + self.threads
        n_fused = 0.0 if carry == COPY else self._n_fused() * self._growth(n_known, n_keys)
        n_edged = len(self.footage.frames) if self.plan.edges else 0
        return self._costs.finish_s(n_frames, n_keys, n_fused, carry, n_edged)

    def _growth(self, n_known: int, n_keys: int) -> float:
        """How many times more is fused with some more key frames."""
        n_frames = len(self._window.span)
        reach = self._space.settings.propagation.reach
        known, then = (n_sources(n_frames, n, reach, self.timeline().step) for n in (n_known, n_keys))
        return then / known

    def _n_fused(self) -> int:
        """How many key frames all frames together are fused from, worked out once for each prediction."""
        at = self.n_predictions
        if self._fused[0] != at:
            keys = [sorted(known) for known in self.predictions]
            self._fused = at, count_sources(keys, self.timeline(), self._space.settings.propagation.reach)
        return self._fused[1]

    def fusion_neighbours(self, timeline: Timeline) -> list[list[tuple[int, int]]]:
        """(Network, key frame) pairs that each frame is fused from."""
        keys = [sorted(known) for known in self.predictions]
        return neighbours(keys, timeline, self._space.settings.propagation.reach)

    def finish(self, end_s: float, out: UInt8, like: Finish | None = None) -> tuple[Finish, FrameEvidence | None]:
        """Carry, fuse and paint; frames for which there is no time are like the nearest that was painted."""
        if not self.n_predictions:
            out[:] = int(np.argmax(self._space.prior))
            for k in sorted(self._cut_off):
                self._account.ledger.note(f"{self.names[k]} did not finish in time")
            return Finish(0, prior=True, n_read=len(self.footage.read)), None
        carry = (self.plan.carry or COPY) if like is None else like.carry
        edges = self.plan.edges if like is None else like.edges
        if like is not None and carry == FLOW:
            self.footage.find_flow(np.inf)
        timeline = self.timeline() if like is None else Timeline.of(like.positions, like.cuts)
        until_s = end_s - self._kept_s(end_s)
        painter = Painter(self._space, self._account, self._costs, self, timeline, len(out), until_s)
        late = painter.paint(carry, edges, out, () if like is None else like.late)
        if late and like is None:
            self._account.ledger.note(
                f"painting took too long: {len(late)} frames have the labels of the nearest painted one"
            )
        finish = Finish(
            0,
            n_read=len(self.footage.read),
            carry=carry,
            edges=edges,
            positions=tuple(timeline.positions[: len(out)].tolist()),
            cuts=tuple(cut for cut in timeline.cuts if cut < len(out)),
            late=late,
        )
        evidence = FrameEvidence(painter.confidence, self._lost(timeline, carry, late, len(out)))
        if self._explain:
            with self._account.clock.paused():
                evidence = replace(evidence, **painter.explain(carry, late))
        return finish, evidence

    def _lost(self, timeline: Timeline, carry: str, late: Sequence[int], n_frames: int) -> Float64:
        """Points that the labels of each frame lose by being carried, (T,), by what was found here."""
        losses, scale = self._space.settings.losses, self.worth.scales().get(carry, 1.0)
        keys = {t for own in self.predictions for t in own}
        if carry == COPY:
            keys -= set(late)
        lost = carried_loss(timeline, sorted(keys), carry, losses, scale)[:n_frames]
        if late and carry == FLOW:
            painted = sorted(set(range(n_frames)) - set(late))
            lost[list(late)] += carried_loss(timeline, painted, COPY, losses)[list(late)]
        return lost

    # What is kept

    def trace(self) -> tuple[Sequence[int], tuple[int, int], int]:
        """Frames read, their size, and how many could be asked about."""
        return tuple(self.footage.read), self.plan.size, len(self._window.span)

    def memory(self) -> Mapping[str, Any] | None:
        """Nothing: what was asked is asked again."""
        return None
