"""Labels of all frames of a window from the predictions of some, before a time is over."""

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from budgetseg.engine.threads import for_each
from budgetseg.propagate.chains import chains_to, compose
from budgetseg.propagate.edges import paint_edges
from budgetseg.propagate.fusion import Fused, Source, confidence_at, dominant, fuse
from budgetseg.propagate.order import spread
from budgetseg.propagate.paint import paint
from budgetseg.propagate.timeline import Timeline
from budgetseg.spaces.frames.costs import COPY, FrameCosts
from budgetseg.timing.clock import Clock
from budgetseg.timing.ledger import Account
from budgetseg.types import Float32, Int32, UInt8

if TYPE_CHECKING:
    from budgetseg.spaces.frames.space import Frames
    from budgetseg.spaces.frames.state import FrameState, Prediction

__all__ = ["Painter", "rehearse"]

Neighbours = Sequence[tuple[int, int]]
"""(Network, key frame) pairs."""


def rehearse(
    space: "Frames", account: Account, costs: FrameCosts, prediction: "Prediction", grey: Float32, frame: UInt8
) -> None:
    """Fuse and paint one frame as at the end, and learn what that takes: it depends on what the video shows.

    Parameters
    ----------
    space, account, costs : of the window
    prediction : of a network for the frame; it is fused with itself, moved by some cells as if classes disagreed there
    grey : the frame in cells
    frame : (H, W, 3)
    """
    settings = space.settings.propagation
    clock = account.clock
    moved = np.full((*grey.shape, 2), space.settings.moved, np.float32)
    still = np.zeros_like(moved)
    answer = Fused(prediction.probabilities, prediction.top)
    others = [prediction.probabilities, prediction.probabilities.copy()]
    out = np.empty(frame.shape[:2], np.uint8)
    planned_s = costs.fuse_s(2) + 2 * costs.paint_s(1) + costs.edges_s(1)
    wall_s = clock.now_s()
    began_s = clock.computed_s()
    chains = [compose(moved, sign, still) for sign in (1.0, -1.0)]
    fuse(grey, [Source(p, prediction.top, grey, chain, 1.0) for p, chain in zip(others, chains, strict=True)], settings)
    clock.charge(costs.fuse_s(2))
    fused_s = clock.computed_s()
    paint(*answer, out)
    clock.charge(costs.paint_s(1))
    painted_s = clock.computed_s()
    paint_edges(*answer, frame, out, settings)
    clock.charge(costs.paint_s(1) + costs.edges_s(1))
    edged_s = clock.computed_s()
    plain_s = painted_s - fused_s
    account.prices.look()
    costs.learn(account, "fusing", 2.0 * costs.n_cells, fused_s - began_s)
    costs.learn(account, "pixels", costs.n_pixels, plain_s)
    costs.learn(account, "edges", costs.n_pixels, max(edged_s - painted_s - plain_s, 0.0))
    account.ledger.book_stage("rehearsal", planned_s, (clock.now_s() - wall_s) / costs.threads)


