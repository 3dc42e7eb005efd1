"""What `budgetseg label` has written, read back."""

import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.trace import TRACE, Trace, read_trace
from budgetseg.errors import UsageError
from budgetseg.types import Classes
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
    """

    folder: Path
    trace: Trace

    @property
    def classes(self) -> Classes:
        """What label indices mean."""
        return Classes(self.trace.model.classes, np.array(self.trace.model.colours, np.uint8))

    @property
    def descriptors(self) -> Sequence[str]:
        """Names, in the order of the trace."""
        return self.trace.model.descriptors

    @property
    def budgets(self) -> list[str]:
        """Names of the budgets, from the smallest."""
        return self.trace.budgets

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
                f"'{self.place(budget) / 'labels'}' has {len(files)} label files for {self.trace.video.n_frames} "
                "frames; label the video again"
            )
        return files

    def ledger(self, budget: str) -> dict[str, Any]:
        """What the time was spent on."""
        path = self.place(budget) / "ledger.json"
        try:
            found: dict[str, Any] = json.loads(path.read_text())
        except _DAMAGES as error:
            raise UsageError(f"'{path}' cannot be read ({error}); label the video again") from None
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
    run = FinishedRun(folder, read_trace(folder))
    run.label_files(run.budgets[-1])
    return run
