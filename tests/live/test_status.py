"""What is said of streams: a line, JSON, and metrics that Prometheus can read."""

import json
import re

from budgetseg.live.status import Status, line_of, metrics_of
from budgetseg.timing.clock import CostClock
from tests.live.worlds import camera, drive, live

LINE = re.compile(r'^[a-z_]+(\{([a-z]+="([^"\\\n]|\\.)*",?)+\})? (\+Inf|-?[0-9.e+-]+)$')


def watched(n_frames: int, rate: float, latency_s: float = 0.1) -> Status:
    """The status of a stream that has ended, looked at from its beginning."""
    clock = CostClock()
    loop = live([camera(drive()[:1] if rate < 1 else drive(), rate, n_frames)], latency_s, clock=clock)
    status = Status(loop, clock)
    for _ in loop:
        pass
    status.look()
    return status


def test_rates_and_ages_are_those_of_the_last_look() -> None:
    status = watched(30, 30.0)
    (source,) = status.latest["sources"]
    assert 28 < source["fps_in"] < 32
    assert source["fps_in"] == source["fps_out"]
    assert 0 < source["age_p50_ms"] <= source["age_p99_ms"] <= 100
    status.look()
    (source,) = status.latest["sources"]
    assert source["arrived"] == 0
    assert source["age_p50_ms"] is None
    assert source["total"]["arrived"] == 30
    json.dumps(status.latest, allow_nan=False)
    assert "age p50 -" in line_of(status.latest)


def test_a_frozen_camera_is_said() -> None:
    status = watched(8, 0.9)
    assert status._loop.streams[0].carried is not None
    assert status._loop.streams[0].carried.still_s > 5
    status._loop.streams[0].inbox.is_over = False
    assert status.look()["sources"][0]["state"] == "frozen"
    assert "(frozen)" in line_of(status.latest)


def test_metrics_are_in_the_text_format() -> None:
    status = watched(30, 30.0)
    status.latest["sources"][0]["name"] = 'a "quoted"\nname\\'
    lines = metrics_of(status.latest).splitlines()
    assert all(LINE.match(line) or line.startswith("# TYPE ") for line in lines), lines
    found = [line for line in lines if line.startswith("budgetseg_frames_arrived_total{")]
    assert found == ['budgetseg_frames_arrived_total{source="a \\"quoted\\"\\nname\\\\"} 30']
    names = {line.split()[2] for line in lines if line.startswith("# TYPE")}
    assert {re.split(r"[{ ]", line)[0] for line in lines if not line.startswith("#")} == names


def test_dropped_frames_make_ages_infinite_and_never_look_good() -> None:
    status = watched(30, 30.0)
    source = status.latest["sources"][0]
    source |= {"age_p99_ms": None, "dropped": 5}
    assert "p99 dropped" in line_of(status.latest)
    assert 'quantile="0.99"} +Inf' in metrics_of(status.latest)
