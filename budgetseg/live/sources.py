"""Where the frames of a stream come from, and how they come to wait for labels.

CaptureFeed     a camera, a stream of the network or a pipe; opened again where it is lost
IteratedFeed    anything that gives frames when they are there, such as a generator around a camera
PacedFeed       a file, each frame at its own time, as if it were live
ScheduledFeed   frames that arrive at stated times of the clock, also of a simulated one
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Protocol

import numpy as np

from budgetseg.errors import VideoError
from budgetseg.live.arrivals import Inbox
from budgetseg.timing.clock import Clock
from budgetseg.types import UInt8
from budgetseg.video import VideoSource
from budgetseg.video.capture import Picture

__all__ = ["CaptureFeed", "Feed", "IteratedFeed", "PacedFeed", "Reconnecting", "ScheduledFeed"]

Open = Callable[[], AbstractContextManager[Iterator[Picture]]]
"""Opens a stream, and gives its frames; VideoError where it cannot be opened, or is lost."""


@dataclass(frozen=True)
class Reconnecting:
    """How a lost stream is opened again.

    Attributes
    ----------
    first_s : seconds before it is tried again; twice as long each time
    longest_s : seconds from one try to the next, at most
    give_up_s : seconds without a frame after which the stream is given up
    """

    first_s: float = 0.5
    longest_s: float = 10.0
    give_up_s: float = 120.0


class Feed(Protocol):
    """The frames of one source.

    Attributes
    ----------
    name : of the source, without passwords
    inbox : frames that wait
    """

    name: str
    inbox: Inbox

    @property
    def state(self) -> str:
        """How the source is, in a word: live, lost, or over."""

    @property
    def error(self) -> Exception | None:
        """Why it ended before its time; None where it did not."""

    def pump(self, now_s: float) -> float:
        """Let frames in that have arrived by now; when to look again, infinity for a feed that wakes the loop."""

    def close(self) -> None:
        """End."""


class _ThreadFeed:
    """A feed with a thread of its own, which puts frames into the inbox.

    Parameters
    ----------
    name : of the source
    inbox : for its frames
    clock : of the loop
    """

    LEAVE_S = 1.0
    """Seconds that `close` waits for the thread: a camera may keep it for longer, and it is left alone then."""

    def __init__(self, name: str, inbox: Inbox, clock: Clock) -> None:
        self.name = name
        self.inbox = inbox
        self.error: Exception | None = None
        self._clock = clock
        self._is_lost = False
        self._stop = Event()
        self._thread = Thread(target=self._work, name=f"feed {name}", daemon=True)

    @property
    def state(self) -> str:
        """How the source is, in a word: live, lost, or over."""
        if self.inbox.is_over:
            return "over"
        return "lost" if self._is_lost else "live"

    def pump(self, now_s: float) -> float:  # noqa: ARG002 - its thread does all
        """Its thread puts frames in as they arrive."""
        return float("inf")

    def close(self) -> None:
        """Let the thread end."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join(self.LEAVE_S)

    def _work(self) -> None:
        try:
            self._run()
        except Exception as error:  # of a user's iterator; the loop raises it
            self.error = error
        finally:
            self.inbox.close()

    def _run(self) -> None:
        raise NotImplementedError


class CaptureFeed(_ThreadFeed):
    """A stream that is opened again, after ever longer waits, where it is lost.

    Parameters
    ----------
    name, inbox, clock : as of every feed
    open_ : opens it
    may_return : whether to open it again; a pipe is over when it ends
    reconnecting : how it is opened again

    Attributes
    ----------
    n_lost : how often it was lost
    """

    def __init__(
        self,
        name: str,
        inbox: Inbox,
        clock: Clock,
        open_: Open,
        *,
        may_return: bool = True,
        reconnecting: Reconnecting | None = None,
    ) -> None:
        super().__init__(name, inbox, clock)
        self.n_lost = 0
        self._open = open_
        self._may_return = may_return
        self._reconnecting = reconnecting or Reconnecting()
        self._pending = open_()
        self._pictures = self._pending.__enter__()  # what cannot be opened at all is an error at once
        self._last_s = clock.now_s()
        self._wait_s = self._reconnecting.first_s
        self._thread.start()

    def _run(self) -> None:
        again: AbstractContextManager[Iterator[Picture]] | None = self._pending
        pictures: Iterator[Picture] | None = self._pictures
        while not self._stop.is_set():
            reason = ""
            try:
                if again is None:
                    again = self._open()
                    pictures = again.__enter__()
                assert pictures is not None
                self._take(pictures)
            except VideoError as error:
                reason = str(error)
            finally:
                if again is not None and pictures is not None:
                    again.__exit__(None, None, None)
                again = pictures = None
            if not self._may_return or self._stop.is_set():
                return
            self._lose(reason)

    def _take(self, pictures: Iterator[Picture]) -> None:
        for picture in pictures:
            if self._stop.is_set():
                return
            self._is_lost = False
            self._last_s = picture.arrived_s
            self._wait_s = self._reconnecting.first_s
            time_s = picture.arrived_s if picture.time_s is None else picture.time_s
            self.inbox.put(picture.arrived_s, time_s, picture.read)

    def _lose(self, reason: str) -> None:
        """Wait before the next try; VideoError where there was no frame for too long."""
        self.n_lost += not self._is_lost
        self._is_lost = True
        silent_s = self._clock.now_s() - self._last_s
        if silent_s > self._reconnecting.give_up_s:
            raise VideoError(f"'{self.name}' gave no frame for {silent_s:.0f} s; {reason or 'it has ended'}")
        until_s = self._clock.now_s() + self._wait_s
        while self._clock.now_s() < until_s and not self._clock.wait(self._stop, until_s - self._clock.now_s()):
            pass
        self._wait_s = min(2 * self._wait_s, self._reconnecting.longest_s)


