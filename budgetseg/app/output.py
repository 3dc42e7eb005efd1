"""Write the results of a labelled video. They appear whole or not at all, and no file of anyone else is touched.

labels/NAME.png   labels/classes.json   overlay.mp4   labels.npz   ledger.json
                                                              in a folder for each budget if there are several
why.npz   why.png                                             on request, for the last budget
state.npz                                                     what was known at the end, for resuming
trace.json                                                    what was done, for replaying; written last
"""

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from av.error import FFmpegError

from budgetseg.app.overlay import OVERLAY, overlay_size, run_legend
from budgetseg.app.shares import class_shares, write_classes
from budgetseg.app.spaces import REGIONS
from budgetseg.app.state import STATE, write_confidence, write_state
from budgetseg.app.trace import TRACE, Trace, read_trace, write_trace
from budgetseg.app.why import Strip, frames_shown, write_why
from budgetseg.engine.result import Result
from budgetseg.engine.threads import one_thread_each
from budgetseg.errors import OutputError, UsageError, VideoError
from budgetseg.files import NO_ROOM, atomic_folder
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.timing.clock import WallClock
from budgetseg.types import Budget, Classes, UInt8
from budgetseg.video import VideoSource, VideoWriter, write_label_pngs
from budgetseg.video.encode import even
from budgetseg.video.pictures import Picture, pictures_ahead, rgb_of
from budgetseg.video.tint import Tint

__all__ = ["Wanted", "budget_name", "check_place", "plain", "results_folder", "write_results"]

OURS = ("labels", OVERLAY, "labels.npz", "ledger.json", "why.npz", "why.png", STATE)

_NO_OVERLAY = (FFmpegError, VideoError, ValueError, ArithmeticError, MemoryError, LookupError)
"""What an encoder raises for frames that it does not take, or a decoder that finds damage in its second pass."""


class _Tried(Exception):  # noqa: N818  # no error
    """A folder can be written to; raised to leave nothing behind in it."""


@dataclass(frozen=True)
class Wanted:
    """Which files are written beside the ledger and the trace.

    Attributes
    ----------
    npz : whether to write labels.npz
    why : whether to write why.npz and why.png
    overlay : whether to write overlay.mp4
    png : whether to write labels/
    """

    npz: bool = False
    why: bool = False
    overlay: bool = True
    png: bool = True


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
    with atomic_folder(folder, last=TRACE, stale=lambda place: _earlier_files(place) or ()) as part:
        yield part


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
    shares = [_named_shares(result) for result in results]
    lack = ""
    with ThreadPoolExecutor(1) as beside:
        pictures = beside.submit(_write_labels, folders, source, results, shares, wanted)
        try:
            strip = _write_overlays(folders, source, results, shares, wanted, advance)
        except _NO_OVERLAY as error:
            strip = None
            lack = f"{OVERLAY} could not be made ({_line(error)})"
        pictures.result()
    if strip is not None and wanted.why:
        write_why(part, results, trace.sources, strip)
    if lack:
        for result in results:
            result.ledger.note(f"{lack}; the labels are complete")
    if last.space == REGIONS:
        write_state(part / STATE, [memory for memory in last.memory if memory is not None])
    else:
        write_confidence(part / STATE, _confidence(results))
    added = {**facts, "writing_s": clock.now_s()}
    ledgers: list[dict[str, Any]] = [
        plain({**result.ledger.as_dict(), **_found(result, j, trace.model.name), "class_shares": own, **added})
        for j, (result, own) in enumerate(zip(results, shares, strict=True))
    ]
    for folder, ledger in zip(folders, ledgers, strict=True):
        (folder / "ledger.json").write_text(json.dumps(ledger, indent=2, allow_nan=False) + "\n")
    write_trace(part / TRACE, replace(trace, files=[*_files(part), TRACE]))
    return ledgers


