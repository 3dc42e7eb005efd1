"""What was done to label a video, so that it can be done again or gone on with: `trace.json`."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

from budgetseg.app.engines import SUPERVOXELS
from budgetseg.engine.known import Step
from budgetseg.engine.labelled import Why
from budgetseg.engine.plan import Plan
from budgetseg.errors import UsageError
from budgetseg.frames.label import WindowTrace as FramesTrace
from budgetseg.models.bundle import Model
from budgetseg.video import VideoSource

__all__ = ["TRACE", "ModelMark", "Trace", "VideoMark", "WindowTrace", "read_trace", "write_trace"]

TRACE = "trace.json"
FORMAT = 6
STEP = ("region", "descriptor", "at_s", "spent_s", "shared_s")
_DAMAGES = (OSError, ValueError, LookupError, TypeError, AttributeError)


@dataclass(frozen=True)
class VideoMark:
    """By what a video is known again.

    Attributes
    ----------
    name : of the video
    n_frames, width, height : its size
    first_frame : digest of its pixels
    """

    name: str
    n_frames: int
    width: int
    height: int
    first_frame: str

    @classmethod
    def of(cls, source: VideoSource, n_frames: int) -> "VideoMark":
        """Of a video with so many frames."""
        first = next(iter(source)).pixels
        return cls(source.name, n_frames, source.width, source.height, sha256(first.tobytes()).hexdigest())

    def check(self, source: VideoSource) -> None:
        """UsageError where a source is another video; its name may differ."""
        found = VideoMark.of(source, source.count())
        if replace(found, name=self.name) != self:
            raise UsageError(
                f"'{source.clip.path}' is not the video of that run, '{self.name}' with {self.n_frames} frames of "
                f"{self.width}×{self.height}; give that one, or label this one anew"
            )


@dataclass(frozen=True)
class ModelMark:
    """By what a model is known again, and what labels and descriptors by it mean.

    Attributes
    ----------
    name : of the model
    place : name of a bundled one, or its folder
    digest : of its manifest, which has digests of everything else
    classes : names, in the order of the labels
    colours : of the classes, RGB
    descriptors : names, in the order of the steps
    """

    name: str
    place: str
    digest: str
    classes: tuple[str, ...]
    colours: tuple[tuple[int, ...], ...]
    descriptors: tuple[str, ...]

    @classmethod
    def of(cls, model: Model, folder: Path, is_bundled: bool) -> "ModelMark":
        """Of the model in a folder."""
        place = folder.name if is_bundled else str(folder.absolute())
        digest = sha256((folder / "manifest.json").read_bytes()).hexdigest()
        colours = tuple(map(tuple, model.classes.colours.tolist()))
        return cls(model.name, place, digest, model.classes.names, colours, tuple(model.classifiers.names))

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "ModelMark":
        """From JSON; ValueError where it does not fit together."""
        classes, descriptors = (tuple(map(str, stored[name])) for name in ("classes", "descriptors"))
        colours = tuple(tuple(map(int, colour)) for colour in stored["colours"])
        if [len(colour) for colour in colours] != [3] * len(classes):
            raise ValueError("there must be a colour for each class")
        return cls(str(stored["name"]), str(stored["place"]), str(stored["digest"]), classes, colours, descriptors)

    def check(self, other: "ModelMark") -> None:
        """UsageError where the other is another model, wherever it lies."""
        if other.digest != self.digest:
            raise UsageError(
                f"'{other.place}' is not the model of that run, '{self.name}' from '{self.place}'; give that one with "
                f"--model, or label the video anew"
            )


@dataclass(frozen=True, eq=False)
class WindowTrace:
    """What was done in a window, in order.

    Attributes
    ----------
    n_frames, size : frames that were worked on, and their height and width
    n_supervoxels : that they were cut into
    steps : descriptors that were computed, those of earlier runs first
    closings : after how many steps supervoxels were labelled, and after how many moves that was enough, None for all
    painted : which of the closings each budget has its labels from
    """

    n_frames: int
    size: tuple[int, int]
    n_supervoxels: int
    steps: Sequence[Step]
    closings: Sequence[tuple[int, int | None]]
    painted: Sequence[int]

    @classmethod
    def of(cls, why: Why, earlier: "WindowTrace | None" = None) -> "WindowTrace":
        """Of a window that was labelled, perhaps going on from an earlier run."""
        before = [] if earlier is None else list(earlier.steps)
        closings = [(len(before) + n_steps, n_moves) for n_steps, n_moves in why.closings]
        supervoxels = why.known.supervoxels
        n_frames, height, width = supervoxels.ids.shape
        return cls(n_frames, (height, width), len(supervoxels), [*before, *why.trace], closings, list(why.painted))

    def as_dict(self) -> dict[str, Any]:
        """For JSON; steps by column, which is a third as long."""
        steps = {name: [getattr(step, name) for step in self.steps] for name in STEP}
        seconds = {name: [round(value, 7) for value in steps[name]] for name in STEP[2:]}
        return {
            "n_frames": self.n_frames,
            "size": self.size,
            "n_supervoxels": self.n_supervoxels,
            "steps": steps | seconds,
            "closings": self.closings,
            "painted": self.painted,
        }

    @classmethod
    def from_dict(cls, stored: Mapping[str, Any]) -> "WindowTrace":
        """From JSON."""
        steps = [Step(*step) for step in zip(*(stored["steps"][name] for name in STEP), strict=True)]
        closings = [(int(n_steps), n_moves) for n_steps, n_moves in stored["closings"]]
        height, width = map(int, stored["size"])
        painted = [int(k) for k in stored["painted"]]
        n_frames, n_supervoxels = int(stored["n_frames"]), int(stored["n_supervoxels"])
        return cls(n_frames, (height, width), n_supervoxels, steps, closings, painted)


@dataclass(frozen=True, eq=False)
class Trace:
    """A whole run.

    Attributes
    ----------
    video : that was labelled
    model : that it was labelled with
    settings : budgets, scope, seed, threads and the others
    plan : what was worked on
    windows : what was done, for each of them
    files : that were written, below the folder of the trace
    frames : what was done for each window, where whole frames were labelled
    """

    video: VideoMark
    model: ModelMark
    settings: Mapping[str, Any]
    plan: Plan
    windows: Sequence[WindowTrace]
    files: Sequence[str] = ()
    frames: Sequence[FramesTrace] = ()

    @property
    def engine(self) -> str:
        """That labelled."""
        return str(self.settings.get("engine", SUPERVOXELS))


def write_trace(path: Path, trace: Trace) -> None:
    """As JSON."""
    stored = {
        "format": FORMAT,
        "video": asdict(trace.video),
        "model": asdict(trace.model),
        "settings": dict(trace.settings),
        "plan": asdict(trace.plan),
        "files": list(trace.files),
        "windows": [window.as_dict() for window in trace.windows],
        "frames": [window.as_dict() for window in trace.frames],
    }
    path.write_text(json.dumps(stored, allow_nan=False) + "\n")


def read_trace(folder: Path) -> Trace:
    """The trace of a run that was written to a folder; UsageError where there is none that can be used."""
    path = folder / TRACE
    if not path.is_file():
        raise UsageError(f"'{folder}' holds no run, there is no {TRACE}; give a folder that 'budgetseg label' wrote")
    try:
        stored = json.loads(path.read_text())
        if stored["format"] != FORMAT:
            raise UsageError(f"'{path}' has format {stored['format']}, not {FORMAT}; label the video anew")
        plan = _read_plan(stored["plan"])
        windows = [WindowTrace.from_dict(window) for window in stored["windows"]]
        video, model = VideoMark(**stored["video"]), ModelMark.from_dict(stored["model"])
        frames = [FramesTrace.from_dict(window) for window in stored.get("frames", ())]
        return Trace(video, model, stored["settings"], plan, windows, tuple(map(str, stored["files"])), frames)
    except _DAMAGES as error:
        raise UsageError(f"'{path}' is damaged ({type(error).__name__}: {error}); label the video anew") from None


def _read_plan(stored: Mapping[str, Any]) -> Plan:
    sizes = {name: tuple(stored[name]) for name in ("size", "read_size") if stored.get(name) is not None}
    return Plan(**{**stored, **sizes})
