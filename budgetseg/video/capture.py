"""Open what gives frames without an end: cameras, streams of the network, pipes."""

import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import av
from av.container import InputContainer
from av.error import FFmpegError, ProtocolNotFoundError
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter
from av.video.stream import VideoStream

from budgetseg.errors import VideoError
from budgetseg.types import UInt8
from budgetseg.video.libav import upright_rgb

__all__ = ["SCHEMES", "Address", "Capturing", "Picture", "captured", "hidden", "is_address"]

SCHEMES = ("rtsp", "rtsps", "http", "https", "udp", "tcp", "srt", "rtp")
"""Kinds of streams."""

_URL = re.compile(r"([a-z][a-z0-9+.-]*)://(?:([^/?#]*)@)?([^/?#]*)([^?#]*)(.*)", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Capturing:
    """How streams are opened.

    Attributes
    ----------
    open_s, read_s : seconds that opening, and the next frame, may take
    probe_bytes, probe_s : that may be read to find out what a stream holds
    waited_s : seconds from one packet to the next below which the second had been waiting. What had been waiting since
        a stream of the network was opened is old, and left out; of a pipe all is given
    """

    open_s: float = 10.0
    read_s: float = 5.0
    probe_bytes: int = 500_000
    probe_s: float = 1.0
    waited_s: float = 0.003


@dataclass(frozen=True)
class Address:
    """Where frames come from.

    Attributes
    ----------
    name : to be shown and stored: without user, password and what follows a question mark
    place : as libav opens it; it may hold a password, so it is never shown
    driver : of libav for devices; None for all else
    may_return : whether to open it again where it ends; a pipe is over then
    """

    name: str
    place: str
    driver: str | None = None
    may_return: bool = True

    def __repr__(self) -> str:
        return f"Address({self.name!r})"

    @classmethod
    def of(cls, text: str) -> "Address":
        """The address that a user gives: a device number or path, a URL, or - for a pipe; VideoError for all else."""
        if text == "-":
            return cls("pipe", "pipe:0", may_return=False)
        url = _URL.fullmatch(text)
        if url is not None:
            if url[1].lower() not in SCHEMES:
                raise VideoError(
                    f"no streams of '{url[1]}://'; give one of {', '.join(f'{own}://' for own in SCHEMES)}"
                )
            return cls(hidden(text), text)
        path = Path(f"/dev/video{text}" if text.isdecimal() else text)
        if path.is_fifo():
            return cls(path.name, f"file:{path}", may_return=False)
        return cls._of_device(path)

    @classmethod
    def _of_device(cls, path: Path) -> "Address":
        if not sys.platform.startswith("linux"):
            raise VideoError("cameras are read by Video4Linux, which this system has not; give a stream, or a pipe")
        if not path.exists():
            found = sorted(map(str, Path("/dev").glob("video*")))
            raise VideoError(f"no camera at '{path}'; {'there is ' + ', '.join(found) if found else 'there is none'}")
        if not path.is_char_device():
            raise VideoError(f"'{path}' is no camera and no stream; to treat a file as one, use --as-if-live")
        return cls(path.name, str(path), "v4l2")


@dataclass(frozen=True, eq=False)
class Picture:
    """A frame of a stream.

    Attributes
    ----------
    arrived_s : when its data was there, before it was decoded
    time_s : its time as the stream states it; None where it does not
    read : returns its pixels, (H, W, 3) uint8, RGB
    """

    arrived_s: float
    time_s: float | None
    read: Callable[[], UInt8]


def is_address(text: str) -> bool:
    """Whether a text is an address, and no file or folder of a video.

    Examples
    --------
    >>> is_address("0"), is_address("rtsp://camera/1"), is_address("-"), is_address("drive.mp4")
    (True, True, True, False)
    """
    if text == "-" or text.isdecimal() or _URL.fullmatch(text):
        return True
    path = Path(text)
    return path.is_fifo() or path.is_char_device() or path.parent == Path("/dev")


def hidden(url: str) -> str:
    """A URL to be shown and stored: without user, password, and what follows a question mark.

    Examples
    --------
    >>> hidden("rtsp://me:secret@camera:554/main?token=abc")
    'rtsp://camera:554/main'
    """
    found = _URL.fullmatch(url)
    return url if found is None else f"{found[1]}://{found[3]}{found[4]}"


@contextmanager
def captured(
    address: Address, now_s: Callable[[], float], capturing: Capturing | None = None
) -> Iterator[Iterator[Picture]]:
    """Open a stream, and give its frames as they arrive; VideoError where it cannot be opened, or is lost.

    Parameters
    ----------
    address : of the stream
    now_s : returns the time
    capturing : how streams are opened; None for the default
    """
    capturing = capturing or Capturing()
    with _opened(address, capturing) as (container, stream):
        old_s = capturing.probe_s if address.may_return else 0.0
        yield _pictures(address, container, stream, now_s, _Backlog(capturing.waited_s, old_s))


@contextmanager
def _opened(address: Address, capturing: Capturing) -> Iterator[tuple[InputContainer, VideoStream]]:
    options = {
        "flags": "low_delay",
        "timeout": str(round(1e6 * capturing.read_s)),  # of the protocol: some do not heed the one of the container
        "probesize": str(capturing.probe_bytes),
        "analyzeduration": str(round(1e6 * capturing.probe_s)),
    }
    try:
        container = av.open(
            address.place,
            format=address.driver,
            options={} if address.driver else options,
            timeout=(capturing.open_s, capturing.read_s),
        )
    except ProtocolNotFoundError:
        scheme = address.place.partition("://")[0]
        raise VideoError(f"'{address.name}': the installed FFmpeg has no {scheme}://; give another address") from None
    except (FFmpegError, OSError) as error:
        raise VideoError(f"'{address.name}' cannot be opened ({_why(error)}); check that it is there") from None
    with container:
        if not container.streams.video:
            raise VideoError(f"'{address.name}' has no video; give a stream that has")
        stream = container.streams.video[0]
        stream.thread_type = "SLICE"  # decoding several frames at once would keep them back
        yield container, stream


class _Backlog:
    """Tells which frames had been waiting when a stream was opened, by when its packets come.

    Parameters
    ----------
    waited_s : seconds from one packet to the next below which the second had been waiting
    most_s : of the stream that may have been waiting
    """

    def __init__(self, waited_s: float, most_s: float) -> None:
        self._waited_s = waited_s
        self._most_s = most_s
        self._is_over = most_s == 0
        self._asked_s: float | None = None
        self._first_s: float | None = None

    def asked(self, at_s: float) -> None:
        """The next packet is asked for."""
        self._asked_s = at_s

    def arrived(self, at_s: float) -> None:
        """A packet is there."""
        if self._asked_s is not None and at_s - self._asked_s >= self._waited_s:
            self._is_over = True

    def holds(self, time_s: float | None) -> bool:
        """Whether a frame of this time had been waiting."""
        if time_s is None or self._is_over:
            return False
        self._first_s = time_s if self._first_s is None else self._first_s
        self._is_over = time_s - self._first_s >= self._most_s
        return not self._is_over


def _pictures(
    address: Address, container: InputContainer, stream: VideoStream, now_s: Callable[[], float], backlog: _Backlog
) -> Iterator[Picture]:
    """Frames as they come; packets that cannot be decoded are left out, since the next key frame mends it."""
    reformatter = VideoReformatter()
    try:
        for packet in container.demux(stream):
            arrived_s = now_s()
            backlog.arrived(arrived_s)
            try:
                frames = packet.decode()
            except FFmpegError:
                continue
            for frame in frames:
                if not backlog.holds(frame.time):
                    yield Picture(arrived_s, frame.time, _reading(frame, reformatter))
            backlog.asked(now_s())
    except (FFmpegError, OSError) as error:
        raise VideoError(f"'{address.name}' is lost ({_why(error)}); check the camera and the connection") from None


def _reading(frame: VideoFrame, reformatter: VideoReformatter) -> Callable[[], UInt8]:
    return lambda: upright_rgb(frame, reformatter)


def _why(error: Exception) -> str:
    """What libav says, without the address, which may hold a password."""
    return getattr(error, "strerror", None) or type(error).__name__
