"""Streams that the bench serves itself, and what it counts of them. Nothing here depends on how fast a machine is."""

import socket
from pathlib import Path
from threading import Event, Thread

import numpy as np
import pytest

from budgetseg.app.model import LoadedModel
from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.evaluation import bench_live as bench
from budgetseg.evaluation.bench_live import Case, bench_live
from budgetseg.evaluation.stream_server import PACKET, Serving, packets_of, serve
from budgetseg.live.meter import Ages
from budgetseg.timing.clock import WallClock
from budgetseg.types import UInt8
from budgetseg.video.capture import Address, Capturing, captured
from tests.app.simulated import load_simulated
from tests.app.streets import SIZE, write_seeing_model
from tests.video.clips import KINDS, N_FRAMES, number_of, write_clip

pytest.importorskip("onnx")


@pytest.fixture(scope="module")
def seeing(tmp_path_factory: pytest.TempPathFactory) -> LoadedModel:
    return load_simulated(write_seeing_model(tmp_path_factory.mktemp("models") / "seeing"))


def street(kind: str, n: int = 6) -> Case:
    video, truth = render(1, n, SIZE)
    return Case(kind, "street", video.frames, truth.labels, 10.0)


def test_a_stream_that_is_served_can_be_joined_and_shows_its_frames_in_order(tmp_path: Path) -> None:
    write_clip(tmp_path / "clip.mp4", KINDS["mp4-h264"])
    serving = Serving(rate=50.0, key_every=5)
    pieces = packets_of(tmp_path / "clip.mp4", serving)
    assert len(pieces) == N_FRAMES
    assert all(len(piece) % PACKET == 0 for piece in pieces)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = int(free.getsockname()[1])
    stop = Event()
    server = Thread(target=serve, args=(pieces, port, serving, stop), daemon=True)
    server.start()
    found: list[int] = []
    with captured(Address.of(f"udp://127.0.0.1:{port}"), WallClock().now_s, Capturing(20.0, 10.0)) as pictures:
        for picture in pictures:
            found.append(number_of(picture.read()))
            if len(found) == 20:
                break
    stop.set()
    server.join()
    steps = np.diff(found) % N_FRAMES
    assert (steps == 1).mean() > 0.8  # a datagram may be lost where the machine is busy


@pytest.mark.parametrize("kind", ["camera", "file"])
def test_a_row_says_what_came_of_every_frame(seeing: LoadedModel, kind: str) -> None:
    rows = bench_live(seeing, [street(kind)], [30.0], ["idle"], seconds=1.2)
    assert [row["method"] for row in rows] == (["live", "cheapest", "dearest"] if kind == "file" else ["live"])
    row = rows[0]
    ages = {"age_p50_ms", "age_p99_ms"}
    assert {"source", "fps", "latency_ms", *ages, "dropped_share", "miou", "network_share"} <= set(row)
    assert row["frames"] == 12
    assert row["dropped_share"] == 0
    assert row["network_share"] == "dcnn 1.00"


def test_a_real_rtsp_server_is_asked_where_there_is_one(seeing: LoadedModel) -> None:
    cases = bench.cases_of(None, ["rtsp"])
    if not cases:
        pytest.skip("there is no RTSP server; Debian's is gir1.2-gst-rtsp-server-1.0, with GStreamer's plug-ins")
    (row,) = bench_live(seeing, [street("rtsp", 20)], [30.0], ["idle"], seconds=4.0)
    assert int(row["frames"] or 0) >= 10
    assert float(row["dropped_share"] or 0) < 0.2


def shown(ready_s: list[float], labels: list[UInt8], arrived: list[tuple[float, int]]) -> bench._Shown:
    return bench._Shown(Ages(), list(zip(ready_s, labels, strict=True)), arrived, {})


def test_accuracy_is_that_of_what_is_there_when_labels_are_due() -> None:
    case = street("file")
    assert case.truth is not None
    n, right = len(CLASSES), list(case.truth)
    arrived = [(k / 10, k) for k in range(6)]
    in_time = shown(in_time_s(), right, arrived)
    assert bench._miou(case, in_time, 0.05, n) == 100.0
    late = shown([k / 10 + 0.06 for k in range(6)], right, arrived)
    assert bench._miou(case, late, 0.05, n) < 100.0  # type: ignore[operator]
    assert bench._miou(case, late, 0.07, n) == 100.0
    gaps = shown([0.04, 0.54], [right[0], right[5]], [arrived[0], arrived[5]])
    held = [right[0]] * 5 + [right[5]]
    assert bench._miou(case, gaps, 0.05, n) == bench._miou(case, shown(in_time_s(), held, arrived), 0.05, n)


def in_time_s() -> list[float]:
    return [k / 10 + 0.04 for k in range(6)]


def test_frames_are_known_by_what_they_show() -> None:
    case = street("file")
    index = bench._Index(case)
    noisy = np.clip(case.frames.astype(int) + np.random.default_rng(0).integers(-8, 9, case.frames.shape), 0, 255)
    assert [index(frame) for frame in noisy.astype(np.uint8)] == list(range(6))
