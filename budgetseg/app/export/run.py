"""Read back what `budgetseg label` has written."""

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.trace import TRACE, Trace, read_trace
from budgetseg.checked import number, read_json
from budgetseg.errors import UsageError
from budgetseg.types import Classes
from budgetseg.video import list_images

__all__ = ["FinishedRun", "find_runs", "folders_in", "read_run"]

_DAMAGES = (OSError, ValueError, LookupError, TypeError, AttributeError)
_ROUNDING = 1e-6  # by which a share may be larger than 1


@dataclass(frozen=True, eq=False)
class FinishedRun:
    """A finished run of `budgetseg label` on one video.

    Attributes
    ----------
    folder : that holds its files
    trace : what the run did
    """

    folder: Path
    trace: Trace

    @property
    def classes(self) -> Classes:
        """Names and colours of label indices."""
        return Classes(self.trace.model.classes, np.array(self.trace.model.colours, np.uint8))

    @property
    def descriptors(self) -> Sequence[str]:
        """Names of the model's descriptors, in its order."""
        return self.trace.model.descriptors

    @property
    def budgets(self) -> list[str]:
        """Names of the budgets, in rising order."""
        return self.trace.budgets

    def place(self, budget: str) -> Path:
        """The folder with the results of a budget."""
        if budget not in self.budgets:
            raise UsageError(f"no budget '{budget}' in '{self.folder}'; choose from {', '.join(self.budgets)}")
        return self.folder / budget if len(self.budgets) > 1 else self.folder

    def label_files(self, budget: str) -> Sequence[Path]:
        """Paths of the label pictures at a budget, one for each frame, in order."""
        folder = self.place(budget) / "labels"
        if not folder.is_dir():
            raise UsageError(f"there are no label pictures in '{self.place(budget)}'; label without --no-png")
        files = list_images(folder)
        if len(files) != self.trace.video.n_frames:
            raise UsageError(
                f"'{self.place(budget) / 'labels'}' has {len(files)} label files for {self.trace.video.n_frames} "
                "frames; label the video again"
            )
        return files

    def ledger(self, budget: str) -> dict[str, Any]:
        """The ledger of a budget, how its time was spent, as JSON values."""
        path = self.place(budget) / "ledger.json"
        try:
            found: dict[str, Any] = read_json(path)
            for name, share in found.get("class_shares", {}).items():
                number(share, 0, 1 + _ROUNDING)
                self.trace.model.classes.index(name)
        except _DAMAGES as error:
            raise UsageError(f"'{path}' cannot be read ({error}); label the video again") from None
        return found


def folders_in(folder: Path, depth: int = 3) -> Iterator[Path]:
    """A folder and the folders below it, in order; folders within a finished run are left out.

    Parameters
    ----------
    folder : to begin with
    depth : levels below it that are searched: clips of a label run may lie beside a folder of results
    """
    for place, names, files in os.walk(folder):
        yield Path(place)
        is_deep = len(Path(place).relative_to(folder).parts) >= depth
        if is_deep or TRACE in files:
            names[:] = []
        else:
            names[:] = sorted(name for name in names if not name.startswith("."))


def find_runs(folder: Path) -> list[Path]:
    """Folders of the finished runs in a folder: the folder itself, or some below it."""
    return [place for place in folders_in(folder) if (place / TRACE).is_file()]


def read_run(folder: Path) -> FinishedRun:
    """Read the run that was written to a folder; UsageError if it cannot be used."""
    run = FinishedRun(folder, read_trace(folder))
    run.label_files(run.budgets[-1])
    return run