class Painter:
    """Paints the frames of a window in an order of which every beginning is spread, until a time.

    Parameters
    ----------
    space, account, costs, state : of the window
    timeline : where its frames lie
    n_frames : to paint
    end_s : when all must be done

    Attributes
    ----------
    confidence : (T, h, w) uint8, share of the label's class at the cells, 255 for all
    """

    def __init__(
        self,
        space: "Frames",
        account: Account,
        costs: FrameCosts,
        state: "FrameState",
        timeline: Timeline,
        n_frames: int,
        end_s: float,
    ) -> None:
        self.confidence: UInt8 = np.zeros((n_frames, *space.cells), np.uint8)
        self._space = space
        self._account = account
        self._costs = costs
        self._state = state
        self._footage = state.footage
        self._timeline = timeline
        self._n_frames = n_frames
        self._end_s = end_s
        self._spent_s = {"fusing": 0.0, "pixels": 0.0, "edges": 0.0}
        self._work = dict.fromkeys(self._spent_s, 0.0)

    @property
    def _clock(self) -> Clock:
        return self._account.clock

    def paint(self, carry: str, edges: bool, out: UInt8, skip: Sequence[int] = ()) -> tuple[int, ...]:
        """Write labels to `out` (T, H, W); the frames for which there was no time, those in `skip` among them."""
        if carry == COPY:
            return self._paint_keys(edges, out, skip)
        fused = self._state.fusion_neighbours(self._timeline)[: self._n_frames]
        chains = self._chains(fused)
        n_each = sum(map(len, fused)) / max(len(fused), 1)

        def label(t: int) -> None:
            self._label(t, fused[t], chains, edges, out[t])

        wanted = [t for t in spread(self._n_frames) if t not in set(skip)]
        done = self._paint_some(wanted, label, n_each, edges)
        late = tuple(sorted(set(range(self._n_frames)) - done))
        self._copy(sorted(done), late, out)
        self._book()
        return late

    def _paint_keys(self, edges: bool, out: UInt8, skip: Sequence[int]) -> tuple[int, ...]:
        """Paint key frames, and copy them to the others; late are key frames that were not painted."""
        best = {t: network for network, own in enumerate(self._state.predictions) for t in own if t < self._n_frames}

        def label(t: int) -> None:
            own = self._state.predictions[best[t]][t]
            self.confidence[t] = own.confidence
            self._paint(t, Fused(own.probabilities, own.top), edges, out[t])

        order = [t for t in spread(self._n_frames) if t in best and t not in set(skip)]
        done = self._paint_some(order, label, 0.0, edges)
        others = [t for t in range(self._n_frames) if t not in done]
        self._copy(sorted(done), others, out)
        self._book()
        return tuple(sorted(best.keys() - done))

    def _paint_some(
        self, order: Sequence[int], label: Callable[[int], None], n_sources: float, edges: bool
    ) -> set[int]:
        """Paint frames as long as there is time for one more, and to copy the rest; one at any rate.

        Where frames take longer than predicted, what they took in the mean counts.
        """
        done, n_begun, spent_s = set[int](), 0, 0.0
        frame_s = self._costs.fuse_s(n_sources) + self._costs.paint_s(1) + edges * self._costs.edges_s(1)
        copy_s = self._costs.copy_s(1)

        def fits() -> bool:
            nonlocal n_begun
            n_begun += 1
            next_s = max(self._costs.threads * frame_s, spent_s / max(len(done), 1))
            rest_s = next_s + (self._n_frames - n_begun) * copy_s
            return n_begun == 1 or self._clock.now_s() + rest_s <= self._end_s

        def do(t: int) -> None:
            nonlocal spent_s
            began_s = self._clock.now_s()
            label(t)
            spent_s += self._clock.now_s() - began_s
            done.add(t)

        for_each(order, do, self._costs.threads, fits)
        return done

    def _label(
        self, t: int, fused: Neighbours, chains: Mapping[int, Mapping[int, Float32]], edges: bool, out: UInt8
    ) -> None:
        began_s = self._clock.now_s()
        if len(fused) == 1 and fused[0][1] == t:
            own = self._state.predictions[fused[0][0]][t]
            answer = Fused(own.probabilities, own.top)
            self.confidence[t] = own.confidence
        else:
            answer = fuse(self._grey(t), self._sources(t, fused, chains), self._space.settings.propagation)
            network, nearest = min(fused, key=lambda pair: self._timeline.distance(pair[1], t))
            prediction = self._state.predictions[network][nearest]
            self.confidence[t] = confidence_at(answer.probabilities, prediction.confidence, chains[nearest][t])
            self._clock.charge(self._costs.fuse_s(len(fused)))
            self._note("fusing", len(fused) * self._costs.n_cells, self._clock.now_s() - began_s)
        self._paint(t, answer, edges, out)

    def _paint(self, t: int, answer: Fused, edges: bool, out: UInt8) -> None:
        began_s, frame = self._clock.now_s(), self._footage.frames.get(t)
        self._clock.charge(self._costs.paint_s(1))
        if edges and frame is not None:
            paint_edges(*answer, frame, out, self._space.settings.propagation)
            self._clock.charge(self._costs.edges_s(1))
            spent_s = self._clock.now_s() - began_s
            plain_s = min(self._costs.threads * self._costs.paint_s(1), spent_s)
            self._note("pixels", self._costs.n_pixels, plain_s)
            self._note("edges", self._costs.n_pixels, spent_s - plain_s)
        else:
            paint(*answer, out)
            self._note("pixels", self._costs.n_pixels, self._clock.now_s() - began_s)

    def _sources(self, t: int, fused: Neighbours, chains: Mapping[int, Mapping[int, Float32]]) -> list[Source]:
        settings, state = self._space.settings.propagation, self._state
        asked = [network for network, own in enumerate(state.predictions) if own]
        is_read = t in self._footage.frames
        sources = []
        for network, key in fused:
            own = state.predictions[network][key]
            weaker = settings.weaker ** (len(asked) - 1 - asked.index(network))
            weight = weaker / (self._timeline.distance(key, t) + settings.near)
            # A frame that was not read looks like any other.
            grey = self._grey(key) if is_read and key in self._footage.frames else self._grey(t)
            sources.append(Source(own.probabilities, own.top, grey, chains[key][t], weight))
        return sources

    def _grey(self, t: int) -> Float32:
        return self._footage.grey(t) if t in self._footage.frames else np.zeros(self._space.cells, np.float32)

    def _chains(self, fused: Sequence[Neighbours]) -> Mapping[int, Mapping[int, Float32]]:
        """To each key frame, from each frame that is fused from it."""
        began_s, ends = self._clock.now_s(), dict[int, tuple[int, int]]()
        for t, own in enumerate(fused):
            for _, key in own:
                first, last = ends.get(key, (key, key))
                ends[key] = min(first, t), max(last, t)
        steps, chains = self._footage.steps(), dict[int, Mapping[int, Float32]]()

        def chain(key: int) -> None:
            chains[key] = chains_to(key, *ends[key], steps, self._space.cells)

        for_each(ends, chain, self._costs.threads)
        self._note("fusing", 0.0, self._costs.threads * (self._clock.now_s() - began_s))
        return chains

    def _copy(self, done: Sequence[int], others: Sequence[int], out: UInt8) -> None:
        """Give frames the labels of the nearest that was painted."""
        began_s = self._clock.now_s()
        nearest = self._timeline.nearest(done)

        def copy(t: int) -> None:
            out[t] = out[nearest[t]]
            self.confidence[t] = self.confidence[nearest[t]]

        for_each(others, copy, self._costs.threads)
        if others:
            self._clock.charge(self._costs.copy_s(len(others)))
            work = float(len(others) * self._costs.n_pixels)
            self._costs.book(self._account, "copies", work, self._clock.now_s() - began_s)

    def explain(self, carry: str, late: Sequence[int]) -> dict[str, Any]:
        """The key frame and the network that tell most for each cell of each frame, as of `FrameEvidence`."""
        shape = (self._n_frames, *self._space.cells)
        key_frames: Int32 = np.zeros(shape, np.int32)
        networks: UInt8 = np.zeros(shape, np.uint8)
        if carry == COPY:
            best = {t: network for network, own in enumerate(self._state.predictions) for t in own}
            nearest = self._timeline.nearest(sorted(best.keys() - set(late)))
            for t in range(self._n_frames):
                key_frames[t] = nearest[t]
                networks[t] = best[int(nearest[t])]
            return {"key_frames": key_frames, "networks": networks}
        fused = self._state.fusion_neighbours(self._timeline)[: self._n_frames]
        chains = self._chains(fused)
        painted = sorted(set(range(self._n_frames)) - set(late))
        for t in painted:
            sources = self._sources(t, fused[t], chains)
            top = fuse(self._grey(t), sources, self._space.settings.propagation).top
            which = dominant(self._grey(t), top, sources, self._space.settings.propagation)
            key_frames[t] = np.array([key for _, key in fused[t]], np.int32)[which]
            networks[t] = np.array([network for network, _ in fused[t]], np.uint8)[which]
        nearest = self._timeline.nearest(painted)
        for t in late:
            key_frames[t] = key_frames[nearest[t]]
            networks[t] = networks[nearest[t]]
        return {"key_frames": key_frames, "networks": networks}

    def _note(self, stage: str, work: float, seconds: float) -> None:
        """Add seconds of one thread to a stage; threads may do so at once, and a lost one hardly matters."""
        self._work[stage] += work
        self._spent_s[stage] += seconds

    def _book(self) -> None:
        """Write down what the stages took, all threads together."""
        for stage, work in self._work.items():
            if work:
                seconds = self._spent_s[stage] / self._costs.threads
                self._costs.book(self._account, stage, work, seconds)
