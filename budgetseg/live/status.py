"""How streams are doing: once a second as a line, as JSON, and as metrics in Prometheus' text format."""

import math
import os
from collections.abc import Iterable, Mapping
from typing import Any

from budgetseg.live.loop import Live, Stream
from budgetseg.live.meter import Seen
from budgetseg.timing.clock import Clock, process_s

__all__ = ["FROZEN_S", "Status", "line_of", "metrics_of", "numbers_of"]

FROZEN_S = 5.0
"""Seconds of one and the same picture after which a camera is said to be frozen."""


class Status:
    """Looks at a loop again and again.

    Parameters
    ----------
    loop : that is looked at
    clock : of the loop

    Attributes
    ----------
    latest : what the last look has found, as JSON values
    """

    def __init__(self, loop: Live, clock: Clock) -> None:
        self._loop = loop
        self._clock = clock
        self._last_s = clock.now_s()
        self._worked_s = process_s()
        self._began_s = self._last_s
        self.latest: dict[str, Any] = {}
        self.look()

    def look(self) -> dict[str, Any]:
        """What has happened since the last look, and since the beginning."""
        now_s = self._clock.now_s()
        worked_s = process_s()
        passed_s = max(now_s - self._last_s, 1e-9)
        sources = [self._source(stream, passed_s) for stream in self._loop.streams]
        self.latest = {
            "at_s": round(now_s - self._began_s, 3),
            "latency_ms": 1000 * self._loop.latency_s,
            "load": round((worked_s - self._worked_s) / passed_s / (os.cpu_count() or 1), 3),
            "slowdown": round(max((stream.slowdown for stream in self._loop.streams), default=1.0), 2),
            "sources": sources,
        }
        self._last_s = now_s
        self._worked_s = worked_s
        return self.latest

    def _source(self, stream: Stream, passed_s: float) -> dict[str, Any]:
        seen = stream.meter.recent()
        carried = stream.carried
        state = stream.feed.state
        if state == "live" and carried is not None and carried.still_s >= FROZEN_S:
            state = "frozen"
        return {
            "name": stream.feed.name,
            "state": state,
            "size": list(stream.size),
            "fps_in": round(seen.n_arrived / passed_s, 2),
            "fps_out": round(seen.n_labelled / passed_s, 2),
            **numbers_of(seen),
            "total": numbers_of(stream.meter.total),
        }


def numbers_of(seen: Seen) -> dict[str, Any]:
    """Counts and ages as JSON values; an age that is infinite, since frames were dropped, is None."""
    return {
        "arrived": seen.n_arrived,
        "labelled": seen.n_labelled,
        "dropped": seen.n_dropped,
        "age_p50_ms": _ms(seen.ages.quantile(0.5)),
        "age_p99_ms": _ms(seen.ages.quantile(0.99)),
        "asked": dict(seen.asked),
    }


def _ms(seconds: float | None) -> float | None:
    return None if seconds is None or math.isinf(seconds) else round(1000 * seconds, 1)


def line_of(latest: Mapping[str, Any]) -> str:
    """The last look as a line for the terminal.

    Examples
    --------
    >>> now = {"arrived": 15, "labelled": 15, "dropped": 0, "age_p50_ms": 20.0, "age_p99_ms": 31.5, "asked": {"big": 9}}
    >>> cam = {"name": "cam", "state": "live", "fps_in": 15.0, "fps_out": 15.0, **now, "total": now}
    >>> line_of({"at_s": 1.0, "load": 0.5, "sources": [cam]})
    'cam: 15.0 in, 15.0 out a second, age p50 20 ms, p99 32 ms, 0 dropped; asked big 9; load 50 %'
    """
    parts = []
    for source in latest["sources"]:
        state = "" if source["state"] == "live" else f" ({source['state']})"
        ages = ", ".join(f"{name} {_age(source[f'age_{name}_ms'], source)}" for name in ("p50", "p99"))
        asked = ", ".join(f"{name} {n}" for name, n in source["asked"].items()) or "nobody"
        parts.append(
            f"{source['name']}{state}: {source['fps_in']:.1f} in, {source['fps_out']:.1f} out a second, age {ages}, "
            f"{source['dropped']} dropped; asked {asked}"
        )
    return "; ".join([*parts, f"load {100 * latest['load']:.0f} %"])


def _age(ms: float | None, source: Mapping[str, Any]) -> str:
    if ms is not None:
        return f"{ms:.0f} ms"
    return "dropped" if source["dropped"] else "-"


def metrics_of(latest: Mapping[str, Any]) -> str:
    """The last look in Prometheus' text format; counts are since the beginning, ages of the last second."""
    sources = latest["sources"]
    lines = [
        *_metric("budgetseg_latency_seconds", "gauge", [("", latest["latency_ms"] / 1000)]),
        *_metric("budgetseg_load", "gauge", [("", latest["load"])]),
        *_metric("budgetseg_source_live", "gauge", [(_by(own), int(own["state"] == "live")) for own in sources]),
    ]
    for name in ("arrived", "labelled", "dropped"):
        found = [(_by(own), own["total"][name]) for own in sources]
        lines += _metric(f"budgetseg_frames_{name}_total", "counter", found)
    ages = [
        (_by(own, quantile=share), "+Inf" if own[key] is None else own[key] / 1000)
        for own in sources
        for share, key in (("0.5", "age_p50_ms"), ("0.99", "age_p99_ms"))
        if own["labelled"] or own["dropped"]
    ]
    lines += _metric("budgetseg_age_seconds", "gauge", ages)
    asked = [(_by(own, network=name), n) for own in sources for name, n in own["total"]["asked"].items()]
    lines += _metric("budgetseg_questions_total", "counter", asked)
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, values: Iterable[tuple[str, Any]]) -> list[str]:
    return [f"# TYPE {name} {kind}", *(f"{name}{labels} {value}" for labels, value in values)]


def _by(source: Mapping[str, Any], **more: str) -> str:
    """Labels of a metric, escaped."""
    pairs = {"source": source["name"], **more}
    texts = {key: value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n") for key, value in pairs.items()}
    return "{" + ",".join(f'{key}="{value}"' for key, value in texts.items()) + "}"
