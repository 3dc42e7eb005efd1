"""What is known of the newest frame of a stream: predictions about earlier frames, carried along flow to it.

Each prediction has a chain to the newest frame, which grows by one step with every frame. So nothing of earlier frames
is kept but that, however long the stream is.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from budgetseg.live.settings import LiveSettings
from budgetseg.propagate.cells import grey_cells, reduced, step_flow
from budgetseg.propagate.chains import compose
from budgetseg.propagate.fusion import Fused, Source, confidence_at, fuse
from budgetseg.propagate.timeline import change
from budgetseg.spaces.frames.costs import FLOW, FrameCosts
from budgetseg.spaces.frames.plan import loss_at
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.state import Prediction
from budgetseg.spaces.frames.worth import Worth
from budgetseg.timing.ledger import Account
from budgetseg.types import Float32, UInt8

__all__ = ["Carried", "Known"]


@dataclass(eq=False)
class Known:
    """What a network says, or will say, about an earlier frame, as seen from the newest one.

    Attributes
    ----------
    network : its number
    number : of the frame
    grey : (h, w), the frame in cells
    chain : (h, w, 2), from the newest frame to that one
    distance : between the two
    prediction : None while the network thinks
    labels : (h, w), what that frame had from others; None where nothing was known
    expected : points that these labels had lost by being carried, by the priors
    is_lost : whether there was a cut since: it will never be of use
    """

    network: int
    number: int
    grey: Float32
    chain: Float32
    distance: float = 0.0
    prediction: Prediction | None = None
    labels: UInt8 | None = None
    expected: float = 0.0
    is_lost: bool = False


class Carried:
    """The newest frame of one source, and what is known of it.

    Parameters
    ----------
    space : the networks, and how predictions are carried
    costs : of frames of this size, by the thread of the stream
    account : clock, prices and ledger
    settings : how streams are labelled
    worth : what networks and carrying are worth on this stream

    Attributes
    ----------
    frame, number : the newest frame (H, W, 3) and its number
    speed : distance that the stream covers in a second, as usual
    n_cuts : so far
    known : predictions that there are
    thinking : those that networks are working on
    still_s : seconds for which all frames have been the same: a camera that hangs
    """

    def __init__(
        self, space: Frames, costs: FrameCosts, account: Account, settings: LiveSettings, worth: Worth
    ) -> None:
        self.frame: UInt8 | None = None
        self.number = -1
        self.speed = 0.0
        self.n_cuts = 0
        self.still_s = 0.0
        self.worth = worth
        self._probe: tuple[Known, UInt8] | None = None
        self._labels: UInt8 | None = None  # of the newest frame, in cells
        self._space = space
        self._costs = costs
        self._account = account
        self._settings = settings
        self._small: UInt8 | None = None
        self._grey: Float32 | None = None
        self._seen_s = 0.0
        self._changes: deque[float] = deque(maxlen=settings.recent_changes)
        self.known: list[Known] = []
        self.thinking: list[Known] = []

    # The stream goes on

    def advance(self, frame: UInt8, number: int, arrived_s: float) -> None:
        """Go on to the next frame: what is known is carried to it, or forgotten where there is a cut."""
        small = reduced(frame, self._space.settings.propagation.flow_pixels)
        grey = grey_cells(small, self._space.cells)
        before, before_grey = self._small, self._grey
        if before is not None and before_grey is not None:
            is_still = before.shape == small.shape and np.array_equal(before, small)
            self.still_s = self.still_s + arrived_s - self._seen_s if is_still else 0.0
            if before.shape == small.shape:
                self._follow(small, grey, before, before_grey, number - self.number, arrived_s - self._seen_s)
            else:
                self._cut()
        self.frame = frame
        self.number = number
        self._labels = None
        self._small = small
        self._grey = grey
        self._seen_s = arrived_s

    def _follow(
        self, small: UInt8, grey: Float32, before: UInt8, before_grey: Float32, n_frames: int, passed_s: float
    ) -> None:
        clock, costs, distances = self._account.clock, self._costs, self._space.settings.distances
        began_s = clock.now_s()
        step = step_flow(small, before, self._space.cells)
        changed = change(grey, before_grey, step)
        clock.charge(costs.flow_s(1))
        costs.book(self._account, "flow", costs.flow_work, clock.now_s() - began_s)
        if self._is_cut(changed):
            self._cut()
            return
        distance = distances.step(changed, n_frames)
        if passed_s > 0:
            weight = self._settings.pace_weight if self.speed else 1.0
            self.speed += weight * (distance / passed_s - self.speed)
        probe = [] if self._probe is None else [self._probe[0]]
        for known in (*self.known, *self.thinking, *probe):
            known.chain = compose(step, 1.0, known.chain)
            known.distance += distance

    def _is_cut(self, changed: float) -> bool:
        distances = self._space.settings.distances
        usual = median(self._changes) if self._changes else 0.0
        if changed > max(distances.cut, distances.abrupt * usual):
            return True
        if changed <= distances.cut:
            self._changes.append(changed)
        return False

    def _cut(self) -> None:
        """Forget what is known: it is of another shot."""
        self.n_cuts += 1
        self._probe = None
        self.known.clear()
        for known in self.thinking:
            known.is_lost = True
        self.thinking.clear()

    # Asking

    def begin(self, network: int) -> Known:
        """A network is asked about the newest frame."""
        assert self.frame is not None
        known = self._from_here(network)
        self._compare_later(known)
        self.thinking.append(known)
        if network and self._probe is None and not self.worth.is_compared(0, network):
            self._probe = self._from_here(0), self.frame
        return known

    def _compare_later(self, known: Known) -> None:
        """Keep the labels of the newest frame until a network has answered: that shows what carrying loses.

        Only what the same network has said of earlier frames is compared: else it would show what networks are worth.
        """
        best = self.known[0] if self.known else None
        if self._labels is not None and best is not None and best.network == known.network and best.distance > 0:
            known.labels = self._labels
            known.expected = loss_at(best.distance, FLOW, self._space.settings.losses)

    def _from_here(self, network: int) -> Known:
        assert self._grey is not None
        return Known(network, self.number, self._grey, np.zeros((*self._space.cells, 2), np.float32))

    def probe(self) -> tuple[Known, UInt8] | None:
        """The cheapest network is asked about an earlier frame that a dearer one sees: that shows what this one adds.

        None where that is not needed. Whoever calls this asks.
        """
        if self._probe is None or self._probe[0].number == self.number:
            return None
        (known, frame), self._probe = self._probe, None
        if any(own.network == 0 and own.number == known.number for own in (*self.known, *self.thinking)):
            return None
        self.thinking.append(known)
        return known, frame

    def asked(self, network: int) -> Known | None:
        """What a network says, or will say, about the newest frame; None where it was not asked."""
        found = (own for own in (*self.known, *self.thinking) if (own.network, own.number) == (network, self.number))
        return next(found, None)

    def answer(self, known: Known, prediction: Prediction | None) -> None:
        """Take in what a network says; None where it failed. It may be about an earlier frame."""
        if known.is_lost:
            return
        self.thinking.remove(known)
        if prediction is None:
            return
        known.prediction = prediction
        if known.labels is not None:
            self.worth.carried(FLOW, known.expected, known.labels, prediction.probabilities)
        for other in self.known:
            if other.number == known.number and other.network != known.network and other.prediction is not None:
                cheap, dear = sorted((known, other), key=lambda own: own.network)
                assert cheap.prediction is not None
                assert dear.prediction is not None
                self.worth.compare(cheap.network, dear.network, cheap.prediction.top, dear.prediction.probabilities)
        self.known.append(known)

    # What is known

    @property
    def is_known(self) -> bool:
        """Whether the newest frame can have labels."""
        return bool(self.known)

    @property
    def networks(self) -> list[int]:
        """Networks whose predictions are carried to the newest frame, the most promising first."""
        return [known.network for known in self.known]

    def gains(self) -> list[float]:
        """Points by which each network is better than the cheapest here."""
        return self.worth.gains({name: self._costs.network_s(name) for name in self._space.sources})

    def lost(self, distance: float) -> float:
        """Points that a prediction loses by being carried so far here."""
        scale = self.worth.scales().get(FLOW, 1.0)
        return scale * loss_at(distance, FLOW, self._space.settings.losses)

    def promise(self) -> float:
        """Points of the labels of the newest frame, against the cheapest network on it; very few where it has none."""
        return self._promise(self.known, 0.0)

    def need(self, network: int, think_s: float) -> float:
        """Points that a network adds which is asked now, when it has answered, to what is there by then."""
        own = self.gains()[network] - self.lost(think_s * self.speed)
        return own - self._promise([*self.known, *self.thinking], think_s)

    def _promise(self, known: Sequence[Known], later_s: float) -> float:
        gains = self.gains()
        found = [gains[own.network] - self.lost(own.distance + later_s * self.speed) for own in known]
        return max(found, default=-self._space.settings.losses.most)

    # Labels

    def choose(self, most: int) -> None:
        """Keep the predictions that promise most, the newest among them; `most` as there is time for, one at least."""
        gains = self.gains()
        newest = max(self.known, key=lambda known: known.number, default=None)
        self.known.sort(key=lambda known: self.lost(known.distance) - gains[known.network])
        kept = self.known[: max(min(most, self._settings.kept), 1)]
        if newest is not None and newest not in kept:
            kept[-1] = newest
        self.known = kept

    def fuse(self) -> tuple[Fused, UInt8]:
        """What all predictions together tell about the newest frame, and its confidence in cells, 255 for all."""
        assert self._grey is not None
        clock, costs, settings = self._account.clock, self._costs, self._space.settings
        began_s = clock.now_s()
        nearest = min(self.known, key=lambda known: (known.distance, -known.network))
        assert nearest.prediction is not None
        if len(self.known) == 1 and nearest.number == self.number:
            fused = Fused(nearest.prediction.probabilities, nearest.prediction.top)
            confidence = nearest.prediction.confidence
        else:
            fused = fuse(self._grey, self._sources(), settings.propagation)
            confidence = confidence_at(fused.probabilities, nearest.prediction.confidence, nearest.chain)
        n_fused = len(self.known)
        clock.charge(costs.fuse_s(n_fused))
        costs.book(self._account, "fusing", n_fused * costs.n_cells, clock.now_s() - began_s)
        self._labels = fused.top
        for known in self.thinking:
            if known.number == self.number:
                self._compare_later(known)
        return fused, confidence

    def _sources(self) -> list[Source]:
        settings = self._space.settings.propagation
        ranks = sorted({known.network for known in self.known}, reverse=True)
        sources = []
        for known in self.known:
            assert known.prediction is not None
            weight = settings.weaker ** ranks.index(known.network) / (known.distance + settings.near)
            own = known.prediction
            sources.append(Source(own.probabilities, own.top, known.grey, known.chain, weight))
        return sources
