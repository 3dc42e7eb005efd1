"""Data of a run in the regions space for the page: supervoxels, and what is known of them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from budgetseg.app.export.run import FinishedRun
from budgetseg.app.state import DAMAGES, read_state
from budgetseg.checked import read_arrays
from budgetseg.errors import UsageError
from budgetseg.report.arrays import packed
from budgetseg.spaces.regions.evidence import WindowMemory
from budgetseg.types import Float32, Int32, Int64, UInt8
from budgetseg.video import read_index_png

__all__ = ["UNKNOWN", "regions_of"]

Size = tuple[int, int]

UNKNOWN = 255
"""Stands for a share, otherwise 0..254, that no file contains."""
SECONDS = ("at_s", "spent_s", "shared_s")


@dataclass(frozen=True, eq=False)
class _Regions:
    """The supervoxels of all windows in one numbering, and one more for frames that no window covers.

    Attributes
    ----------
    windows : what was known of each window
    starts : number of the first supervoxel of each window, and of the one for other frames
    spans : frames of the video that each window covers
    """

    windows: Sequence[WindowMemory]
    starts: Int64
    spans: Sequence[range]

    @property
    def size(self) -> Size:
        """Height and width of the largest window: where time is short, later ones are worked on at a smaller size."""
        return max((known.supervoxels.ids.shape[1:] for known in self.windows), default=(1, 1))

    def at(self, number: int) -> Int32:
        """Regions of a frame of the video, (h, w), at the size of the largest window."""
        for known, start, span in zip(self.windows, self.starts, self.spans, strict=False):
            ids = known.supervoxels.ids
            if number in span:
                worked = min((number - span.start) // _stride(span, known), len(ids) - 1)
                return np.asarray(_resized(ids[worked], self.size) + start, np.int32)
        return np.full(self.size, self.starts[-1], np.int32)

    def gathered(self, values: Sequence[NDArray[Any]], last: float = 0) -> NDArray[Any]:
        """The arrays of all windows as one, with a row `last` for the region of other frames."""
        shape = values[0].shape[1:] if values else ()
        return np.concatenate([*values, np.full((1, *shape), last, values[0].dtype if values else np.int64)])


def regions_of(run: FinishedRun, numbers: Sequence[int], size: Size) -> dict[str, Any]:
    """Regions of these frames, no larger than they were labelled, and what is known of them, as fields of the page.

    ids : (T, h, w), region of every pixel
    labels : (B, N)
    extent : (N, 3), first frame, last frame, and number of pixels
    steps : descriptors that were computed, by column
    opinions, confidence : (1 or B, N, L) and (N,), as bytes
    n_windows : number of windows
    """
    windows = read_state(run.folder)
    starts = np.cumsum([0, *(len(known.subsets) for known in windows)])
    regions = _Regions(windows, starts, _spans(run))
    maps = np.stack([regions.at(number) for number in numbers])
    labels = _labels(run, maps, numbers, int(regions.starts[-1]) + 1)
    small = _within(maps, size)
    shown, ids = np.unique(small, return_inverse=True)
    return {
        "ids": packed(ids.reshape(small.shape).astype(np.uint16 if len(shown) <= 1 << 16 else np.uint32)),
        "labels": packed(labels[:, shown]),
        "extent": packed(_extent(run, regions)[shown]),
        "steps": {name: packed(column) for name, column in _steps(run, regions, shown).items()},
        "opinions": packed(_opinions(run, regions)[:, shown]),
        "confidence": packed(_confidence(run, regions)[shown]),
        "n_windows": len(windows),
    }


def _spans(run: FinishedRun) -> list[range]:
    """Frames of the video that each window with supervoxels covers."""
    spans = []
    first = 0
    for window in run.trace.windows:
        if window.n_places:  # the state has no others
            spans.append(range(first, first + window.n_frames))
        first += window.n_frames
    return spans


def _stride(span: range, known: WindowMemory) -> int:
    """Every how many frames of the video one of a window was worked on."""
    return -(-len(span) // len(known.supervoxels.ids))


def _resized(ids: Int32, size: Size) -> Int32:
    """A map (h, w) at another size: each pixel is that of the middle of its area."""
    if ids.shape == size:
        return ids
    rows, columns = ((2 * np.arange(n) + 1) * own // (2 * n) for n, own in zip(size, ids.shape, strict=True))
    return np.asarray(ids[rows[:, None], columns])


def _within(maps: Int32, size: Size) -> Int32:
    """Maps (T, h, w) reduced to a size, but not enlarged."""
    height, width = (min(side, most) for side, most in zip(maps.shape[1:], size, strict=True))
    rows = np.arange(height) * maps.shape[1] // height
    columns = np.arange(width) * maps.shape[2] // width
    return maps[:, rows[:, None], columns]


def _labels(run: FinishedRun, maps: Int32, numbers: Sequence[int], n: int) -> UInt8:
    """Label of every region at every budget, (B, N): that of most of its pixels in the label pictures."""
    labels = np.full((len(run.budgets), n), UNKNOWN, np.uint8)
    n_classes = len(run.trace.model.classes)
    height = run.trace.video.height
    width = run.trace.video.width
    rows, columns = maps.shape[1:]
    # For each pixel of the maps, the first pixel of the picture that it covers.
    place = np.ix_(-(-np.arange(rows) * height // rows), -(-np.arange(columns) * width // columns))
    for budget_labels, name in zip(labels, run.budgets, strict=True):
        files = run.label_files(name)
        counts = np.zeros(n * n_classes, np.int64)
        for ids, number in zip(maps, numbers, strict=True):
            found = ids.astype(np.int64) * n_classes + read_index_png(files[number])[place]
            np.add.at(counts, *np.unique(found, return_counts=True))
        votes = counts.reshape(n, n_classes)
        budget_labels[:] = np.where(votes.any(axis=1), votes.argmax(axis=1), UNKNOWN)
    return labels


def _extent(run: FinishedRun, regions: _Regions) -> Int32:
    """First and last frame of every region in the video, and its number of pixels in labelled frames, (N, 3)."""
    found = []
    for known, span in zip(regions.windows, regions.spans, strict=True):
        graph = known.supervoxels.graph
        stride = _stride(span, known)
        first = span.start + stride * graph.boxes[:, 0]
        end = np.minimum(span.start + stride * graph.boxes[:, 1], span.stop)
        found.append(np.stack([first, end - 1, graph.sizes], axis=1).astype(np.int32))
    last = run.trace.video.n_frames - 1
    rest = min(regions.spans[-1].stop, last) if regions.spans else 0
    return np.concatenate([*found, np.array([[rest, last, 0]], np.int32)])


def _steps(run: FinishedRun, regions: _Regions, shown: Int32) -> dict[str, NDArray[Any]]:
    """Descriptors that were computed for the regions shown, in order, by column; `budget` is the first that has it."""
    found: list[tuple[int, int, int, float, float, float]] = []
    labelled = [window for window in run.trace.windows if window.n_places]
    for window, start in zip(labelled, regions.starts, strict=False):
        ends = [finish.n_events for finish in window.finishes]
        budgets = np.searchsorted(ends, np.arange(len(window.events)), side="right")
        found += [
            (event.place + int(start), event.source, int(budget), event.at_s, event.spent_s, event.shared_s)
            for event, budget in zip(window.events, budgets, strict=True)
            if budget < len(ends)
        ]
    region, descriptor, budget, *seconds = np.array(found, np.float64).reshape(-1, 6).T
    kept = np.isin(region, shown)
    return {
        "region": np.searchsorted(shown, region[kept]).astype(np.uint32),
        "descriptor": descriptor[kept].astype(np.uint8),
        "budget": budget[kept].astype(np.uint8),
        **{name: column[kept].astype(np.float32) for name, column in zip(SECONDS, seconds, strict=True)},
    }


def _opinions(run: FinishedRun, regions: _Regions) -> UInt8:
    """H's probabilities at each budget with known ones, (1 or B, N, L), 0..254; the last is the largest budget.

    Without `why.npz` they are known at the largest budget alone, for regions that have a descriptor.
    """
    stored = _why(run, "probabilities")
    if stored is not None:
        return np.stack([_shares(regions.gathered(windows)) for windows in zip(*stored, strict=True)])
    probabilities = [np.where(known.subsets[:, None] > 0, known.probabilities, np.nan) for known in regions.windows]
    if not probabilities:
        return np.full((1, 1, len(run.classes)), UNKNOWN, np.uint8)
    return _shares(regions.gathered(probabilities, np.nan))[None]


def _confidence(run: FinishedRun, regions: _Regions) -> UInt8:
    """The largest probability at the largest budget, (N,), 0..254."""
    stored = _why(run, "confidence")
    if stored is None:
        stored = [np.where(known.subsets > 0, known.probabilities.max(axis=1), np.nan) for known in regions.windows]
    return _shares(regions.gathered(stored, np.nan)) if stored else np.full(1, UNKNOWN, np.uint8)


def _why(run: FinishedRun, name: str) -> list[NDArray[Any]] | None:
    """An array of every window from `why.npz`; None if there is no such file or array."""
    path = run.folder / "why.npz"
    if not path.is_file():
        return None
    try:
        why = read_arrays(path)
    except DAMAGES as error:
        raise UsageError(f"'{path}' cannot be used ({error}); label the video again with --why") from None
    names = [f"{k}/{name}" for k in range(len(run.trace.windows))]
    return [why[key] for key in names] if names and all(key in why for key in names) else None


def _shares(values: Float32) -> UInt8:
    """Shares from 0 to 1 as bytes 0..254; nan becomes UNKNOWN."""
    return np.where(np.isnan(values), UNKNOWN, np.round(254 * np.nan_to_num(values))).astype(np.uint8)
