"""Write the results of a labelled video. They appear whole or not at all, and no file of anyone else is touched.

labels/NAME.png   overlay.mp4   labels.npz   ledger.json      in a folder for each budget if there are several
why.npz   why.png                                             on request, for the last budget
state.npz                                                     what was known at the end, for resuming
trace.json                                                    what was done, for replaying; written last
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.spaces import REGIONS
from budgetseg.app.state import STATE, write_confidence, write_state
from budgetseg.app.trace import TRACE, Trace, read_trace, write_trace
from budgetseg.app.why import Strip, frames_shown, write_why
from budgetseg.engine.result import Result
from budgetseg.errors import OutputError, UsageError
from budgetseg.files import atomic_folder
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.timing.clock import WallClock
from budgetseg.types import Budget, Classes, UInt8
from budgetseg.video import VideoSource, VideoWriter, blend, write_label_pngs

__all__ = ["Wanted", "budget_name", "check_place", "plain", "results_folder", "write_results"]

OURS = ("labels", "overlay.mp4", "labels.npz", "ledger.json", "why.npz", "why.png", STATE)


class _Tried(Exception):  # noqa: N818  # no error
    """A folder can be written to; raised to leave nothing behind in it."""


@dataclass(frozen=True)
class Wanted:
    """Files that are written on request.

    Attributes
    ----------
    npz : whether to write labels.npz
    why : whether to write why.npz and why.png
    """

    npz: bool = False
    why: bool = False


def budget_name(budget: Budget) -> str:
    """The name of a budget, as a user writes it.

    Examples
    --------
    >>> budget_name(Budget(0.5)), budget_name(Budget(0.2, is_share=True)), budget_name(Budget(math.inf))
    ('0.5s', '20%', 'inf')
    """
    if budget.amount == math.inf:
        return "inf"
    return f"{100 * budget.amount:g}%" if budget.is_share else f"{budget.amount:g}s"


def check_place(folder: Path, names: Sequence[str]) -> None:
    """Raise OutputError if a folder cannot be written to, or holds files of others that would be replaced.

    `names` are those of the budgets if there are several; each gets a folder.
    """
    foreign = [name for name in (*OURS, *names) if (folder / name).exists()]
    if foreign and _earlier_files(folder) is None:
        raise OutputError(
            f"'{folder}' holds '{foreign[0]}', which is not of a complete earlier run; "
            "move it, or choose another folder"
        )
    with suppress(_Tried), atomic_folder(folder):
        raise _Tried


@contextmanager
def results_folder(folder: Path) -> Iterator[Path]:
    """A temporary folder for the results of a video. At the end it becomes `folder`, and replaces an earlier run."""
    with atomic_folder(folder, last=TRACE) as part:
        yield part
        _forget(folder, _earlier_files(folder) or (), _files(part))


def write_results(
    part: Path,
    source: VideoSource,
    results: Sequence[Result],
    trace: Trace,
    facts: Mapping[str, Any],
    wanted: Wanted,
    advance: Callable[[int], None] = lambda _: None,
) -> list[dict[str, Any]]:
    """Write all files of a labelled video to `part`. Returns the contents of the ledgers, one for each budget.

    Parameters
    ----------
    part : folder to write to
    source : the video
    results : of the run, one for each budget
    trace : of the run
    facts : written to the ledgers in addition to their own figures
    wanted : optional files to write
    advance : called with 1 for each frame that was written
    """
    clock = WallClock()
    last = results[-1]
    budgets = trace.budgets
    folders = [part / name for name in budgets] if len(budgets) > 1 else [part]
    for folder, result in zip(folders, results, strict=True):
        folder.mkdir(exist_ok=True)
        labels = result.labels
        stems = _stems(source, len(result.labels))
        write_label_pngs(folder / "labels", labels, result.classes, stems)
        if wanted.npz:
            np.savez_compressed(folder / "labels.npz", labels=labels, **_described(result.classes))
    strip = _write_overlays([folder / "overlay.mp4" for folder in folders], source, results, advance)
    if wanted.why:
        write_why(part, results, trace.sources, strip)
    if last.space == REGIONS:
        write_state(part / STATE, [memory for memory in last.memory if memory is not None])
    else:
        write_confidence(part / STATE, _confidence(results))
    added = {**facts, "writing_s": clock.now_s()}
    ledgers: list[dict[str, Any]] = [plain({**result.ledger.as_dict(), **added}) for result in results]
    for folder, ledger in zip(folders, ledgers, strict=True):
        (folder / "ledger.json").write_text(json.dumps(ledger, indent=2, allow_nan=False) + "\n")
    write_trace(part / TRACE, replace(trace, files=[*_files(part), TRACE]))
    return ledgers


def _confidence(results: Sequence[Result]) -> list[UInt8]:
    """Confidence of every window, 0 to 255, by budget and cell, (B, T, h, w); labels of the prior have its share."""
    windows = []
    for k, window in enumerate(results[-1].windows):
        evidence = [result.evidence[k] for result in results]
        shapes = [found.cells.shape for found in evidence if isinstance(found, FrameEvidence)]
        shape = shapes[0] if shapes else (window.n_frames, 1, 1)
        least = np.full(shape, int(255 * results[-1].least), np.uint8)
        windows.append(np.stack([found.cells if isinstance(found, FrameEvidence) else least for found in evidence]))
    return windows


def plain(value: Any) -> Any:
    """The value with only what JSON can hold: infinite numbers and nan become None."""
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _write_overlays(
    paths: Sequence[Path], source: VideoSource, results: Sequence[Result], advance: Callable[[int], None]
) -> Strip:
    """Write an overlay for each budget in one pass over the video. Returns the frames that `why.png` shows."""
    last = results[-1].labels
    numbers = frames_shown(len(last))
    kept = []
    with ExitStack() as stack:
        size = source.width, source.height
        writers = [stack.enter_context(VideoWriter(path, size, source.rate)) for path in paths]
        for t, frame in zip(range(len(last)), source, strict=False):
            for writer, result in zip(writers, results, strict=True):
                writer.write(blend(frame.pixels, result.labels[t], result.classes.colours))
            if t in numbers:
                kept.append(frame.pixels.copy())
            advance(1)
    return Strip(numbers[: len(kept)], np.stack(kept), last[numbers[: len(kept)]])


def _stems(source: VideoSource, n_frames: int) -> tuple[str, ...] | None:
    """Names of label files, those of the image files of the frames; None if there are none, or two are the same."""
    stems = source.stems
    return stems if stems is not None and len(set(stems)) == len(stems) == n_frames else None


def _described(classes: Classes) -> dict[str, Any]:
    return {"names": np.array(classes.names), "colours": classes.colours}


def _files(folder: Path) -> list[str]:
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())


def _earlier_files(folder: Path) -> Sequence[str] | None:
    """Files that a finished earlier run has written to a folder; None if there was no such run."""
    try:
        return read_trace(folder).files
    except UsageError:
        return None


def _forget(folder: Path, earlier: Sequence[str], new: Sequence[str]) -> None:
    """Remove files of an earlier run that this one does not replace, so that all files are of one run."""
    if not earlier:
        return
    (folder / TRACE).unlink(missing_ok=True)  # from here on the earlier run is not complete
    inside = folder.resolve()
    old = [path for name in set(earlier) - set(new) if inside in (path := (folder / name).resolve()).parents]
    for path in old:
        path.unlink(missing_ok=True)
    for parent in sorted({parent for path in old for parent in path.parents if inside in parent.parents}, reverse=True):
        with suppress(OSError):  # others have put something there
            parent.rmdir()
