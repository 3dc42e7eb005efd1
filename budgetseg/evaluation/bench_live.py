"""Measure streams: the rows of `budgetseg bench live`.

Streams are served by programs of their own. Ages are over all frames that arrived, and a dropped frame is infinitely
old. Accuracy is that of what is there when labels are due: those of the frame, else the last ones before.
"""

import math
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

import cv2
import numpy as np

from budgetseg.app.live import Camera, LiveOrder, frames_of, live_of
from budgetseg.app.model import LoadedModel
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.evaluation.bench_deadline import busy_cores
from budgetseg.evaluation.clips import CamvidDense, Street
from budgetseg.live.arrivals import Arrival, Inbox
from budgetseg.live.meter import Ages
from budgetseg.live.sources import PacedFeed
from budgetseg.propagate.paint import paint
from budgetseg.spaces.frames.state import Prediction
from budgetseg.timing.clock import WallClock
from budgetseg.types import Float32, UInt8
from budgetseg.video import VideoSource, VideoWriter, open_video
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span

__all__ = ["KINDS", "Case", "bench_live", "cases_of"]

Row = dict[str, str | int | float | None]

KINDS = ("camera", "file", "mpegts", "mpegts-lossy", "rtsp", "eight")
"""A camera in memory; a paced file; MPEG-TS over loopback, also with loss and pauses; RTSP by a real server; eight
cameras."""
METHODS = ("live", "cheapest", "dearest")
"""The loop; and beside it one network alone, on the newest frame whenever it is free, with nothing carried."""
SYSTEM_PYTHON = "/usr/bin/python3"
"""Has the bindings of GStreamer, where they are installed."""


@dataclass(frozen=True, eq=False)
class Case:
    """A stream to measure.

    Attributes
    ----------
    kind : a name in `KINDS`
    name : of the film
    frames : (T, H, W, 3), again and again
    truth : (T, H, W); None where nobody knows
    fps : frames a second
    """

    kind: str
    name: str
    frames: UInt8
    truth: UInt8 | None
    fps: float


def cases_of(data: Path | None, kinds: Sequence[str] = KINDS) -> list[Case]:
    """Streams from the data at hand: CamVid's dense run at 15 Hz, film at 25, a rendered street at 30 and 10."""
    street = Street((480, 360), 60)()[0]
    films: list[tuple[str, UInt8, UInt8 | None, float]] = []
    if data is not None and (data / "camvid").is_dir():
        films.append(("dense", *CamvidDense(data / "camvid")(), 15.0))
    if data is not None and (data / "film" / "motorway.mp4").is_file():
        small = open_video(data / "film" / "motorway.mp4", size=(480, 360)).read().frames
        large = open_video(data / "film" / "motorway_720p.mp4").read().frames
        films += [("motorway", small, None, 25.0), ("motorway_720p", large, None, 25.0)]
    streamed = films or [("street", street, None, 30.0)]
    found = []
    for kind in kinds:
        if kind == "camera":
            found.append(Case(kind, "street", street, None, 30.0))
        elif kind == "eight":
            found.append(Case(kind, "street", street, None, 10.0))
        elif kind != "rtsp" or _has_rtsp():
            found += [Case(kind, name, frames, truth, fps) for name, frames, truth, fps in streamed]
    return found


def bench_live(
    model: LoadedModel,
    cases: Sequence[Case],
    latencies_s: Sequence[float],
    loads: Sequence[str] = ("idle", "loaded"),
    seconds: float = 10.0,
    advance: Callable[[int], None] = lambda _: None,
) -> list[Row]:
    """A row for each source, latency and load; of films with known labels also one for each network alone.

    Parameters
    ----------
    model : that labels
    cases : streams
    latencies_s : seconds
    loads : idle, loaded, or both
    seconds : of each stream
    advance : called with 1 for each stream
    """
    rows = []
    for case in cases:  # back ends are measured before any clock starts
        model.frames_for((case.frames.shape[2], case.frames.shape[1]), _in_memory(case, 1.0))
    for load in loads:
        with busy_cores(load == "loaded"):
            for case in cases:
                for latency_s in latencies_s:
                    methods = METHODS if case.truth is not None and case.kind == "file" else METHODS[:1]
                    rows += [_row(model, case, latency_s, load, method, seconds) for method in methods]
                    advance(1)
    return rows


