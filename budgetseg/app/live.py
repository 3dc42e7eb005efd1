"""Label streams: from what a user gives as a source to frames with labels, shown and kept."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Any, TypeAlias

from budgetseg.app.backends import choices_of
from budgetseg.engine.threads import one_thread_each
from budgetseg.errors import UsageError, VideoError
from budgetseg.live.arrivals import Inbox
from budgetseg.live.ask import ThreadAsker
from budgetseg.live.loop import Live, LiveFrame
from budgetseg.live.page import Page
from budgetseg.live.record import Recorder
from budgetseg.live.settings import LiveSettings
from budgetseg.live.sources import CaptureFeed, Feed, IteratedFeed, PacedFeed
from budgetseg.live.status import Status, numbers_of
from budgetseg.spaces.frames.space import Frames
from budgetseg.timing.clock import Clock, WallClock
from budgetseg.types import Classes, UInt8
from budgetseg.video import VideoSource, open_video
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.capture import Address, captured, is_address
from budgetseg.video.core import Span

if TYPE_CHECKING:
    from budgetseg.app.model import LoadedModel

__all__ = ["Camera", "LiveOrder", "ledger_of", "live_of", "watch"]

Camera: TypeAlias = "str | Path | int | VideoSource | Iterable[Any]"
"""A device number or path, a URL, - for a pipe, a file, or what gives frames, or pairs of a time and a frame."""


@dataclass(frozen=True)
class LiveOrder:
    """How streams are to be labelled.

    Attributes
    ----------
    latency_s : from the arrival of a frame to its labels, at most
    fps : frames a second of a source that are labelled, at most; None for all
    as_if_live : whether files are paced at their own rate; without it they are refused
    limit_s : seconds after which the streams end
    settings : how streams are labelled
    """

    latency_s: float = 0.1
    fps: float | None = None
    as_if_live: bool = False
    limit_s: float = float("inf")
    settings: LiveSettings = field(default_factory=LiveSettings)

    def __post_init__(self) -> None:
        if not 0 < self.latency_s < float("inf"):
            raise UsageError(f"latency must be more than 0 seconds. Got {self.latency_s:g}; for example 0.1")
        if self.fps is not None and not 0 < self.fps < float("inf"):
            raise UsageError(f"fps must be more than 0. Got {self.fps:g}; for example 10")


def live_of(
    model: "LoadedModel",
    sources: Sequence[Camera],
    order: LiveOrder,
    stopped: Callable[[], bool] = lambda: False,
    clock: Clock | None = None,
) -> Live:
    """The loop that labels sources by a model. Errors of sources that cannot be opened are raised here.

    Parameters
    ----------
    model : that labels
    sources : at least one
    order : how they are to be labelled
    stopped : ends the streams once it returns True
    clock : of the loop; None for the system's
    """
    if not sources:
        raise UsageError("no source is given; give a camera, a stream, or a file with --as-if-live")
    if not model.networks:
        raise UsageError("the model has no network for its classes, and streams are labelled by networks alone")
    clock = clock or WallClock()
    wake = Event()
    feeds: list[Feed] = []
    try:
        for source in sources:
            inbox = Inbox(order.settings.waiting, wake, order.fps or float("inf"), order.settings.pace_weight)
            feeds.append(_feed_of(model, source, order, inbox, clock))
    except BaseException:
        for feed in feeds:
            feed.close()
        raise
    beside = max(model.threads - 1, 1)
    return Live(
        feeds,
        lambda frame: _space_for(model, frame),
        order.latency_s,
        clock,
        ThreadAsker(clock, beside, wake, order.settings.nice),
        wake=wake,
        settings=order.settings,
        beside=beside,
        limit_s=order.limit_s,
        stopped=stopped,
    )


def _space_for(model: "LoadedModel", frame: UInt8) -> Frames:
    """The networks for frames like this one; back ends are measured on it, once on a machine."""
    size = (frame.shape[1], frame.shape[0])
    space = model.frames_for(size, VideoSource(ArrayClip(frame[None]), Span(), size))
    assert space is not None
    return space


def _feed_of(model: "LoadedModel", source: Camera, order: LiveOrder, inbox: Inbox, clock: Clock) -> Feed:
    """The feed behind what a user gives."""
    if isinstance(source, int) or (isinstance(source, str) and is_address(source)):
        return _captured(Address.of(str(source)), inbox, clock)
    if isinstance(source, Path) and is_address(str(source)):
        return _captured(Address.of(str(source)), inbox, clock)
    if isinstance(source, str | Path | VideoSource):
        return _paced(model, source, order, inbox, clock)
    if isinstance(source, Iterable):
        return IteratedFeed("frames", inbox, clock, source)
    raise UsageError(f"a source cannot be an object of type {type(source).__name__}; give an address or an iterator")


def _captured(address: Address, inbox: Inbox, clock: Clock) -> Feed:
    return CaptureFeed(
        address.name, inbox, clock, lambda: captured(address, clock.now_s), may_return=address.may_return
    )


def _paced(
    model: "LoadedModel", source: str | Path | VideoSource, order: LiveOrder, inbox: Inbox, clock: Clock
) -> Feed:
    """A file as if it were live; the networks are made ready first, so that its first frames are not missed."""
    if not order.as_if_live:
        name = source.name if isinstance(source, VideoSource) else source
        if not isinstance(source, VideoSource) and not Path(source).exists():
            raise VideoError(f"no camera, stream or file '{name}'; check the name")
        raise VideoError(
            f"'{name}' is a file; add --as-if-live (as_if_live=True) to pace it at its own rate, or use 'label'"
        )
    video = source if isinstance(source, VideoSource) else open_video(source)
    model.frames_for((video.width, video.height), video)
    return PacedFeed(video, inbox, clock)


def frames_of(loop: Live) -> Iterator[LiveFrame]:
    """Frames of a loop with their labels, while OpenCV runs one thread for each of ours."""
    with one_thread_each():
        yield from loop


def watch(
    loop: Live,
    status: Status,
    clock: Clock,
    tell: Callable[[dict[str, Any]], None],
    page: Page | None = None,
    recorder: Recorder | None = None,
) -> None:
    """Label streams to their end, show and keep the frames, and tell once a second how it goes."""
    with _every_second(status, clock, tell), ExitStack() as ends:
        if page is not None:
            ends.callback(page.close)
        if recorder is not None:
            ends.callback(recorder.close)
        for frame in frames_of(loop):
            if page is not None:
                page.show(frame)
            if recorder is not None:
                recorder.add(frame)
                if recorder.error is not None:
                    break
    status.look()


@contextmanager
def _every_second(status: Status, clock: Clock, tell: Callable[[dict[str, Any]], None]) -> Iterator[None]:
    """Look once a second while the block runs, in a thread: frames may fail to come."""
    over = Event()

    def work() -> None:
        due_s = clock.now_s() + 1
        while not clock.wait(over, max(due_s - clock.now_s(), 0.0)):
            if clock.now_s() >= due_s:
                due_s += 1
                tell(status.look())

    thread = Thread(target=work, name="status", daemon=True)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def ledger_of(loop: Live, classes: Classes, seconds: float, recorder: Recorder | None = None) -> dict[str, Any]:
    """What came of streams, as JSON values: it is written at the end."""
    sources = []
    for stream in loop.streams:
        total = stream.meter.total
        ledger = stream.ledger.as_dict()
        sources.append(
            {
                "name": stream.feed.name,
                "size": list(stream.size),
                **numbers_of(total),
                "dropped_share": round(total.dropped_share, 4),
                "cuts": 0 if stream.carried is None else stream.carried.n_cuts,
                "stages": ledger["stages"],
                "networks": ledger["sources"],
                "backends": {} if stream.space is None else _backends(stream.space),
            }
        )
    left_out = 0 if recorder is None else recorder.n_left_out
    return {
        "state": "done",
        "latency_ms": 1000 * loop.latency_s,
        "seconds": round(seconds, 3),
        "classes": list(classes.names),
        "sources": sources,
        "left_out_of_overlay": left_out,
        "notes": list(loop.notes),
    }


def _backends(space: Frames) -> dict[str, str]:
    """What ran each network."""
    return {name: str(choice) for name, choice in choices_of(space.networks).items()}
