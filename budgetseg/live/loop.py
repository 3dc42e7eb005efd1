"""The loop: frames with arrival times in, labels out, each within the latency or counted as dropped.

For every frame: find flow from the frame before, carry what is known along it, fuse, paint. Beside that, networks think
about the newest frame worth asking. Their answers are late, and are carried to the frame that is the newest by then. A
network that is quick enough is waited for where it promises more than what is carried.
"""

import math
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from threading import Event
from typing import NamedTuple

import cv2
import numpy as np

from budgetseg.errors import BudgetsegError, ModelError, UsageError
from budgetseg.live.arrivals import Arrival, Inbox
from budgetseg.live.ask import Answer, Asker, Question
from budgetseg.live.carried import Carried, Known
from budgetseg.live.meter import Meter
from budgetseg.live.settings import LiveSettings
from budgetseg.live.sources import Feed
from budgetseg.propagate.edges import paint_edges
from budgetseg.propagate.paint import paint
from budgetseg.spaces.frames.costs import FrameCosts
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.worth import Worth
from budgetseg.timing.clock import Clock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.types import Float32, UInt8

__all__ = ["Asked", "Live", "LiveFrame", "SpaceFor", "Stream"]

SpaceFor = Callable[[UInt8], Frames]
"""Gives the networks for frames like one (H, W, 3), ready to label."""


class Asked(NamedTuple):
    """A question that was answered.

    Attributes
    ----------
    network, source, number : name of the network, number of the source, and number of the frame
    asked_s, answered_s : when
    is_awaited : whether the stream has waited for the answer
    """

    network: str
    source: int
    number: int
    asked_s: float
    answered_s: float
    is_awaited: bool


@dataclass(frozen=True, eq=False)
class LiveFrame:
    """A frame with its labels, in time.

    Attributes
    ----------
    image : (H, W, 3) uint8, RGB
    labels : (H, W) uint8, class index of every pixel
    age_s : seconds from the frame's arrival to its labels
    dropped : frames of its source since the one before it that have no labels
    number : of the frame among those that arrived, from 0
    time_s : its time as the source states it
    source : number of its source, from 0
    arrived_s : when it arrived, by the clock of the loop
    networks : whose predictions its labels are made of
    cells : (h, w) uint8, probability of the labels in the cells of networks, 255 for all
    """

    image: UInt8
    labels: UInt8
    age_s: float
    dropped: int
    number: int
    time_s: float
    source: int
    arrived_s: float
    networks: Sequence[str]
    cells: UInt8

    @property
    def confidence(self) -> Float32:
        """The probability of the label at every pixel, (H, W)."""
        height, width = self.labels.shape
        spread = cv2.resize(self.cells, (width, height), interpolation=cv2.INTER_LINEAR)
        return np.asarray(spread, np.float32) / np.float32(255)


@dataclass(eq=False)
class Stream:
    """One source, and what came of it.

    Attributes
    ----------
    feed : gives its frames
    number : of the source, from 0
    meter : counts frames
    ledger : where its time went
    size : width and height of its frames
    carried, space, costs : what is known of it, its networks, and what its frames cost; None before the first frame
    read_s : usual seconds to get at the pixels of a frame
    n_seen, n_missed : frames that were in the inbox, and that were dropped there, as far as they are counted
    n_dropped : frames without labels since the last one that has some
    """

    feed: Feed
    number: int
    meter: Meter = field(default_factory=Meter)
    ledger: Ledger = field(default_factory=lambda: Ledger(None))
    size: tuple[int, int] = (0, 0)
    carried: Carried | None = None
    space: Frames | None = None
    costs: FrameCosts | None = None
    read_s: float = 0.0
    n_seen: int = 0
    n_missed: int = 0
    n_dropped: int = 0

    @property
    def inbox(self) -> Inbox:
        """Frames that wait."""
        return self.feed.inbox

    @property
    def slowdown(self) -> float:
        """Seconds that pass for each second of computing."""
        return 1.0 if self.space is None else self.space.prices.slowdown.factor

    def count(self) -> None:
        """Count what has happened in the inbox."""
        self.meter.arrived(self.inbox.n_arrived - self.n_seen)
        self.n_seen = self.inbox.n_arrived
        n_missed = self.inbox.n_dropped - self.n_missed
        self.n_missed += n_missed
        self.drop(n_missed)

    def begin(self) -> None:
        """Count from here on: what has arrived before is forgotten."""
        self.inbox.begin()
        self.meter = Meter()
        self.n_seen = self.n_missed = self.n_dropped = 0

    def end(self) -> None:
        """Count what still waits as dropped."""
        self.inbox.drop_all()
        self.count()

    def drop(self, n: int) -> None:
        """Count frames that get no labels."""
        self.n_dropped += n
        if n:
            self.meter.dropped(n)


