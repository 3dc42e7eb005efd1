"""`trace.json`: what a run did to label a video, so that it can be replayed or resumed."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from budgetseg.app.marks import ModelMark, VideoMark
from budgetseg.app.spaces import FRAMES, REGIONS
from budgetseg.checked import Limits, number, read_json, text, whole
from budgetseg.engine.plan import STRIDES, Plan
from budgetseg.engine.trace import WindowTrace
from budgetseg.errors import UsageError, VideoError
from budgetseg.files import complete_switch
from budgetseg.video.core import Span

__all__ = ["TRACE", "Trace", "read_trace", "span_of", "write_trace"]

TRACE = "trace.json"
FORMAT = 8
_BUDGET = re.compile(r"inf|[0-9][0-9.e+-]{0,30}[s%]")
"""Names of budgets, as `budget_name` makes them; folders have these names."""
_DAMAGES = (OSError, ValueError, LookupError, TypeError, AttributeError, OverflowError, VideoError)


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run.

    Attributes
    ----------
    video : that was labelled
    model : that labelled it
    settings : budgets, scope, seed, threads and other options of the run
    space : `frames` or `regions`
    sources : names of networks or descriptors, in the order of the source numbers of events
    plan : which frames were read, and how they were labelled
    windows : trace of each window
    files : paths of the files that were written, relative to the folder of the trace
    """

    video: VideoMark
    model: ModelMark
    settings: Mapping[str, Any]
    space: str
    sources: Sequence[str]
    plan: Plan
    windows: Sequence[WindowTrace]
    files: Sequence[str] = ()

    @property
    def budgets(self) -> list[str]:
        """Names of the budgets, in rising order."""
        return [str(name) for name in self.settings["budgets"]]


def span_of(trace: Trace) -> Span:
    """The frames of the file that a run labelled; all of them for a run that does not say."""
    start, end, stride = trace.settings.get("span", (0, None, 1))
    return Span(int(start), None if end is None else int(end), int(stride))


def write_trace(path: Path, trace: Trace) -> None:
    """Write a trace as JSON."""
    stored = {
        "format": FORMAT,
        "video": asdict(trace.video),
        "model": asdict(trace.model),
        "settings": dict(trace.settings),
        "space": trace.space,
        "sources": list(trace.sources),
        "plan": asdict(trace.plan),
        "files": list(trace.files),
        "windows": [window.as_dict() for window in trace.windows],
    }
    path.write_text(json.dumps(stored, allow_nan=False) + "\n")


def read_trace(folder: Path) -> Trace:
    """Read the trace of a run from its folder; UsageError if there is none that can be used."""
    complete_switch(folder)
    path = folder / TRACE
    if not path.is_file():
        raise UsageError(f"'{folder}' holds no run, {TRACE} is missing; give a folder that 'budgetseg label' wrote")
    try:
        stored = read_json(path)
        if stored["format"] != FORMAT:
            raise UsageError(f"'{path}' has format {stored['format']}, not {FORMAT}; label the video again")
        if stored["space"] not in (FRAMES, REGIONS):
            raise ValueError(f"no space '{stored['space']}'")
        sources = tuple(map(text, stored["sources"]))
        windows = [WindowTrace.from_dict(window) for window in stored["windows"]]
        if any(event.source >= len(sources) for window in windows for event in window.events):
            raise ValueError("actions with sources that are not there")
        trace = Trace(
            VideoMark.from_dict(stored["video"]),
            ModelMark.from_dict(stored["model"]),
            stored["settings"],
            stored["space"],
            sources,
            _read_plan(stored["plan"]),
            windows,
            tuple(map(text, stored["files"])),
        )
        _check(trace)
    except _DAMAGES as error:
        raise UsageError(f"'{path}' is damaged ({type(error).__name__}: {error}); label the video again") from None
    return trace


def _check(trace: Trace) -> None:
    """Raise ValueError where the parts of a trace contradict each other, or name what is no budget."""
    names = trace.settings.get("budgets", [])
    if not isinstance(names, list) or len(set(map(text, names))) < len(names) or not all(map(_BUDGET.fullmatch, names)):
        raise ValueError("budgets that are none")
    largest = 2 * max(trace.video.width, trace.video.height)
    for window in trace.windows:
        if len(window.finishes) != len(names) or max(window.size) > largest:
            raise ValueError("windows that do not fit the video or the budgets")
    promised = 4 * trace.video.n_frames + max(STRIDES)  # files promise more frames than they have
    if sum(window.n_frames for window in trace.windows) > promised:
        raise ValueError("more frames than the video has")
    if trace.plan.n_frames > promised or max(trace.plan.size) > largest:
        raise ValueError("a plan that does not fit the video")
    span_of(trace)


def _read_plan(stored: Mapping[str, Any]) -> Plan:
    if set(stored) != {field.name for field in fields(Plan)}:
        raise ValueError("a plan must have all its fields")
    sizes = {name: _read_size(stored[name]) for name in ("size", "read_size") if stored[name] is not None}
    counts = {name: whole(stored[name], 0, Limits.frames) for name in ("n_frames", "n_keys")}
    numbers = {name: number(stored[name], 0, Limits.supervoxels) for name in ("density", "cost_s")}
    flags = {name: bool(stored[name]) for name in ("prior", "colour_only", "edges")}
    texts = {name: text(stored[name]) for name in ("network", "carry")}
    tier = None if stored["tier"] is None else text(stored["tier"])
    stride = whole(stored["stride"], 1, Limits.frames)
    known = {**sizes, **counts, **numbers, **flags, **texts}
    return Plan(**{**stored, **known, "tier": tier, "stride": stride, "score": number(stored["score"])})


def _read_size(stored: Any) -> tuple[int, int]:
    height, width = (whole(side, 1, Limits.side) for side in stored)
    return height, width
