"""What is known of one window of a video: frames, what networks said about some, flow, and labels made of it."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from threading import Lock
from typing import Protocol

import numpy as np

from budgetseg.frames import carry as by
from budgetseg.frames.apart import N_PAIRS, apart_by, changed
from budgetseg.frames.crew import Crew
from budgetseg.frames.heard import WORTH, heard
from budgetseg.frames.order import spread
from budgetseg.frames.plan import COARSE, COPY, FINE
from budgetseg.types import Float32, UInt8

__all__ = ["Answer", "Ask", "Brush", "Evidence", "Painting"]

NEAR = 2.0
"""A key frame at a distance of d frames of usual video counts 1 / (d + NEAR)."""


@dataclass(frozen=True)
class Ask:
    """A question: to which network, about which frame of the window, and whether in the mirror."""

    network: str
    frame: int
    mirrored: bool = False


@dataclass(frozen=True, eq=False)
class Answer:
    """What a network says about a frame, the mean of its views.

    Attributes
    ----------
    probabilities : (h, w, L)
    top : (h, w), the most probable classes
    sure : (h, w), their probabilities, 255 for certain
    views : of which it is the mean
    """

    probabilities: Float32
    top: UInt8
    sure: UInt8
    views: int


@dataclass(frozen=True)
class Painting:
    """How labels were made: enough to make them again.

    Attributes
    ----------
    n_read : frames that were there, the first of all that were read
    n_asks : questions that were answered
    carry : how labels came to other frames
    network : whose labels are copied, where they are
    late : frames for which there was no time, with the labels of the nearest frame that has some
    sharp : frames with labels along their edges
    apart : how far frames were taken to lie from each other, in frames of usual video
    """

    n_read: int
    n_asks: int
    carry: str
    network: str
    late: tuple[int, ...] = ()
    sharp: tuple[int, ...] = ()
    apart: float = 1.0


@dataclass(eq=False)
class Evidence:
    """All that is known of a window; it only grows, but for how far apart its frames are taken to lie.

    Attributes
    ----------
    n_frames : of the window
    cells : rows and columns of what networks say
    frames : by number, those that were read
    answers : by network and number of the frame
    asks : what led to them, in the order in which they were answered
    n_sources : key frames that frames heard at the last painting, all together, but for themselves alone
    copied : frames that were copied from others then, and the seconds that this took
    again, again_s : frames that were painted again then, along their edges, and the seconds that this took
    apart : how far frames lie from each other, in frames of usual video
    """

    n_frames: int
    cells: tuple[int, int]
    frames: dict[int, UInt8] = field(default_factory=dict)
    answers: dict[str, dict[int, Answer]] = field(default_factory=dict)
    asks: list[Ask] = field(default_factory=list)
    n_sources: int = 0
    copied: tuple[int, float] = (0, 0.0)
    again: set[int] = field(default_factory=set)
    again_s: float = 0.0
    apart: float = 1.0
    _flows: dict[tuple[int, int, str], Float32] = field(default_factory=dict)
    _small: dict[int, UInt8] = field(default_factory=dict)
    _greys: dict[int, Float32] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    @property
    def decoded(self) -> list[int]:
        """Numbers of the frames that were read."""
        return sorted(self.frames)

    def n_answers(self) -> list[int]:
        """Frames of which each network that has spoken said something; others may speak meanwhile."""
        return [len(own) for own in list(self.answers.values())]

    @property
    def loudest(self) -> str:
        """The network that has said most, whose labels are copied, where they are."""
        return max(self.answers, key=lambda name: len(self.answers[name]))

    def add(self, ask: Ask, probabilities: Float32) -> None:
        """A question was answered, (h, w, L)."""
        answer = self._answer(probabilities, 1)
        with self._lock:
            own = self.answers.setdefault(ask.network, {})
            if (before := own.get(ask.frame)) is not None:
                # Of two views the mean is the same whichever came first.
                answer = self._answer((before.probabilities + probabilities) * np.float32(0.5), 2)
            own[ask.frame] = answer
            self.asks.append(ask)

    @staticmethod
    def _answer(probabilities: Float32, views: int) -> Answer:
        return Answer(probabilities, by.top_classes(probabilities), by.sure_cells(probabilities), views)

    def flow_pairs(self, carry: str) -> list[tuple[int, int]]:
        """Neighbours among the frames that were read between which flow is to be found."""
        decoded = self.decoded
        return [] if carry == COPY else [pair for pair in pairwise(decoded) if (*pair, carry) not in self._flows]

    def find_flow(self, pair: tuple[int, int], carry: str) -> None:
        """Flow from the later of two frames to the earlier, for each frame of the gap."""
        earlier, later = (self._reduced(number) for number in pair)
        flow = by.step_flow(later, earlier, self.cells, carry == FINE)
        self._flows[*pair, carry] = flow / np.float32(pair[1] - pair[0])

    def look_apart(self, crew: Crew) -> None:
        """Find out how far apart frames lie; there must be two at least."""
        pairs = list(pairwise(self.decoded))
        some = pairs[:: -(-len(pairs) // N_PAIRS)]
        changes: dict[tuple[int, int], float] = {}

        def look(pair: tuple[int, int]) -> None:
            self.find_flow(pair, COARSE)
            earlier, later = (self._greys[number] for number in pair)
            changes[pair] = changed(later, earlier, self._flows[*pair, COARSE] * np.float32(pair[1] - pair[0]))

        crew.each(some, look)
        self.apart = apart_by(list(changes.values()), float(np.mean(np.diff(some))))

    def _reduced(self, number: int) -> UInt8:
        small = self._small.get(number)
        if small is None:
            small = by.reduced(self.frames[number])
            self._greys[number] = by.grey_cells(small, self.cells)
            self._small[number] = small
        return small

    def paint(self, crew: Crew, carry: str, network: str, out: UInt8, brush: "Brush") -> tuple[int, ...]:
        """Write labels to `out` (T, H, W); the frames for which there was no time, see `Painting`.

        `brush.sure` gets how sure they are, at the cells.
        """
        if carry == COPY:
            return self._copy(crew, network, out, brush)
        self.copied = 0, 0.0
        hears = self._hears()
        self.n_sources = sum(len(own) for t, own in enumerate(hears) if not self._is_alone(t, own))
        done: set[int] = set()
        label = self._labelling(crew, carry, hears, out, brush, done)
        crew.each(self._in_order(brush.skip), label, brush.fits)
        missing = self._finish_late(crew, done, out, brush)
        started, self.again = time.perf_counter(), set()
        if not missing:  # only now it shows how much time there is for edges
            crew.each(self._again(brush), label)
        self.again_s = time.perf_counter() - started
        return missing

    def paint_some(self, crew: Crew, carry: str, some: Sequence[int], out: UInt8, brush: "Brush") -> None:
        """Write the labels of some frames to `out` (T, H, W) once more, now that more is known."""
        wanted = set(some)
        told = [own if t in wanted else [] for t, own in enumerate(self._hears())]
        crew.each(some, self._labelling(crew, carry, told, out, brush, set()))

    def hearers(self, asks: Sequence[Ask]) -> list[int]:
        """Frames that would hear the answers to some questions."""
        new = {(ask.network, ask.frame) for ask in asks}
        return [t for t, own in enumerate(self._hears(asks)) if not new.isdisjoint(own)]

    def _hears(self, asks: Sequence[Ask] = ()) -> list[list[tuple[str, int]]]:
        """What each frame hears, where some more questions were answered."""
        keys = {name: set(own) for name, own in self.answers.items()}
        for ask in asks:
            keys.setdefault(ask.network, set()).add(ask.frame)
        return heard({name: sorted(own) for name, own in keys.items()}, self.n_frames, self.apart)

    def _labelling(
        self,
        crew: Crew,
        carry: str,
        hears: Sequence[Sequence[tuple[str, int]]],
        out: UInt8,
        brush: "Brush",
        done: set[int],
    ) -> Callable[[int], None]:
        """Labels a frame from what it hears."""
        chains = self._chains(crew, carry, hears)

        def label(t: int) -> None:
            fused, brush.sure[t] = self._fuse(t, hears[t], chains)
            brush.paint(t, fused.probabilities, fused.top, self.frames.get(t), out[t])
            done.add(t)

        return label

    def _again(self, brush: "Brush") -> Iterator[int]:
        """Frames that can yet be painted along their edges."""
        for t in self._in_order(()):
            if t in self.frames and brush.fits_edges(t):
                self.again.add(t)
                yield t

    def _in_order(self, skip: Iterable[int]) -> list[int]:
        left_out = set(skip)
        return [t for t in spread(self.n_frames) if t not in left_out]

    def _copy(self, crew: Crew, network: str, out: UInt8, brush: "Brush") -> tuple[int, ...]:
        own, done = self.answers[network], set()
        self.again, self.again_s = set(), 0.0

        def label(t: int) -> None:
            brush.paint(t, own[t].probabilities, own[t].top, self.frames[t], out[t])
            brush.sure[t] = own[t].sure
            done.add(t)

        crew.each([t for t in self._in_order(brush.skip) if t in own], label, brush.fits)
        self._finish_late(crew, done, out, brush)
        return tuple(sorted(own.keys() - done))

    def _finish_late(self, crew: Crew, done: set[int], out: UInt8, brush: "Brush") -> tuple[int, ...]:
        """Give frames without labels those of the nearest that has some."""
        places, missing = np.array(sorted(done), np.int64), sorted(set(range(self.n_frames)) - done)
        started = time.perf_counter()

        def copy(t: int) -> None:
            nearest = int(places[np.argmin(np.abs(places - t))])
            out[t], brush.sure[t] = out[nearest], brush.sure[nearest]

        crew.each(missing, copy)
        self.copied = len(missing), time.perf_counter() - started
        return tuple(missing)

    def _chains(
        self, crew: Crew, carry: str, hears: Sequence[Sequence[tuple[str, int]]]
    ) -> Mapping[int, Mapping[int, Float32]]:
        """To each key frame, from each frame that hears it."""
        ends: dict[int, tuple[int, int]] = {}
        for t, heard_at in enumerate(hears):
            for _, key in heard_at:
                first, last = ends.get(key, (key, key))
                ends[key] = min(first, t), max(last, t)
        steps, chains = self._steps(carry), {}

        def chain(key: int) -> None:
            chains[key] = _chains_to(key, *ends[key], steps, self.cells)

        crew.each(ends, chain)
        return chains

    def _steps(self, carry: str) -> list[Float32]:
        """Flow to the frame before, of all frames but the first; even over a gap, and none after the last read."""
        decoded, steps = self.decoded, []
        for a, b in pairwise(decoded):
            steps += [self._flows[a, b, carry]] * (b - a)
        still = np.zeros((*self.cells, 2), np.float32)
        return steps + [still] * (self.n_frames - 1 - len(steps))

    def _is_alone(self, t: int, hears: Sequence[tuple[str, int]]) -> bool:
        """Whether a frame hears nothing but the answer about itself."""
        return len(hears) == 1 and hears[0][1] == t

    def _fuse(
        self, t: int, hears: Sequence[tuple[str, int]], chains: Mapping[int, Mapping[int, Float32]]
    ) -> tuple[by.Fused, UInt8]:
        """What a frame is told, and how sure that is."""
        if self._is_alone(t, hears):
            own = self.answers[hears[0][0]][t]
            return by.Fused(own.probabilities, own.top), own.sure
        # A frame that was not read looks like any other.
        blank = np.zeros(self.cells, np.float32)
        grey, is_one, sources = self._greys.get(t, blank), len(self.answers) == 1, []
        for network, key in hears:
            answer, worth = self.answers[network][key], 1.0 if is_one else WORTH.get(network, 1.0)
            weight = worth / (self.apart * abs(key - t) + NEAR)
            seen = blank if t not in self._greys else self._greys[key]
            sources.append(by.Source(answer.probabilities, answer.top, seen, chains[key][t], weight))
        fused = by.fuse(grey, sources)
        nearest = min(hears, key=lambda one: abs(one[1] - t))
        sure: UInt8 = by.sure_of(fused.probabilities, self.answers[nearest[0]][nearest[1]].sure, chains[nearest[1]][t])
        return fused, sure


class Brush(Protocol):
    """Paints frames as long as there is time.

    Attributes
    ----------
    sure : (T, h, w), gets how sure labels are at the cells, 255 for certain
    skip : frames that are to be late
    """

    sure: UInt8
    skip: Sequence[int]

    def fits(self) -> bool:
        """Whether there is time for another frame."""

    def fits_edges(self, t: int) -> bool:
        """Whether there is time to paint a frame again, along its edges."""

    def paint(self, t: int, probabilities: Float32, top: UInt8, frame: UInt8 | None, out: UInt8) -> None:
        """Write the labels of a frame to `out` (H, W); its pixels may not be known."""


def _chains_to(key: int, first: int, last: int, steps: Sequence[Float32], cells: tuple[int, int]) -> dict[int, Float32]:
    chains = {key: np.zeros((*cells, 2), np.float32)}
    for t in range(key + 1, last + 1):
        chains[t] = by.compose(steps[t - 1], 1.0, chains[t - 1])
    for t in range(key - 1, first - 1, -1):
        chains[t] = by.compose(steps[t], -1.0, chains[t + 1])
    return chains