@dataclass(eq=False)
class _Shown:
    """What there was to see of a stream: labels of frames, each from when it is known on."""

    ages: Ages
    found: list[tuple[float, UInt8]]
    arrived: list[tuple[float, int]]
    asked: dict[str, int]


def _row(model: LoadedModel, case: Case, latency_s: float, load: str, method: str, seconds: float) -> Row:
    with _served(case, seconds) as sources:
        if method == "live":
            shown = _by_loop(model, case, sources, latency_s, seconds)
        else:
            shown = _by_network(model, case, latency_s, seconds, 0 if method == "cheapest" else -1)
    n_asked = sum(shown.asked.values())
    shares = ", ".join(f"{name} {n / max(n_asked, 1):.2f}" for name, n in sorted(shown.asked.items()))
    p50, p99 = (shown.ages.quantile(share) for share in (0.5, 0.99))
    return {
        "source": case.kind,
        "film": case.name,
        "size": f"{case.frames.shape[2]}x{case.frames.shape[1]}",
        "fps": case.fps,
        "load": load,
        "threads": model.threads,
        "method": method,
        "latency_ms": 1000 * latency_s,
        "frames": shown.ages.n,
        "age_p50_ms": _ms(p50),
        "age_p99_ms": _ms(p99),
        "dropped_share": round(shown.ages.n_dropped / max(shown.ages.n, 1), 4),
        "miou": _miou(case, shown, latency_s, len(model.classes)),
        "network_share": shares,
    }


def _ms(seconds: float | None) -> float | None:
    """Milliseconds; None where frames were dropped, which are infinitely old."""
    return None if seconds is None or math.isinf(seconds) else round(1000 * seconds, 1)


def _by_loop(model: LoadedModel, case: Case, sources: Sequence[Camera], latency_s: float, seconds: float) -> _Shown:
    """Label streams by the loop."""
    loop = live_of(model, sources, LiveOrder(latency_s, as_if_live=True, limit_s=seconds))
    found, arrived = [], []
    index = None if case.truth is None else _Index(case)
    for frame in frames_of(loop):
        if index is not None:
            found.append((frame.arrived_s + frame.age_s, frame.labels))
            arrived.append((frame.arrived_s, index(frame.image)))
    ages, asked = Ages(), dict[str, int]()
    for stream in loop.streams:
        ages.merge(stream.meter.total.ages)
        for name, n in stream.meter.total.asked.items():
            asked[name] = asked.get(name, 0) + n
    return _Shown(ages, found, arrived, asked)


def _by_network(model: LoadedModel, case: Case, latency_s: float, seconds: float, network: int) -> _Shown:
    """Label the newest frame by one network, whenever it is free."""
    clock, wake = WallClock(), Event()
    inbox = Inbox(1, wake)
    height, width = case.frames.shape[1:3]
    space = model.frames_for((width, height))
    assert space is not None
    number = range(len(space.sources))[network]
    shown, index = _Shown(Ages(), [], [], {space.sources[number]: 0}), _Index(case)
    feed = PacedFeed(_in_memory(case, seconds), inbox, clock)
    while not (inbox.is_over and inbox.first_s() is None):
        arrival = inbox.take(-math.inf, 0.0, 0.0)
        if arrival is None:
            clock.wait(wake, 0.1)
            wake.clear()
            continue
        frame = arrival.read()
        known = Prediction.of(space.predict(number, frame))
        labels = np.empty(frame.shape[:2], np.uint8)
        paint(known.probabilities, known.top, labels)
        _count(shown, arrival, labels, index(frame), clock.now_s(), latency_s)
        shown.asked[space.sources[number]] += 1
    feed.close()
    shown.ages.n_dropped += inbox.n_dropped
    return shown


def _count(shown: _Shown, arrival: Arrival, labels: UInt8, number: int, now_s: float, latency_s: float) -> None:
    shown.found.append((now_s, labels))
    shown.arrived.append((arrival.arrived_s, number))
    if now_s - arrival.arrived_s > latency_s:
        shown.ages.n_dropped += 1
    else:
        shown.ages.add(now_s - arrival.arrived_s)


