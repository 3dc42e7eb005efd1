"""The files that come of labelling a video: they appear whole or not at all, and none that is not ours is touched.

labels/NAME.png   overlay.mp4   labels.npz   ledger.json      in a folder for each budget where there are several
why.npz   why.png                                             on request, of the last budget
state.npz                                                     what was known, to go on from
trace.json                                                    to do it again; the last to come
"""

import json
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.state import STATE, write_state, write_sures
from budgetseg.app.trace import TRACE, Trace, read_trace, write_trace
from budgetseg.app.why import Strip, frames_shown, write_why
from budgetseg.engine.labelled import Labelled
from budgetseg.errors import OutputError, UsageError
from budgetseg.files import atomic_folder
from budgetseg.frames.label import ByFrames
from budgetseg.models.bundle import Model
from budgetseg.types import Budget, Classes
from budgetseg.video import VideoSource, VideoWriter, blend, write_label_pngs

__all__ = ["Run", "Wanted", "budget_name", "check_place", "plain", "results_folder", "write_results"]

OURS = ("labels", "overlay.mp4", "labels.npz", "ledger.json", "why.npz", "why.png", STATE)


class _Tried(Exception):  # noqa: N818  # no error
    """A place can be written to."""


@dataclass(frozen=True, eq=False)
class Run:
    """A video that was labelled.

    Attributes
    ----------
    source : the video
    labelled : what came of it
    model : that labelled it
    trace : how
    facts : what else the ledgers should say
    """

    source: VideoSource
    labelled: Labelled
    model: Model
    trace: Trace
    facts: Mapping[str, Any]


@dataclass(frozen=True)
class Wanted:
    """What is written on request.

    Attributes
    ----------
    npz : labels.npz
    why : why.npz and why.png
    """

    npz: bool = False
    why: bool = False


def budget_name(budget: Budget) -> str:
    """As people write it.

    Examples
    --------
    >>> budget_name(Budget(0.5)), budget_name(Budget(0.2, is_share=True)), budget_name(Budget(math.inf))
    ('0.5s', '20%', 'inf')
    """
    if budget.amount == math.inf:
        return "inf"
    return f"{100 * budget.amount:g}%" if budget.is_share else f"{budget.amount:g}s"


def check_place(folder: Path, names: Sequence[str]) -> None:
    """OutputError where nothing can be written, or where others have put what would be replaced.

    `names` are those of the budgets, which get a folder each where there are several.
    """
    foreign = [name for name in (*OURS, *names) if (folder / name).exists()]
    if foreign and _earlier_files(folder) is None:
        raise OutputError(
            f"'{folder}' holds '{foreign[0]}', which is not of a whole earlier run; move it, or choose another place"
        )
    with suppress(_Tried), atomic_folder(folder):
        raise _Tried


@contextmanager
def results_folder(folder: Path) -> Iterator[Path]:
    """A place for the results of a video that becomes `folder`, where it replaces those of an earlier run."""
    with atomic_folder(folder, last=TRACE) as part:
        yield part
        _forget(folder, _earlier_files(folder) or (), _files(part))


def write_results(
    part: Path, run: Run, wanted: Wanted, advance: Callable[[int], None] = lambda _: None
) -> list[dict[str, Any]]:
    """Write all files of a video to `part`; the ledgers as they are written, one for each budget."""
    started = time.perf_counter()
    labelled, model, trace = run.labelled, run.model, run.trace
    budgets = [str(name) for name in trace.settings["budgets"]]
    folders = [part / name for name in budgets] if len(budgets) > 1 else [part]
    for folder, labels in zip(folders, labelled.labels, strict=True):
        folder.mkdir(exist_ok=True)
        write_label_pngs(folder / "labels", labels, model.classes, _stems(run.source, len(labels)))
        if wanted.npz:
            np.savez_compressed(folder / "labels.npz", labels=labels, **_described(model.classes))
    strip = _write_overlays([folder / "overlay.mp4" for folder in folders], run, advance)
    if wanted.why:
        write_why(part, labelled.whys, trace.plan, model, strip)
    if isinstance(labelled, ByFrames):
        write_sures(part / STATE, labelled.sures)
    else:
        write_state(part / STATE, [why.known for why in labelled.whys])
    apart = {**run.facts, "writing_s": time.perf_counter() - started}
    ledgers: list[dict[str, Any]] = [plain({**ledger.as_dict(), **apart}) for ledger in labelled.ledgers]
    for folder, ledger in zip(folders, ledgers, strict=True):
        (folder / "ledger.json").write_text(json.dumps(ledger, indent=2, allow_nan=False) + "\n")
    write_trace(part / TRACE, replace(trace, files=[*_files(part), TRACE]))
    return ledgers


def plain(value: Any) -> Any:
    """The same without numbers that JSON does not know; what is without end is null."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _write_overlays(paths: Sequence[Path], run: Run, advance: Callable[[int], None]) -> Strip:
    """An overlay for each budget, in one pass over the video; the frames that a picture shows, on the way."""
    source, last = run.source, run.labelled.labels[-1]
    numbers, kept = frames_shown(len(last)), []
    with ExitStack() as stack:
        size = source.width, source.height
        writers = [stack.enter_context(VideoWriter(path, size, source.rate)) for path in paths]
        for t, frame in zip(range(len(last)), source, strict=False):
            for writer, labels in zip(writers, run.labelled.labels, strict=True):
                writer.write(blend(frame.pixels, labels[t], run.model.classes.colours))
            if t in numbers:
                kept.append(frame.pixels.copy())
            advance(1)
    return Strip(numbers[: len(kept)], np.stack(kept), last[numbers[: len(kept)]])


def _stems(source: VideoSource, n_frames: int) -> tuple[str, ...] | None:
    """Names of label files: those of the frames' files, where they differ."""
    stems = source.stems
    return stems if stems is not None and len(set(stems)) == len(stems) == n_frames else None


def _described(classes: Classes) -> dict[str, Any]:
    return {"names": np.array(classes.names), "colours": classes.colours}


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _earlier_files(folder: Path) -> Sequence[str] | None:
    """What an earlier run has written to a folder; None where there was none that came to its end."""
    try:
        return read_trace(folder).files
    except UsageError:
        return None


def _forget(folder: Path, earlier: Sequence[str], new: Sequence[str]) -> None:
    """Remove what an earlier run has left that this one does not replace, so that all files belong together."""
    if not earlier:
        return
    (folder / TRACE).unlink(missing_ok=True)  # from here on it is not whole
    inside = folder.resolve()
    old = [path for name in set(earlier) - set(new) if inside in (path := (folder / name).resolve()).parents]
    for path in old:
        path.unlink(missing_ok=True)
    for parent in sorted({parent for path in old for parent in path.parents if inside in parent.parents}, reverse=True):
        with suppress(OSError):  # others have put something there
            parent.rmdir()