class IteratedFeed(_ThreadFeed):
    """Frames that an iterator gives when they are there; a frame has arrived when it is given.

    Parameters
    ----------
    name, inbox, clock : as of every feed
    frames : (H, W, 3) uint8, RGB, one after the other, or pairs of a time in seconds and a frame
    """

    def __init__(self, name: str, inbox: Inbox, clock: Clock, frames: Iterable[Any]) -> None:
        super().__init__(name, inbox, clock)
        self._frames = frames
        self._thread.start()

    def _run(self) -> None:
        for given in self._frames:
            now_s = self._clock.now_s()
            time_s, frame = _timed(given, now_s)
            self.inbox.put(now_s, time_s, lambda frame=frame: frame)  # type: ignore[misc]
            if self._stop.is_set():
                return


class PacedFeed(_ThreadFeed):
    """A file as if it were live: each frame arrives at its own time, whether it is decoded by then or not.

    Parameters
    ----------
    video : the file
    inbox, clock : as of every feed
    """

    def __init__(self, video: VideoSource, inbox: Inbox, clock: Clock) -> None:
        super().__init__(video.name, inbox, clock)
        self._video = video
        self._thread.start()

    def _run(self) -> None:
        frames = iter(self._video)
        frame = next(frames, None)
        began_s = self._clock.now_s()
        while frame is not None:
            due_s = began_s + frame.time_s
            while (left_s := due_s - self._clock.now_s()) > 0:
                if self._clock.wait(self._stop, left_s):
                    return
            pixels = frame.pixels
            self.inbox.put(due_s, frame.time_s, lambda pixels=pixels: pixels)  # type: ignore[misc]
            if self._stop.is_set():
                return
            frame = next(frames, None)


class ScheduledFeed:
    """Frames that arrive at stated times of the clock: a camera that is simulated.

    Parameters
    ----------
    name : of the source
    inbox : for its frames
    frames : times of the clock, in seconds, and frames (H, W, 3)
    """

    error = None

    def __init__(self, name: str, inbox: Inbox, frames: Iterable[tuple[float, UInt8]]) -> None:
        self.name = name
        self.inbox = inbox
        self._frames = iter(frames)
        self._next = next(self._frames, None)

    @property
    def state(self) -> str:
        """How the source is, in a word: live or over."""
        return "over" if self.inbox.is_over else "live"

    def pump(self, now_s: float) -> float:
        """Let frames in that have arrived by now; when the next one does."""
        while self._next is not None and self._next[0] <= now_s:
            time_s, frame = self._next
            self.inbox.put(time_s, time_s, lambda frame=frame: frame)  # type: ignore[misc]
            self._next = next(self._frames, None)
        if self._next is None:
            if not self.inbox.is_over:
                self.inbox.close()
            return float("inf")
        return self._next[0]

    def close(self) -> None:
        """Nothing to end."""


def _timed(given: Any, now_s: float) -> tuple[float, UInt8]:
    """A time and a frame from what a user's iterator gives; VideoError where it is neither."""
    is_pair = isinstance(given, tuple | list) and len(given) == 2
    time_s, frame = given if is_pair else (now_s, given)
    pixels = np.asarray(frame)
    if pixels.ndim != 3 or pixels.shape[2] != 3 or pixels.dtype != np.uint8 or 0 in pixels.shape:
        raise VideoError(
            f"a frame has shape {pixels.shape} and type {pixels.dtype}; give frames (H, W, 3) uint8, red first, or "
            "pairs of a time and a frame"
        )
    return float(time_s), pixels
