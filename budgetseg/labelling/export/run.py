"""What `budgetseg label` has written, read back."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.errors import ModelError, UsageError
from budgetseg.labelling.trace import TRACE, Trace, read_trace
from budgetseg.models.find import find_model
from budgetseg.types import Classes, UInt8
from budgetseg.video import list_images

__all__ = ["FinishedRun", "find_runs", "folders_in", "read_run"]

DEPTH = 3  # folders of folders that are looked into: clips of a label run beside a folder of results
_DAMAGES = (OSError, ValueError, LookupError, TypeError)


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A video that was labelled.

    Attributes
    ----------
    folder : where it lies
    trace : what was done
    classes : what label indices mean
    descriptors : names, in the order of the trace
    """

    folder: Path
    trace: Trace
    classes: Classes
    descriptors: Sequence[str]

    @property
    def budgets(self) -> list[str]:
        """Names of the budgets, from the smallest."""
        return [str(name) for name in self.trace.settings["budgets"]]

    def place(self, budget: str) -> Path:
        """Folder of the results at a budget."""
        if budget not in self.budgets:
            raise UsageError(f"no budget '{budget}' in '{self.folder}'; choose from {', '.join(self.budgets)}")
        return self.folder / budget if len(self.budgets) > 1 else self.folder

    def label_files(self, budget: str) -> Sequence[Path]:
        """The label picture of every frame, in order."""
        files = list_images(self.place(budget) / "labels")
        if len(files) != self.trace.video.n_frames:
            raise UsageError(
                f"'{self.place(budget) / 'labels'}' has {len(files)} pictures of {self.trace.video.n_frames}; "
                "label the video anew"
            )
        return files

    def ledger(self, budget: str) -> dict[str, Any]:
        """What the time was spent on."""
        path = self.place(budget) / "ledger.json"
        try:
            found: dict[str, Any] = json.loads(path.read_text())
        except _DAMAGES as error:
            raise UsageError(f"'{path}' cannot be read ({error}); label the video anew") from None
        return found


def folders_in(folder: Path) -> Iterator[Path]:
    """A folder and those below it, a few deep, in order; those of a finished run are not looked into."""
    for place, names, files in os.walk(folder):
        yield Path(place)
        deep = len(Path(place).relative_to(folder).parts) >= DEPTH
        names[:] = [] if deep or TRACE in files else sorted(name for name in names if not name.startswith("."))


def find_runs(folder: Path) -> list[Path]:
    """Folders of the finished runs in a folder: itself, or some below it."""
    return [place for place in folders_in(folder) if (place / TRACE).is_file()]


def read_run(folder: Path) -> FinishedRun:
    """The run that was written to a folder; UsageError where it cannot be used."""
    trace = read_trace(folder)
    names, descriptors = _names(folder, trace)
    run = FinishedRun(folder, trace, Classes(names, np.zeros((0, 3), np.uint8)), descriptors)
    palette = _palette(run.label_files(run.budgets[-1])[0])
    return FinishedRun(folder, trace, Classes(names, palette[: len(names)]), descriptors)


def _names(folder: Path, trace: Trace) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of classes and descriptors: the why map has them, and so has the model if it is still there."""
    path = folder / "why.npz"
    try:
        if path.is_file():
            with np.load(path) as why:
                return tuple(map(str, why["classes"])), tuple(map(str, why["descriptors"]))
        text = (find_model(trace.model.place) / "manifest.json").read_bytes()
        if sha256(text).hexdigest() != trace.model.digest:
            raise ModelError(f"model '{trace.model.name}' has changed since")
        manifest = json.loads(text)
        return tuple(map(str, manifest["classes"]["names"])), tuple(map(str, manifest["descriptors"]))
    except (ModelError, *_DAMAGES) as error:
        why_not = str(error).split(";")[0]
        raise UsageError(f"'{folder}' does not tell its classes: {why_not}; label the video anew, with --why") from None


def _palette(path: Path) -> UInt8:
    """Colours of an indexed PNG, (n, 3)."""
    data = path.read_bytes()
    at = data.find(b"PLTE")
    if at < 0:
        raise UsageError(f"'{path}' has no palette; label the video anew")
    n = int.from_bytes(data[at - 4 : at], "big")
    return np.frombuffer(data, np.uint8, n, at + 4).reshape(-1, 3)