def _miou(case: Case, shown: _Shown, latency_s: float, n_classes: int) -> float | None:
    """Mean IoU of what is there when labels of each frame are due, dropped ones as well: the newest labels by then."""
    if case.truth is None or not shown.found:
        return None
    confusion = np.zeros((n_classes, n_classes), np.int64)
    ready = np.array([at_s for at_s, _ in shown.found])
    first_s, first = shown.arrived[0]
    n = round((shown.arrived[-1][0] - first_s) * case.fps) + 1
    for k in range(n):
        newest = int(np.searchsorted(ready, first_s + k / case.fps + latency_s, side="right")) - 1
        if newest >= 0:
            truth = case.truth[(first + k) % len(case.truth)]
            confusion += confusion_of_pixels(truth, shown.found[newest][1], n_classes)
    return round(100 * accuracy_of(confusion).miou, 1)


class _Index:
    """Finds the number of a frame by what it shows: streams are encoded, and may be joined at any frame."""

    def __init__(self, case: Case) -> None:
        self._small = np.stack([_thumbnail(frame) for frame in case.frames])

    def __call__(self, frame: UInt8) -> int:
        """The number of the frame that looks most like this one."""
        return int(np.abs(self._small - _thumbnail(frame)).mean(axis=(1, 2)).argmin())


def _thumbnail(frame: UInt8) -> Float32:
    grey = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)
    return np.asarray(cv2.resize(grey, (60, 45), interpolation=cv2.INTER_AREA), np.float32)


# Sources


def _in_memory(case: Case, seconds: float) -> VideoSource:
    """As many frames of a film as there are in some seconds, again and again."""
    numbers = np.arange(max(round(seconds * case.fps), 1)) % len(case.frames)
    frames = case.frames if len(numbers) == len(case.frames) else case.frames[numbers]
    return VideoSource(ArrayClip(frames, case.fps), Span(), (frames.shape[2], frames.shape[1]))


@contextmanager
def _served(case: Case, seconds: float) -> Iterator[Sequence[Camera]]:
    """The sources of a case, while they are served."""
    if case.kind in ("camera", "eight"):
        yield [_in_memory(case, seconds)] * (8 if case.kind == "eight" else 1)
        return
    with TemporaryDirectory() as name:
        path = Path(name) / f"{case.name}.mp4"
        height, width = case.frames.shape[1:3]
        film = (
            _in_memory(case, seconds)
            if case.kind in ("file", "rtsp")
            else _in_memory(case, len(case.frames) / case.fps)
        )
        with VideoWriter(path, (width, height), case.fps) as writer:
            for frame in film:
                writer.write(frame.pixels)
        if case.kind == "file":
            yield [str(path)]
            return
        port = _free_port(socket.SOCK_STREAM if case.kind == "rtsp" else socket.SOCK_DGRAM)
        with _program(case, path, port):
            yield [f"rtsp://127.0.0.1:{port}/main" if case.kind == "rtsp" else f"udp://127.0.0.1:{port}"]


@contextmanager
def _program(case: Case, path: Path, port: int) -> Iterator[None]:
    """A program that serves a film, ready to be asked."""
    if case.kind == "rtsp":
        command = [SYSTEM_PYTHON, str(Path(__file__).with_name("rtsp_server.py")), str(path), str(port)]
    else:
        command = [sys.executable, "-m", "budgetseg.evaluation.stream_server", str(path), "--port", str(port)]
        command += ["--rate", str(case.fps)]
        command += ["--loss", "0.002", "--pause-every", "4"] if case.kind == "mpegts-lossy" else []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        try:
            assert program.stdout is not None
            program.stdout.readline()
            yield
        finally:
            program.kill()


def _free_port(kind: socket.SocketKind) -> int:
    with socket.socket(socket.AF_INET, kind) as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def _has_rtsp() -> bool:
    """Whether the system has GStreamer's RTSP server."""
    tried = "import gi; gi.require_version('GstRtspServer', '1.0'); from gi.repository import GstRtspServer"
    try:
        return subprocess.run([SYSTEM_PYTHON, "-c", tried], capture_output=True, check=False).returncode == 0
    except OSError:
        return False