class Live:
    """Labels the frames of some sources as they arrive. Iterate over it for the frames with their labels.

    Parameters
    ----------
    feeds : one for each source
    space_for : gives the networks for frames like the first of a size
    latency_s : from the arrival of a frame to its labels, at most
    clock : counts that; with a simulated one, work takes what it is priced at
    asker : runs networks beside the stream
    wake : set by feeds and by the asker, when there is something new
    settings : how streams are labelled
    beside : networks that may run beside the stream at the same time
    limit_s : seconds after which it ends
    stopped : ends the stream once it returns True

    Attributes
    ----------
    streams : one for each source
    notes : lines for the user on what was given up
    questions : the last ones that were answered
    """

    LOOK_S = 0.1
    """Seconds after which the loop looks around at the latest, though nobody has woken it."""

    def __init__(
        self,
        feeds: Sequence[Feed],
        space_for: SpaceFor,
        latency_s: float,
        clock: Clock,
        asker: Asker,
        *,
        wake: Event | None = None,
        settings: LiveSettings | None = None,
        beside: int = 1,
        limit_s: float = math.inf,
        stopped: Callable[[], bool] = lambda: False,
    ) -> None:
        self.streams = [Stream(feed, k) for k, feed in enumerate(feeds)]
        self.notes: list[str] = []
        self.questions: deque[Asked] = deque(maxlen=500)
        self.latency_s = latency_s
        self._space_for = space_for
        self._clock = clock
        self._asker = asker
        self._wake = wake or Event()
        self._settings = settings or LiveSettings()
        self._beside = beside
        self._limit_s = limit_s
        self._until_s = math.inf
        self._stopped = stopped
        self._bound: dict[int, tuple[Frames, Frames]] = {}
        self._under_way: list[Question] = []
        self._failed: dict[int, set[int]] = {}
        self._thinks_s: dict[tuple[int, int], float] = {}
        self._caution = 1.0
        self._away_s = 0.0  # that the consumer took with the last frame

    def __iter__(self) -> Iterator[LiveFrame]:
        self._until_s = self._clock.now_s() + self._limit_s
        try:
            while not self._stopped() and self._clock.now_s() < self._until_s:
                next_s = self._pump()
                stream = self._most_urgent()
                if stream is None:
                    if self._is_over():
                        break
                    self._take_answers()
                    self._ask_beside()
                    self._wait(min(next_s, self._asker.next_s()))
                    continue
                found = self._next(stream)
                if found is not None:
                    gave_s = self._clock.now_s()
                    yield found
                    self._away_s = self._clock.now_s() - gave_s
        finally:
            self.close()

    def _is_over(self) -> bool:
        """Whether all sources are over; the error of a user's iterator is raised, and one that ended all of them."""
        over = [own for own in self.streams if own.inbox.is_over and own.inbox.first_s() is None]
        errors = [own.feed.error for own in over if own.feed.error is not None]
        for error in errors:
            if not isinstance(error, BudgetsegError) or len(errors) == len(self.streams):
                raise error
            self._note(f"{error}; the other sources go on")
        return len(over) == len(self.streams)

    def _note(self, line: str) -> None:
        if line not in self.notes:
            self.notes.append(line)

    def close(self) -> None:
        """End all sources and networks."""
        for stream in self.streams:
            stream.feed.close()
            stream.end()
        self._asker.close()

    # Time

    @property
    def now_s(self) -> float:
        """The time, by the clock of the loop."""
        return self._clock.now_s()

    def _pump(self) -> float:
        """Let frames in that have arrived; when to look again."""
        now_s = self._clock.now_s()
        next_s = min((stream.feed.pump(now_s) for stream in self.streams), default=math.inf)
        for stream in self.streams:
            stream.count()
        return next_s

    def _wait(self, until_s: float) -> None:
        """Wait for something new, until some time at most."""
        left_s = until_s - self._clock.now_s()
        if self._clock.is_simulated:
            self._clock.charge(max(min(left_s, 1.0), 1e-6))
            return
        self._clock.wait(self._wake, max(min(left_s, self.LOOK_S), 0.0))
        self._wake.clear()

    def _most_urgent(self) -> Stream | None:
        """The source whose oldest frame waits longest."""
        waiting = [(first_s, own.number) for own in self.streams if (first_s := own.inbox.first_s()) is not None]
        return self.streams[min(waiting)[1]] if waiting else None

    def _reserve_s(self, space: Frames) -> float:
        return self._settings.margins.reserve_s(self.latency_s, space.prices.slowdown.waiting)

    # One frame

    def _next(self, stream: Stream) -> LiveFrame | None:
        """Label the next frame of a source; None where it is dropped."""
        is_first = stream.space is None
        least_s = 0.0 if is_first else self._least_s(stream)
        since_s = -math.inf if is_first else self._clock.now_s() + least_s - self.latency_s
        most_s = self._settings.catching_up * self.latency_s
        arrival = stream.inbox.take(since_s, least_s + self._away_s, most_s)
        stream.count()
        if arrival is None:
            return None
        frame = self._read(stream, arrival)
        if is_first and self._clock.now_s() + self._least_s(stream) > arrival.arrived_s + self.latency_s:
            stream.begin()  # frames that came while networks were made ready do not count
            self._until_s = self._clock.now_s() + self._limit_s
            return None
        found = self._label(stream, arrival, frame)
        if found is None or found.age_s > self.latency_s:
            self._be_careful(found is not None)
            stream.drop(1)
            return None
        self._be_careful(False)
        stream.meter.labelled(found.age_s)
        stream.n_dropped = 0
        return found

    def _be_careful(self, is_late: bool) -> None:
        """Work that could be left out needs to fit more clearly after a frame was late, and again less with time."""
        settings = self._settings
        factor = settings.caution if is_late else settings.calm
        self._caution = min(max(factor * self._caution, 1.0), settings.most_caution)

    def _read(self, stream: Stream, arrival: Arrival) -> UInt8:
        began_s = self._clock.now_s()
        frame = arrival.read()
        stream.read_s += self._settings.pace_weight * (self._clock.now_s() - began_s - stream.read_s)
        if stream.size != (frame.shape[1], frame.shape[0]):
            self._bind(stream, frame)
        return frame

    def _bind(self, stream: Stream, frame: UInt8) -> None:
        """Get ready for frames of another size; nothing is carried to them."""
        size = (frame.shape[1], frame.shape[0])
        base = self._space_for(frame)
        if id(base) not in self._bound:
            self._bound[id(base)] = base, base.for_run()  # the first is kept, so that its id stays its own
        space = self._bound[id(base)][1]
        stream.size = size
        stream.space = space
        stream.costs = space.costs(size[0] * size[1], 1)
        worth = Worth(space.settings.losses, self._settings.remembered)
        account = Account(self._clock, space.prices, stream.ledger)
        stream.carried = Carried(space, stream.costs, account, self._settings, worth)
        self._check_latency(stream)

    def _check_latency(self, stream: Stream) -> None:
        """Raise UsageError where not even a carried frame has labels within the latency."""
        assert stream.space is not None
        least_s = self._least_s(stream) + self._reserve_s(stream.space)
        if least_s > self.latency_s:
            width, height = stream.size
            raise UsageError(
                f"a latency of {1000 * self.latency_s:g} ms is too short: frames of {width}x{height} need "
                f"{math.ceil(1000 * least_s)} ms on this machine now; give that, or more"
            )

    def _least_s(self, stream: Stream) -> float:
        """Predicted seconds to carry what is known to one frame, and to paint it."""
        assert stream.costs is not None
        costs = stream.costs
        return self._settings.margins.finish * (stream.read_s + costs.flow_s(1) + costs.fuse_s(1) + costs.paint_s(1))

    def _label(self, stream: Stream, arrival: Arrival, frame: UInt8) -> LiveFrame | None:
        carried, space, costs = stream.carried, stream.space, stream.costs
        assert carried is not None
        assert space is not None
        assert costs is not None
        clock = self._clock
        space.prices.look()
        due_s = arrival.arrived_s + self.latency_s - self._reserve_s(space)
        carried.advance(frame, arrival.number, arrival.arrived_s)
        self._take_answers()
        self._ask_beside()
        self._wait_for_network(stream, due_s)
        if not carried.is_known:
            return None
        n_fused = int((due_s - clock.now_s() - costs.paint_s(1)) / max(costs.fuse_s(1), 1e-9))
        carried.choose(n_fused)
        names = [space.sources[k] for k in carried.networks]
        fused, confidence = carried.fuse()
        labels = np.empty(frame.shape[:2], np.uint8)
        began_s = clock.now_s()
        edges_s = costs.paint_s(1) + costs.edges_s(1)
        if self._fits(stream, edges_s, edges_s, due_s):
            paint_edges(*fused, frame, labels, space.settings.propagation)
            clock.charge(edges_s)
            self._book_edges(stream, clock.now_s() - began_s)
        else:
            paint(*fused, labels)
            clock.charge(costs.paint_s(1))
            costs.book(self._account(stream), "pixels", costs.n_pixels, clock.now_s() - began_s)
        age_s = clock.now_s() - arrival.arrived_s
        return LiveFrame(
            frame,
            labels,
            age_s,
            stream.n_dropped,
            arrival.number,
            arrival.time_s,
            stream.number,
            arrival.arrived_s,
            names,
            confidence,
        )

    def _account(self, stream: Stream) -> Account:
        assert stream.space is not None
        return Account(self._clock, stream.space.prices, stream.ledger)

    def _book_edges(self, stream: Stream, spent_s: float) -> None:
        """Both kinds of painting were done: what painting alone takes is known, and the rest is for edges."""
        assert stream.costs is not None
        costs, account = stream.costs, self._account(stream)
        plain_s = min(costs.paint_s(1), spent_s)
        account.ledger.book_stage("pixels", costs.paint_s(1), plain_s)
        costs.book(account, "edges", costs.n_pixels, spent_s - plain_s)

    def _fits(self, stream: Stream, seconds: float, rest_s: float, due_s: float) -> bool:
        """Whether there is time for some work: before labels are due, and before more frames arrive.

        Parameters
        ----------
        stream : of the frame
        seconds : that the work takes, by its price
        rest_s : until the labels are ready, with it
        due_s : when they are due
        """
        intervals = [own.inbox.interval_s for own in self.streams if own.inbox.interval_s > 0 and not own.inbox.is_over]
        between_s = 1 / sum(1 / own_s for own_s in intervals) if intervals else math.inf
        is_quick = self._least_s(stream) + self._caution * seconds <= self._settings.busy * between_s
        in_time = self._clock.now_s() + self._caution * self._settings.margins.finish * rest_s <= due_s
        return in_time and is_quick and not self._others_wait()

    def _others_wait(self) -> bool:
        """Whether there are frames in any inbox."""
        return any(own.inbox.first_s() is not None for own in self.streams)

    def _others_are_late(self) -> bool:
        """Whether there is a frame in any inbox that has waited for a good part of the latency."""
        oldest = [first_s for own in self.streams if (first_s := own.inbox.first_s()) is not None]
        longest_s = self._settings.catching_up * self.latency_s
        return bool(oldest) and self._clock.now_s() - min(oldest) > longest_s

    # Networks

    def _take_answers(self) -> None:
        """Take in what networks have answered; do without those that fail."""
        for answer in self._asker.answers():
            question = answer.question
            self._under_way.remove(question)
            stream = self.streams[question.source]
            name = question.space.sources[question.known.network]
            assert stream.costs is not None
            number, is_awaited = question.known.number, question.is_awaited
            asked = Asked(name, stream.number, number, question.asked_s, answer.answered_s, is_awaited)
            self.questions.append(asked)
            stream.ledger.book_source(name, stream.costs.network_s(name), answer.seconds)
            self._learn(answer, name, stream.costs)
            if answer.error:
                self._give_up(question, name, answer.error)
            if stream.space is question.space and stream.carried is not None:
                stream.carried.answer(question.known, answer.prediction)

    def _learn(self, answer: Answer, name: str, costs: FrameCosts) -> None:
        """Learn how long a network takes, beside the stream or waited for."""
        question = answer.question
        if question.is_awaited:
            question.space.prices.observe_stage(costs.key(name), 1.0, answer.seconds)
            return
        key = id(question.space), question.known.network
        before_s = self._thinks_s.get(key, answer.seconds)
        self._thinks_s[key] = before_s + 0.3 * (answer.seconds - before_s)

    def _give_up(self, question: Question, name: str, error: str) -> None:
        """Ask a network no more that has failed; ModelError where none is left."""
        failed = self._failed.setdefault(id(question.space), set())
        failed.add(question.known.network)
        self._note(f"{name} failed and is not asked any more ({error})")
        if len(failed) == len(question.space.sources):
            raise ModelError(f"all networks failed; the last one said: {error}")

    def _left(self, space: Frames) -> list[int]:
        """Numbers of the networks that have not failed."""
        return [k for k in range(len(space.sources)) if k not in self._failed.get(id(space), ())]

    def _ask_beside(self) -> None:
        """Ask networks about the newest frames, as many as may run beside the stream, where they gain most."""
        while sum(not question.is_awaited for question in self._under_way) < self._beside:
            if self._ask_probe():
                continue
            wanted = [found for stream in self.streams if (found := self._need(stream)) is not None]
            if not wanted:
                return
            _, number, network = max(wanted)
            self._ask(self.streams[number], network)

    def _ask_probe(self) -> bool:
        """Ask for what shows the worth of networks on some source; whether there was something to ask."""
        for stream in self.streams:
            if stream.carried is None or stream.space is None or 0 not in self._left(stream.space):
                continue
            probe = stream.carried.probe()
            if probe is not None:
                self._submit(stream, *probe)
                return True
        return False

    def _need(self, stream: Stream) -> tuple[float, int, int] | None:
        """Points that the best network would add for a source, its number, and that network; None for none."""
        carried, space = stream.carried, stream.space
        if carried is None or space is None or carried.frame is None or stream.inbox.is_over:
            return None
        gains, best = carried.gains(), []
        for network in self._left(space):
            if carried.asked(network) is not None:
                continue
            think_s = self._think_s(stream, network)
            # Its answer serves until the next one comes, when all sources had their turn.
            until_s = think_s * (1 + len(self.streams) / self._beside)
            serves = gains[network] - carried.lost((think_s + until_s) / 2 * carried.speed)
            best.append((serves, network, think_s))
        if not best:
            return None
        _, network, think_s = max(best)
        need = carried.need(network, think_s)
        return (need, stream.number, network) if need > 0 else None

    def _think_s(self, stream: Stream, network: int) -> float:
        """Seconds that a network takes beside the stream."""
        assert stream.space is not None
        assert stream.costs is not None
        known = self._thinks_s.get((id(stream.space), network))
        return stream.costs.network_s(stream.space.sources[network]) if known is None else known

    def _ask(self, stream: Stream, network: int, is_awaited: bool = False) -> Known:
        """Ask a network about the newest frame of a source."""
        carried = stream.carried
        assert carried is not None
        assert carried.frame is not None
        known = carried.begin(network)
        self._submit(stream, known, carried.frame, is_awaited)
        return known

    def _submit(self, stream: Stream, known: Known, frame: UInt8, is_awaited: bool = False) -> None:
        assert stream.space is not None
        question = Question(stream.space, known, frame, stream.number, self._clock.now_s(), is_awaited)
        self._under_way.append(question)
        self._asker.ask(question)
        stream.meter.asked(stream.space.sources[known.network])

    def _wait_for_network(self, stream: Stream, due_s: float) -> None:
        """Wait for a network that answers in time, where it promises more than what is carried."""
        carried, costs, space = stream.carried, stream.costs, stream.space
        assert carried is not None
        assert costs is not None
        assert space is not None
        rest_s = costs.fuse_s(self._settings.kept) + costs.paint_s(1)
        network = self._quickest_best(stream, rest_s, due_s)
        known = None if network is None else carried.asked(network) or self._ask(stream, network, is_awaited=True)
        until_s = due_s - self._settings.margins.finish * rest_s

        def is_worth_waiting() -> bool:
            if known is not None:
                return known in carried.thinking
            # Without any prediction the frame is lost unless one comes in time.
            return not carried.is_known and bool(carried.thinking) and not self._others_are_late()

        while is_worth_waiting() and self._clock.now_s() < until_s:
            self._wait(min(until_s, self._asker.next_s()))
            self._pump()
            self._take_answers()

    def _quickest_best(self, stream: Stream, rest_s: float, due_s: float) -> int | None:
        """The best network that answers in time, and is better than what is carried; None where there is none."""
        carried, costs, space = stream.carried, stream.costs, stream.space
        assert carried is not None
        assert costs is not None
        assert space is not None
        is_free = not any(question.is_awaited for question in self._under_way)
        gains, promise = carried.gains(), carried.promise()
        for network in reversed(self._left(space)):
            known = carried.asked(network)  # beside the stream, a moment ago
            if (known is None and not is_free) or (known is not None and known.prediction is not None):
                continue
            takes_s = costs.network_s(space.sources[network]) if known is None else self._think_s(stream, network)
            price_s = self._settings.doubt * takes_s
            in_time = self._clock.now_s() + price_s + self._settings.margins.finish * rest_s <= due_s
            fits = in_time and (not carried.is_known or self._fits(stream, price_s, price_s + rest_s, due_s))
            is_better = gains[network] >= promise + self._settings.better
            if fits and is_better:
                return network
        return None
