"""The pictures of a window: frames that were read, and what has changed from one to the next."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from budgetseg.engine.plan import STRIDES
from budgetseg.engine.threads import for_each
from budgetseg.engine.window import Window
from budgetseg.propagate.cells import grey_cells, reduced, step_flow
from budgetseg.propagate.order import key_frames, spread
from budgetseg.propagate.timeline import Timeline, change
from budgetseg.spaces.frames.costs import COPY, FLOW, FrameCosts
from budgetseg.timing.ledger import Account
from budgetseg.types import Float32, UInt8

if TYPE_CHECKING:
    from budgetseg.spaces.frames.space import Frames

__all__ = ["Footage"]

Pair = tuple[int, int]
"""Numbers of two frames that were read, none between them."""


class Footage:
    """Frames of a window, by their number in it, with flow and change between neighbours.

    Parameters
    ----------
    space : labels the window
    window : which frames
    rate : of the video, frames a second
    account : clock, prices and ledger
    costs : of the window

    Attributes
    ----------
    frames : (H, W, 3) each, those that were read
    read : their numbers, in the order in which they were read
    """

    def __init__(self, space: "Frames", window: Window, rate: float, account: Account, costs: FrameCosts) -> None:
        self.frames: dict[int, UInt8] = {}
        self.read: list[int] = []
        self._space = space
        self._window = window
        self._rate = rate
        self._account = account
        self._costs = costs
        self._flows: dict[Pair, Float32] = {}
        self._changes: dict[tuple[str, Pair], float] = {}
        self._small: dict[int, UInt8] = {}
        self._greys: dict[int, Float32] = {}
        self._timelines: dict[tuple[str, int], Timeline] = {}
        self._probed: list[Pair] | None = None
        self._is_read = False  # one frame in some stride; more than the pairs that were probed
        self._looked = 0
        self._frame_s = 0.0  # that a frame took to read here

    @property
    def n_frames(self) -> int:
        """Frames of the window that the video promises."""
        return len(self._window.span)

    def numbers(self) -> list[int]:
        """Numbers of the frames that were read, rising."""
        return sorted(self.frames)

    def places(self) -> Sequence[int]:
        """Numbers of the frames that may be asked about: those that were read, or all where any can be read alone."""
        return (self.frames and self.places_to_read()) or self.numbers()

    def places_to_read(self) -> Sequence[int]:
        """Numbers of the frames that can be read in any order; none where all before them must be decoded."""
        reader = self._window.reader
        return range(self.n_frames) if reader.can_skip and reader.alone is None else ()

    def fetch_s(self, number: int) -> float:
        """Predicted seconds of one thread until a frame is there, 0 where it was read."""
        if number in self.frames:
            return 0.0
        reader, prices = self._window.reader, self._space.prices
        together_s = max(reader.predict_s(prices, 1), self._frame_s)
        return max(prices.predict(reader.fetch_key, reader.work(1)), self._costs.threads * together_s)

    def alone_s(self) -> float:
        """Predicted seconds to read any one frame, while all threads do; infinity where that cannot be."""
        reader = self._window.reader
        if not reader.can_skip or reader.alone is not None:
            return np.inf
        return max(reader.predict_s(self._space.prices, 1), self._frame_s)

    # Reading

    def strides(self, stride: int) -> Sequence[int]:
        """Every how many frames one may be read, where so far every `stride` frames one was."""
        reader = self._window.reader
        if reader.alone is not None:
            n = len(self.missing(1)) + len(self.frames)
            return [max(1, self.n_frames // max(n, 1))]
        if not reader.can_skip:
            return STRIDES[:1]
        return [finer for finer in STRIDES if stride % finer == 0] if self._is_read else STRIDES

    @property
    def is_sparse(self) -> bool:
        """Whether only frames that decode without others are read, and these lie too far from each other for flow."""
        return self._window.reader.alone is not None and self.strides(1)[0] > STRIDES[-1]

    def missing(self, stride: int) -> list[int]:
        """Frames to read so that there is one every `stride`, and the last; coarse to fine where any order will do."""
        n, reader, first = self.n_frames, self._window.reader, self._window.span.start
        if reader.alone is not None:
            inside = [number - first for number in reader.alone if first <= number < first + n]
            return [t for t in inside if t not in self.frames]
        wanted = sorted({*range(0, n, stride), n - 1})
        if reader.can_skip:
            wanted = [wanted[k] for k in spread(len(wanted))]
        return [t for t in wanted if t not in self.frames]

    def read_s(self, stride: int) -> float:
        """Predicted seconds to read what is missing."""
        return self._window.reader.predict_s(self._space.prices, len(self.missing(stride)))

    def n_read(self, strides: Sequence[int]) -> dict[int, int]:
        """By stride, how many frames will have been read with it."""
        return {stride: len(self.frames) + len(self.missing(stride)) for stride in strides}

    def read_every(self, stride: int, until_s: float, last_s: float) -> None:
        """Read one frame in `stride`, as long as there is time to label them.

        Where there is no time for all even at the largest budget, which ends reading at `last_s`, only frames are read
        from then on that decode without others.
        """
        wanted = self.missing(stride)
        self._is_read = True
        n_read, is_late = self._read_some(wanted, until_s, last_s)
        rest = range(max(self.read, default=-1) + 1, self.n_frames)
        if n_read < len(wanted) and not is_late:
            self.leave_out(rest, until_s)
            wanted = self.missing(stride)
            n_read, is_late = self._read_some(wanted, until_s, last_s)
        if is_late and not self._account.stopped():
            self._account.ledger.count("reading took too long: {} left out", len(wanted) - n_read)
        if self._window.reader.alone is not None:
            self._account.ledger.note("no time to decode all frames: only frames that decode without others were read")

    def read_again(self, numbers: Sequence[int]) -> None:
        """Read frames as another run did, however long it takes."""
        wanted = [t for t in numbers if t not in self.frames]
        reader, first = self._window.reader, self._window.span.start
        places = sorted(first + t for t in wanted)
        if wanted and places[-1] - places[0] != len(places) - 1 and reader.may_leave_out:
            reader.leave_out(self._window.span)  # as that run did
        for number, pixels in reader.read(places):
            self.frames[number - first] = pixels
        self.read += wanted

    def leave_out(self, numbers: range, end_s: float) -> bool:
        """Read only frames from now on that decode without others; False where none of `numbers` does."""
        reader, clock, first = self._window.reader, self._account.clock, self._window.span.start
        if not reader.may_leave_out:
            return False
        until_s = clock.now_s() + self._space.settings.search * (end_s - clock.now_s())
        return reader.leave_out(range(first + numbers.start, first + numbers.stop), lambda: clock.now_s() > until_s)

    def _read_some(self, wanted: Sequence[int], until_s: float, last_s: float) -> tuple[int, bool]:
        """Read frames until a time, or until it is clear that there is no time for all of them by `last_s`.

        How many were read, and whether there is no time for another one.
        """
        reader, clock, first = self._window.reader, self._account.clock, self._window.span.start
        settings = self._space.settings
        began_s = clock.now_s()
        n_before = reader.n_decoded
        n, is_late = 0, False
        found = reader.read([first + t for t in wanted], lambda: clock.now_s() > until_s or self._account.stopped())
        for n, (number, pixels) in enumerate(found, 1):
            self.frames[number - first] = pixels
            self.read.append(number - first)
            clock.charge(reader.predict_s(self._space.prices, 1))
            now_s = clock.now_s()
            frame_s = (now_s - began_s) / n
            if n < len(wanted) and (now_s + frame_s > until_s or self._account.stopped()):
                is_late = True
                break
            rest_s = frame_s * (len(wanted) - n)
            is_telling = reader.may_leave_out and n >= settings.telling * len(wanted)
            if is_telling and now_s + rest_s / settings.clearly > last_s:
                break
        n_decoded = reader.n_decoded - n_before
        if n_decoded:
            self._frame_s = (clock.now_s() - began_s) / n_decoded
            self._account.book("decode", reader.work(n_decoded), clock.now_s() - began_s, reader.key)
        is_late |= n < len(wanted) and clock.now_s() > until_s
        return n, is_late

    def entry(self, end_s: float) -> int | None:
        """A frame near the middle of the window that can be read before all others, by `end_s`; None for none."""
        clock = self._account.clock
        found = self._window.reader.entry(self._window.span, lambda: clock.now_s() > end_s)
        return None if found is None else found - self._window.span.start

    def frame(self, number: int) -> UInt8:
        """A frame (H, W, 3), that was read or is read now; LookupError where it is not there. It is not kept."""
        if number in self.frames:
            return self.frames[number]
        reader, account, threads = self._window.reader, self._account, self._costs.threads
        price_s = self.fetch_s(number)
        began_s = account.clock.now_s()
        found = reader.fetch(self._window.span.start + number)
        account.clock.charge(price_s)
        spent_s = account.clock.now_s() - began_s
        account.ledger.book_stage("decode", price_s / threads, spent_s / threads)  # others read meanwhile
        account.prices.look()
        account.prices.observe_stage(reader.fetch_key, reader.work(1), spent_s)
        if found is None:
            raise LookupError(f"frame {number} of the window cannot be read")
        return found

    # Flow

    def n_pairs(self, stride: int | None = None) -> int:
        """Neighbours without flow, once one frame in `stride` was read; None for those that were read."""
        more = self.missing(stride) if stride else ()
        return sum(pair not in self._flows for pair in pairwise(sorted({*self.frames, *more})))

    def find_flow(self, until_s: float) -> bool:
        """Find flow between neighbouring frames; False where there was no time for all of it."""
        pairs = [pair for pair in pairwise(self.numbers()) if pair not in self._flows]
        if not pairs:
            return True
        clock = self._account.clock
        began_s = clock.now_s()
        n_done = self._find_flows(pairs, until_s)
        self._costs.book(self._account, "flow", n_done * self._costs.flow_work, clock.now_s() - began_s)
        return n_done == len(pairs)

    def _find_flows(self, pairs: Sequence[Pair], until_s: float) -> int:
        """Find flow as long as there is time for one more, and it is not clear that there is none for all; how many."""
        clock, settings, threads = self._account.clock, self._space.settings, self._costs.threads
        price_s = self._costs.flow_s(1)
        n_begun, n_done, spent_s = 0, 0, 0.0

        def find(pair: Pair) -> None:
            nonlocal n_done, spent_s
            before_s = clock.now_s()
            self._find(pair)
            clock.charge(price_s)
            spent_s += clock.now_s() - before_s
            n_done += 1

        def fits() -> bool:
            nonlocal n_begun
            each_s = max(threads * price_s, spent_s / max(n_done, 1))
            rest_s = each_s * (len(pairs) - n_begun) / threads
            is_telling = n_done >= settings.telling * len(pairs)
            n_begun += 1
            if clock.now_s() + each_s > until_s or self._account.stopped():
                return False
            return not is_telling or clock.now_s() + rest_s / settings.clearly <= until_s

        return for_each(pairs, find, threads, fits)

    def _find(self, pair: Pair) -> None:
        """Flow from the later of two frames to the earlier, for each frame between them, and the change along it."""
        earlier, later = pair
        flow = step_flow(self._reduced(later), self._reduced(earlier), self._space.cells)
        self._changes[FLOW, pair] = change(self.grey(later), self.grey(earlier), flow)
        self._flows[pair] = flow / np.float32(later - earlier)

    def steps(self) -> list[Float32]:
        """Flow from each frame but the first to the one before; even over a gap, and none after the last read."""
        steps: list[Float32] = []
        for a, b in pairwise(self.numbers()):
            steps += [self._flows[a, b]] * (b - a)
        still = np.zeros((*self._space.cells, 2), np.float32)
        first = min(self.frames)
        return [still] * first + steps + [still] * (self.n_frames - 1 - first - len(steps))

    # What has changed

    def timeline(self, carry: str) -> Timeline:
        """Positions of all frames of the window, by what is known: change along flow, plain change, or some pairs."""
        known_by = ""
        if self.frames and self._looked == len(self.frames):
            known_by = COPY
        if carry == FLOW and self.frames and not self.n_pairs():
            known_by = FLOW
        if not known_by:
            step = self._usual_step(carry)
            return Timeline.even(self.n_frames, step)
        at = known_by, len(self.frames)
        if at not in self._timelines:
            self._timelines[at] = self._measure(known_by)
        return self._timelines[at]

    def step(self) -> float:
        """The mean distance between neighbouring frames along flow, as far as it is known."""
        settings = self._space.settings
        if self._looked == len(self.frames) and self.n_pairs():
            return max(self._flow_share() * self.timeline(COPY).step, settings.distances.least)
        return self.timeline(FLOW).step

    def _flow_share(self) -> float:
        """The distance between neighbours along flow, as a share of that without, by the pairs that were probed."""
        if not self._probed:
            return self._space.settings.flow_share
        return self._usual_step(FLOW) / self._usual_step(COPY)

    def _usual_step(self, carry: str) -> float:
        """The mean distance between neighbours of the pairs that were probed; without any, by the rate of the video."""
        distances = self._space.settings.distances
        if not self._probed:
            return distances.by_rate(self._rate)
        steps = [distances.step(self._changes[carry, pair], pair[1] - pair[0]) for pair in self._probed]
        return sum(steps) / sum(b - a for a, b in self._probed)

    def probe(self, end_s: float) -> None:
        """Compare a few pairs of neighbours plainly and along flow, before all of it is paid for.

        That shows how much of what changes is motion that flow follows. Where frames can be read in any order, the
        pairs are read; elsewhere they are of frames that were read. Nothing is done where it takes much of the time.
        """
        pairs = self._spread_pairs() if self._probed is None else []
        missing = [t for pair in pairs for t in pair if t not in self.frames]
        reader, settings = self._window.reader, self._space.settings
        clock = self._account.clock
        price_s = reader.predict_s(self._space.prices, len(missing)) + self._costs.flow_s(len(pairs))
        price_s += self._costs.look_s(len(pairs))
        until_s = clock.now_s() + settings.look_share * (end_s - clock.now_s())
        if not pairs or clock.now_s() + price_s > until_s:
            return
        self._read_some(missing, until_s, until_s)
        pairs = [pair for pair in pairs if pair[0] in self.frames and pair[1] in self.frames]
        began_s = clock.now_s()
        n_done = self._find_flows(pairs, until_s)
        self._costs.book(self._account, "flow", n_done * self._costs.flow_work, clock.now_s() - began_s)
        found = [pair for pair in pairs if pair in self._flows]
        is_cut = [self._change(COPY, pair) > settings.distances.cut for pair in found]
        self._probed = [pair for pair, cut in zip(found, is_cut, strict=True) if not cut]

    def _spread_pairs(self) -> list[Pair]:
        """A few pairs of neighbours, spread over the window."""
        pairs = list(pairwise(self.numbers()))
        if not self.frames and len(self.places_to_read()) > 1:
            pairs = list(pairwise(self.places_to_read()))
        return [pairs[k] for k in key_frames(len(pairs), min(self._space.settings.probes, len(pairs)))]

    def look(self, end_s: float) -> None:
        """Compare neighbouring frames as they are, which shows cuts; not where that takes much of the time left."""
        n_new = len(self.frames) - self._looked
        clock = self._account.clock
        began_s = clock.now_s()
        price_s = self._costs.look_s(n_new)
        if not n_new or price_s > self._space.settings.look_share * (end_s - began_s):
            return
        for_each(self.numbers(), self.grey, self._costs.threads)
        for pair in pairwise(self.numbers()):
            self._change(COPY, pair)
        self._looked = len(self.frames)
        clock.charge(price_s)
        self._costs.book(self._account, "looking", n_new * self._costs.n_pixels, clock.now_s() - began_s)

    def _measure(self, carry: str) -> Timeline:
        settings, numbers = self._space.settings.distances, self.numbers()
        changes = [self._change(carry, pair) for pair in pairwise(numbers)]
        return settings.timeline(self.n_frames, numbers, changes)

    def _change(self, carry: str, pair: Pair) -> float:
        """The change between two neighbours; along flow it was found together with that."""
        if (carry, pair) not in self._changes:
            self._changes[carry, pair] = change(self.grey(pair[1]), self.grey(pair[0]))
        return self._changes[carry, pair]

    def grey(self, number: int) -> Float32:
        """Grey of a frame that was read, in cells (h, w)."""
        grey = self._greys.get(number)
        if grey is None:
            grey = self._greys[number] = grey_cells(self._reduced(number), self._space.cells)
        return grey

    def _reduced(self, number: int) -> UInt8:
        small = self._small.get(number)
        if small is None:
            small = reduced(self.frames[number], self._space.settings.propagation.flow_pixels)
            self._small[number] = small
        return small
