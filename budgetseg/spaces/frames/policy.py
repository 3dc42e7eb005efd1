"""Which network to ask about which frame next: key frames that cover what changes, then the frames between them."""

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from budgetseg.engine.plan import Plan
from budgetseg.propagate.order import fill, medians, spread
from budgetseg.types import NOTHING, Action, Batch

if TYPE_CHECKING:
    from budgetseg.spaces.frames.state import FrameState

__all__ = ["Coverage"]


class Coverage:
    """A rule: the network and the number of key frames that promise most, spread evenly along the timeline.

    Where little changes from frame to frame, key frames lie far from each other; every shot is a stretch of its own.
    First, several networks see one frame, and one of them a second frame: that shows what networks and carrying are
    worth on this video. The rule plans when the first action is due, again when that is known, and whenever there are
    twice as many predictions, or when a network has failed. When all frames were asked about, dearer networks follow.
    """

    def __init__(self) -> None:
        self._queue: Iterator[Action] = iter(())
        self._is_begun = False
        self._network = ""
        self._plan_at = 0
        self._left: list[int] = []
        self._next: Action | None = None

    def begin(self) -> None:
        """Plan anew with the next action: there is another budget."""
        self._is_begun = False

    def __call__(self, state: "FrameState", left_s: float) -> Batch:
        """The next action, if it fits."""
        if state.networks_left() != self._left:
            self.begin()
        if not self._is_begun or state.n_predictions >= self._plan_at:
            self._plan(state, left_s)
        action = self._take(state)
        if action is None:
            return NOTHING
        price_s = state.price_s(action)
        if price_s * state.margins.action > left_s:
            self._next = action
            return self._smaller(state, action.source, left_s)
        return Batch.of([action], [price_s])

    def _plan(self, state: "FrameState", left_s: float) -> None:
        """Plan, and follow the plan from now on where it is another one."""
        n_known = state.n_predictions
        plan = state.plan_keys(left_s)
        is_new = not self._is_begun or n_known <= state.threads or plan.network != self._network
        self._is_begun = True
        self._left = state.networks_left()
        # A new plan begins with what shows the worth of networks, and is looked at again once that is known.
        soon = n_known + len(self._left) + 1 if is_new else 2 * n_known
        self._plan_at = max(min(2 * n_known, soon), 1)
        self._network = plan.network
        if is_new:
            self._queue = self._order(state, plan, left_s)
            self._next = None

    def _take(self, state: "FrameState") -> Action | None:
        if self._next is not None:
            action, self._next = self._next, None
            return action
        return next((action for action in self._queue if state.may_do(action)), None)

    def _smaller(self, state: "FrameState", network: int, left_s: float) -> Batch:
        """Where an action does not fit: the dearest cheaper network that does, on a frame that none has seen.

        Where nothing is known yet and nothing fits, the cheapest network is asked, and cut off when time is up.
        """
        left = state.networks_left()
        seen = sorted(set[int]().union(*(state.asked(k) for k in left)))
        positions = state.timeline().positions
        read = state.footage.numbers()
        new = chain(fill(read, seen, positions), fill(state.footage.places(), sorted({*seen, *read}), positions))
        frame = next(new, None)
        if frame is None:
            return NOTHING
        cheaper = [Action(frame, k) for k in reversed(left) if k < network]
        fitting = [action for action in cheaper if state.price_s(action) * state.margins.action <= left_s]
        if not fitting and not state.n_predictions and not state.n_under_way and left_s > 0:
            fitting = [Action(frame, left[0])]
        return Batch.of(fitting[:1], [state.price_s(action) for action in fitting[:1]])

    def _order(self, state: "FrameState", plan: Plan, left_s: float) -> Iterator[Action]:
        """First what shows the worth of networks, then what was planned, other frames, and dearer networks."""
        read = state.footage.numbers()
        positions = state.timeline().positions
        left = state.networks_left()
        first = next((k for k in left if state.names[k] == plan.network), left[0])
        planned = self._keys(state, read, plan, state.asked(first))
        if first != left[-1] or plan.n_keys < len(read):  # else all that there is will be done
            yield from self._probes(state, first, planned, left_s)
        for network in [k for k in left if k >= first]:
            asked = state.asked(network)
            keys = planned if network == first else []
            for frame in (*keys, *fill(read, sorted({*asked, *keys}), positions)):
                yield Action(frame, network)
            for frame in fill(state.footage.places(), sorted({*asked, *read}), positions):
                yield Action(frame, network)

    def _probes(self, state: "FrameState", network: int, keys: Sequence[int], left_s: float) -> Iterator[Action]:
        """Each network on one frame, where that costs little, and the planned one on the key frame next to it.

        That one shows what carrying loses, and the others what dearer networks add.
        """
        left = state.networks_left()
        dearer = [k for k in left[1:] if not state.worth.is_compared(left[0], k)]
        asked = sorted(state.asked(left[0]))
        if not (asked or keys):
            return
        place = asked[0] if asked else keys[0]
        probes = [Action(place, k) for k in dearer]
        probes = [action for action in probes if state.price_s(action) <= state.probe_share * left_s]
        probes = [action for action in probes if action.source == network or state.would_choose(action.source, left_s)]
        if probes:
            yield Action(place, left[0])
            yield from probes
        elif place in keys:
            yield Action(place, network)
        positions = state.timeline().positions
        others = [key for key in keys if key != place]
        if others:
            yield Action(min(others, key=lambda key: abs(float(positions[key] - positions[place]))), network)

    def _keys(self, state: "FrameState", read: list[int], plan: Plan, asked: set[int]) -> list[int]:
        """Key frames of a plan, in an order of which every beginning is spread; none beside those asked before."""
        if 2 * len(asked) > max(plan.n_keys, 2 * state.threads):
            return []
        positions = state.timeline().positions
        places = [read[k] for k in medians(positions[read], min(plan.n_keys, len(read)))]
        near = 0.5 * (positions[-1] - positions[0]) / plan.n_keys
        keys = [places[k] for k in spread(len(places))]
        return [key for key in keys if all(abs(positions[key] - positions[other]) > near for other in asked)]
