"""`trace.json`: what a run did to label a video, so that it can be replayed or resumed."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from budgetseg.app.marks import ModelMark, VideoMark
from budgetseg.app.spaces import FRAMES, REGIONS
from budgetseg.engine.plan import Plan
from budgetseg.engine.trace import WindowTrace
from budgetseg.errors import UsageError
from budgetseg.files import complete_switch
from budgetseg.video.core import Span

__all__ = ["TRACE", "Trace", "read_trace", "span_of", "write_trace"]

TRACE = "trace.json"
FORMAT = 8
_DAMAGES = (OSError, ValueError, LookupError, TypeError, AttributeError)


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
        stored = json.loads(path.read_text())
        if stored["format"] != FORMAT:
            raise UsageError(f"'{path}' has format {stored['format']}, not {FORMAT}; label the video again")
        if stored["space"] not in (FRAMES, REGIONS):
            raise ValueError(f"no space '{stored['space']}'")
        sources = tuple(map(str, stored["sources"]))
        windows = [WindowTrace.from_dict(window) for window in stored["windows"]]
        if any(event.source >= len(sources) for window in windows for event in window.events):
            raise ValueError("actions with sources that are not there")
        return Trace(
            VideoMark(**stored["video"]),
            ModelMark.from_dict(stored["model"]),
            stored["settings"],
            stored["space"],
            sources,
            _read_plan(stored["plan"]),
            windows,
            tuple(map(str, stored["files"])),
        )
    except _DAMAGES as error:
        raise UsageError(f"'{path}' is damaged ({type(error).__name__}: {error}); label the video again") from None


def _read_plan(stored: Mapping[str, Any]) -> Plan:
    if set(stored) != {field.name for field in fields(Plan)}:
        raise ValueError("a plan must have all its fields")
    sizes = {name: tuple(map(int, stored[name])) for name in ("size", "read_size") if stored[name] is not None}
    return Plan(**{**stored, **sizes})
