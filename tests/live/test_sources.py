"""Sources: what is lost is opened again, what ends is over, and nothing waits for the loop."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from threading import Event

import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.live.arrivals import Inbox
from budgetseg.live.sources import CaptureFeed, IteratedFeed, PacedFeed, Reconnecting, ScheduledFeed
from budgetseg.timing.clock import Clock, ManualClock, WallClock
from budgetseg.types import UInt8
from budgetseg.video import VideoSource
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.capture import Picture
from budgetseg.video.core import Span
from tests.spaces.clocks import LONG_S


def black() -> UInt8:
    return np.zeros((4, 4, 3), np.uint8)


class Moving(ManualClock):
    """A clock that is moved by whoever waits for it."""

    def __init__(self) -> None:
        super().__init__()
        self.waits: list[float] = []

    def wait(self, event: Event, seconds: float) -> bool:
        """Let the time pass at once."""
        self.waits.append(seconds)
        self.advance(seconds)
        return event.is_set()


class Line:
    """A stream that gives some frames each time that it is opened, or cannot be opened.

    Parameters
    ----------
    clock : moves on by a second with each frame
    opened : frames of each time; None where it cannot be opened. After the last one it can no more
    """

    def __init__(self, clock: Moving, opened: Sequence[int | None]) -> None:
        self.n_opened = 0
        self._clock = clock
        self._left = iter(opened)

    @contextmanager
    def __call__(self) -> Iterator[Iterator[Picture]]:
        n = next(self._left, None)
        if n is None:
            raise VideoError("connection refused")
        self.n_opened += 1
        yield self._pictures(n)

    def _pictures(self, n: int) -> Iterator[Picture]:
        for _ in range(n):
            self._clock.advance(1.0)
            yield Picture(self._clock.now_s(), None, black)
        raise VideoError("it is lost")


def over(feed: CaptureFeed | IteratedFeed | PacedFeed) -> None:
    """Wait until a feed has ended."""
    clock = WallClock()
    while not feed.inbox.is_over:
        assert clock.now_s() < LONG_S, "the feed does not end"


def capture(opened: Sequence[int | None], **how: bool) -> tuple[CaptureFeed, Line, Moving]:
    clock = Moving()
    line = Line(clock, opened)
    feed = CaptureFeed("cam", Inbox(8), clock, line, reconnecting=Reconnecting(0.5, 4.0, 30.0), **how)
    over(feed)
    return feed, line, clock


def test_a_lost_stream_is_opened_again_after_ever_longer_waits_and_given_up_in_the_end() -> None:
    feed, line, clock = capture([3, 2, None, 5])
    assert line.n_opened == 3
    assert feed.inbox.n_arrived == 10
    assert feed.n_lost == 3
    assert clock.waits[:3] == [0.5, 0.5, 1.0]
    assert clock.waits[3:8] == [0.5, 1.0, 2.0, 4.0, 4.0]
    assert "gave no frame for" in str(feed.error)
    assert "connection refused" in str(feed.error)


def test_a_pipe_is_over_when_it_ends() -> None:
    feed, line, _ = capture([3], may_return=False)
    assert line.n_opened == 1
    assert feed.error is None
    assert feed.state == "over"


def test_what_cannot_be_opened_at_all_is_an_error_at_once() -> None:
    with pytest.raises(VideoError, match="connection refused"):
        capture([None])


def test_frames_of_an_iterator_arrive_when_they_are_given() -> None:
    clock = ManualClock()

    def given() -> Iterator[tuple[float, UInt8]]:
        for k in range(3):
            clock.advance(2.0)
            yield 100.0 * k, black()

    feed = IteratedFeed("frames", Inbox(8), clock, given())
    over(feed)
    taken = [feed.inbox.take(0.0, 0.0, 1.0) for _ in range(3)]
    assert [(own.arrived_s, own.time_s) for own in taken if own] == [(2.0, 0.0), (4.0, 100.0), (6.0, 200.0)]


def test_what_is_no_frame_ends_an_iterator_with_a_line() -> None:
    feed = IteratedFeed("frames", Inbox(8), WallClock(), [np.zeros((4, 4), np.uint8)])
    over(feed)
    assert "give frames (H, W, 3) uint8" in str(feed.error)


def paced(clock: Clock, n: int, rate: float) -> PacedFeed:
    frames = np.zeros((n, 4, 4, 3), np.uint8)
    return PacedFeed(VideoSource(ArrayClip(frames, rate), Span(), (4, 4)), Inbox(64), clock)


def test_frames_of_a_file_arrive_at_their_own_times() -> None:
    clock = Moving()
    feed = paced(clock, 20, 10.0)
    over(feed)
    arrived = [own.arrived_s for _ in range(20) if (own := feed.inbox.take(0.0, 0.0, 1.0))]
    assert arrived == pytest.approx(np.arange(20) / 10)
    assert clock.now_s() == pytest.approx(1.9)


def test_a_file_that_is_decoded_too_late_has_frames_that_are_older() -> None:
    class Slow(Moving):
        """A clock on which each look takes a second: more than there is from frame to frame."""

        def now_s(self) -> float:
            self.advance(1.0)
            return super().now_s()

    feed = paced(Slow(), 5, 10.0)
    over(feed)
    arrived = [own.arrived_s for _ in range(5) if (own := feed.inbox.take(0.0, 0.0, 1.0))]
    assert np.diff(arrived) == pytest.approx(0.1)


def test_a_schedule_is_kept_by_any_clock() -> None:
    feed = ScheduledFeed("cam", Inbox(8), ((k / 2, black()) for k in range(3)))
    assert feed.pump(0.0) == 0.5
    assert feed.inbox.n_arrived == 1
    assert feed.pump(0.7) == 1.0
    assert feed.inbox.n_arrived == 2
    assert feed.pump(5.0) == float("inf")
    assert feed.inbox.is_over
