"""Which frames of a window are read: every so many, and fewer where time is short."""

from bisect import bisect_left
from collections.abc import Callable, Sequence
from typing import NamedTuple

from budgetseg.frames.costs import WindowCosts
from budgetseg.frames.evidence import Evidence
from budgetseg.frames.plan import STRIDES
from budgetseg.frames.reader import Reader
from budgetseg.inference.ledger import Ledger

__all__ = ["SEARCH", "Reading", "Rest"]

FIRST = 4
"""Frames for each thread after which it is looked whether reading is in time."""
CLEARLY = 1.25
"""So many times the time that is left must reading take, before frames that need others are left out."""
SEARCH = 0.25
"""Share of the time that is left in which a file is looked through for those that need none."""
SPARSE = "no time to decode all frames: only those that need no others were read"


class Rest(NamedTuple):
    """What is left of a video from a window on.

    Attributes
    ----------
    deadline_s : when labels of all of it must be there, seconds since the clock started
    n_frames : of it
    """

    deadline_s: float
    n_frames: int


class Reading:
    """Reads a window under the clock.

    Parameters
    ----------
    reader : of the video
    evidence : where frames go
    span : numbers of the window's frames in the video
    costs : of the window
    ledger : of the window
    threads : that read
    now_s : seconds since the clock started
    stopped : ends it early

    Attributes
    ----------
    numbers : in the window, in the order in which frames were read
    stride : every so many frames were; 0 before any
    is_done : all that is to be read for this budget was
    """

    def __init__(
        self,
        reader: Reader,
        evidence: Evidence,
        span: range,
        costs: WindowCosts,
        ledger: Ledger,
        threads: int,
        now_s: Callable[[], float],
        stopped: Callable[[], bool],
    ) -> None:
        self.numbers: list[int] = []
        self.stride, self.is_done = 0, False
        self._reader, self._evidence, self._span, self._costs = reader, evidence, span, costs
        self._ledger, self._n_first, self._now_s, self._stopped = ledger, FIRST * threads, now_s, stopped

    @property
    def strides(self) -> Sequence[int]:
        """Every how many frames one may be read."""
        if self._reader.alone is not None:
            return [self._gap]
        if self.is_done:
            return [self.stride]
        strides: Sequence[int] = STRIDES if self._reader.can_skip else STRIDES[:1]
        return [stride for stride in strides if self.stride % stride == 0]

    @property
    def is_sparse(self) -> bool:
        """Whether frames that are read are too far apart for flow."""
        return self._reader.alone is not None and self._gap > STRIDES[-1]

    @property
    def _gap(self) -> int:
        """Frames to each that is read, where only those are that decode alone."""
        return max(1, len(self._span) // max(len(self.missing(1)) + len(self._evidence.frames), 1))

    def missing(self, stride: int) -> list[int]:
        """Frames to read so that there is one every so many, and the last; or all those that decode alone."""
        n, alone, first = len(self._span), self._reader.alone, self._span.start
        wanted = sorted({*range(0, n, stride), n - 1})
        if alone is not None:
            wanted = [number - first for number in alone[bisect_left(alone, first) : bisect_left(alone, first + n)]]
        return [t for t in wanted if t not in self._evidence.frames]

    def seconds(self, stride: int) -> float:
        """That reading every so many frames would take."""
        return 0.0 if self.is_done else self._costs.decode_s(len(self.missing(stride)))

    def again(self, numbers: Sequence[int]) -> None:
        """Read what another run has read, in its order; nobody looks at a clock."""
        new = [t for t in numbers if t not in self._evidence.frames]
        if not new:
            return
        wanted = [self._span.start + t for t in sorted(new)]
        is_whole = wanted[-1] - wanted[0] == len(wanted) - 1
        if not is_whole and self._reader.may_leave_out:
            self._reader.leave_out(self._span)  # as that run did
        for number, pixels in self._reader.read(wanted):
            self._evidence.frames[number - self._span.start] = pixels
        self.numbers += new
        self.stride = _stride_of(self._evidence.decoded)

    def read(self, stride: int, end_s: float, least_s: float, rest: Rest | None) -> float:
        """Read every so many frames, as long as `least_s` are left to label them; when labels must be there.

        That may be later than `end_s` where frames that need others are left out, which only happens with a `rest`:
        it holds for all of that.
        """
        wanted, n_before, reader = self.missing(stride), len(self.numbers), self._reader
        self.stride, n_wanted = stride, len(wanted)
        while wanted:
            may_leave_out = rest is not None and reader.may_leave_out
            missed = self._read_in_time(wanted, end_s - least_s, may_leave_out)
            if self._stopped() or self._now_s() > end_s - least_s:
                break
            if reader.can_skip:
                wanted = missed[1::2]
            elif rest is None or not missed or not may_leave_out:
                break
            elif self._leave_out(missed[0], rest):
                wanted, end_s = self.missing(stride), max(end_s, self._now_s() + self._share_s(rest))
            else:
                wanted = missed
        self.is_done = True
        n_left_out = n_wanted - (len(self.numbers) - n_before)
        if reader.alone is not None:
            self._ledger.note(SPARSE)
        elif n_left_out > 0 and not self._stopped():
            self._ledger.note(f"reading took longer than foretold: {n_left_out} frames were left out")
        return end_s

    def _leave_out(self, first: int, rest: Rest) -> bool:
        """Whether frames that need others are, from now on, since some that need none come after the first."""
        until_s = self._now_s() + SEARCH * (rest.deadline_s - self._now_s())
        numbers = range(self._span.start + first, self._span.start + rest.n_frames)
        return self._reader.leave_out(numbers, lambda: self._now_s() > until_s)

    def _share_s(self, rest: Rest) -> float:
        """Seconds that this window has of those that are left for all."""
        return (rest.deadline_s - self._now_s()) * len(self._span) / rest.n_frames

    def _read_in_time(self, wanted: list[int], until_s: float, may_leave_out: bool) -> list[int]:
        """Read frames as long as all of them are likely to be there in time, and learn what that costs; the others."""
        first, started, n_before = self._span.start, self._now_s(), self._reader.n_decoded
        numbers, missed = [first + t for t in wanted], []
        for k, (number, pixels) in enumerate(self._reader.read(numbers, lambda: self._now_s() > until_s), 1):
            self._evidence.frames[number - first] = pixels
            self.numbers.append(number - first)
            each_s = (self._now_s() - started) / k
            n_to_go = max(self._to_go(k, len(wanted), may_leave_out), 1.0)
            if self._now_s() + each_s * n_to_go > until_s or self._stopped():
                missed = [t for t in wanted if t > number - first]
                break
        self._costs.decoded(self._reader.n_decoded - n_before, self._now_s() - started)
        return missed

    def _to_go(self, n_read: int, n_wanted: int, may_leave_out: bool) -> float:
        """Frames for which there must be time to read them, when some were; none, before these tell how long it takes.

        Where none can be left out it must be clear that there is no time: then only those that decode alone are read.
        """
        if n_read < self._n_first:
            return 0.0
        if self._reader.can_skip:
            return float(n_wanted - n_read)
        is_telling = may_leave_out and 8 * n_read >= n_wanted
        return (n_wanted - n_read) / CLEARLY if is_telling else 0.0


def _stride_of(decoded: Sequence[int]) -> int:
    """The longest of our strides that has all of these frames, the last aside."""
    inner = decoded[:-1] or decoded
    return max(stride for stride in STRIDES if all(t % stride == 0 for t in inner))