def _line(error: Exception) -> str:
    """What went wrong with an overlay; raised again where nothing could be written there."""
    if isinstance(error, OSError) and error.errno in NO_ROOM:
        raise error
    return " ".join(str(getattr(error, "strerror", None) or error).split())[:200] or type(error).__name__


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


def _found(result: Result, j: int, model: str) -> dict[str, Any]:
    """What the ledger of the result of budget j says of its labels."""
    expected = result.expected
    promise = None if expected is None else {**vars(expected), "words": expected.in_words(model)}
    return {"prior_only": _is_prior(result, j), "expected": promise}


def _is_prior(result: Result, j: int) -> bool:
    """Whether nothing was predicted for the result of budget j: every pixel has the most frequent class."""
    finishes = [window.finishes[j] for window in result.windows]
    return not any(finish.n_events and not finish.prior for finish in finishes)


def _named_shares(result: Result) -> dict[str, float]:
    """Share of each class in the labels of a result, in the order of the classes."""
    shares = class_shares(result.labels, len(result.classes))
    return dict(zip(result.classes.names, shares.tolist(), strict=True))


def _write_labels(
    folders: Sequence[Path],
    source: VideoSource,
    results: Sequence[Result],
    shares: Sequence[Mapping[str, float]],
    wanted: Wanted,
) -> None:
    """Write label pictures, `classes.json` and arrays of labels, each in the folder of its budget."""
    for folder, result, own in zip(folders, results, shares, strict=True):
        folder.mkdir(exist_ok=True)
        if wanted.png:
            write_label_pngs(folder / "labels", result.labels, result.classes, _stems(source, len(result.labels)))
            write_classes(folder / "labels" / "classes.json", result.classes, own)
        if wanted.npz:
            np.savez_compressed(folder / "labels.npz", labels=result.labels, **_described(result.classes))


def _write_overlays(
    folders: Sequence[Path],
    source: VideoSource,
    results: Sequence[Result],
    shares: Sequence[Mapping[str, float]],
    wanted: Wanted,
    advance: Callable[[int], None],
) -> Strip | None:
    """Write an overlay for each budget in one pass over the video. Returns the frames that `why.png` shows."""
    last = results[-1].labels
    numbers = frames_shown(len(last)) if wanted.why else []
    size = source.width, source.height
    if not wanted.overlay and not wanted.why:
        advance(len(last))
        return None
    kept: dict[int, UInt8] = {}
    drawn = overlay_size(size, len(last))
    shown = pictures_ahead(source)
    first = next(shown)
    with ExitStack() as stack, one_thread_each():
        overlays = []
        for folder, result, own in zip(folders, results, shares, strict=True):
            if wanted.overlay:
                folder.mkdir(exist_ok=True)
                legend = run_legend(result.classes, own, drawn)
                writer = VideoWriter(folder / OVERLAY, drawn, source.rate, first.matrix)
                tint = Tint(result.classes.colours, first.matrix, even(drawn), legend)
                overlays.append(_Overlay(stack.enter_context(writer), tint, result.labels))
        for t, picture in zip(range(len(last)), chain([first], shown), strict=False):
            for overlay in overlays:
                overlay.add(t, picture)
            if t in numbers:
                kept[t] = rgb_of(picture, size)
            advance(1)
    return Strip(list(kept), np.stack(list(kept.values())), last[list(kept)]) if kept else None


@dataclass(eq=False)
class _Overlay:
    """An overlay that is being written.

    Attributes
    ----------
    writer : of the file
    tint : of its classes
    labels : (T, H, W)
    """

    writer: VideoWriter
    tint: Tint
    labels: UInt8

    def add(self, t: int, picture: Picture) -> None:
        """Write frame t."""
        if t == 0 or not np.array_equal(self.labels[t], self.labels[t - 1]):
            self.tint.choose(self.labels[t])
        self.writer.write_picture(self.tint.apply(picture.frame), picture.time_s)


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
