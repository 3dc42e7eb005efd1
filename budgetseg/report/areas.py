"""Data of a run in the frames space for the page: labels, confidence, and the key frames behind them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from budgetseg.app.export.run import FinishedRun
from budgetseg.app.state import read_confidence
from budgetseg.engine.trace import Finish, WindowTrace
from budgetseg.propagate.fusion import neighbours
from budgetseg.propagate.settings import Propagation
from budgetseg.propagate.timeline import Timeline
from budgetseg.report.arrays import packed
from budgetseg.spaces.frames.costs import COPY
from budgetseg.types import Int32, UInt8
from budgetseg.video import read_index_png

__all__ = ["areas_of"]

Size = tuple[int, int]

CELLS = 64  # cells in a row of confidences, at most; with more they would make up most of the page
PRIOR = "prior"


def areas_of(run: FinishedRun, numbers: Sequence[int], size: Size) -> dict[str, Any]:
    """Labels of these frames at a size, and what they come from, as fields of the page.

    ids : (T, h, w), pixels with one number have the same labels at every budget
    labels : (B, N), the labels of each number
    sure : (B, T, h, w), confidence at some of the networks' cells, 255 for certain
    networks : names
    asks : network, frame and first budget of every run of a network
    sources : for every budget and frame, where its labels come from
    """
    ids, labels = _joint(_labels(run, numbers, size))
    return {
        "ids": packed(ids.astype(np.uint16 if labels.shape[1] <= 1 << 16 else np.uint32)),
        "labels": packed(labels),
        "sure": packed(_confidence(run, numbers)),
        "networks": list(run.trace.sources),
        "asks": [list(ask) for ask in _network_runs(run)],
        "sources": _sources(run, numbers),
    }


def _labels(run: FinishedRun, numbers: Sequence[int], size: Size) -> UInt8:
    """Labels at every budget, (B, T, h, w): each is that of the pixel in the middle of its area."""
    height, width = run.trace.video.height, run.trace.video.width
    rows, columns = ((2 * np.arange(n) + 1) * most // (2 * n) for n, most in zip(size, (height, width), strict=True))
    place = np.ix_(rows, columns)
    found = np.empty((len(run.budgets), len(numbers), *size), np.uint8)
    for budget_labels, name in zip(found, run.budgets, strict=True):
        files = run.label_files(name)
        for labels, number in zip(budget_labels, numbers, strict=True):
            labels[:] = read_index_png(files[number])[place]
    return found


def _joint(labels: UInt8) -> tuple[Int32, UInt8]:
    """Number the combinations of labels (B, ...) that occur. Returns the numbers, (...), and their labels, (B, N)."""
    numbers = np.zeros(labels.shape[1:], np.int32)
    combinations = np.zeros((0, 1), np.uint8)
    for budget_labels in labels:
        both = numbers * 256 + budget_labels
        occurring = np.flatnonzero(np.bincount(both.ravel()))
        place = np.zeros(occurring[-1] + 1, np.int32)
        place[occurring] = np.arange(len(occurring))
        numbers = place[both]
        last = (occurring % 256).astype(np.uint8)[None]
        combinations = np.concatenate([combinations[:, occurring // 256], last])
    return numbers, combinations


def _confidence(run: FinishedRun, numbers: Sequence[int]) -> UInt8:
    """Confidence of labels, (B, T, h, w) uint8, 255 for certain; 0 for frames that no window covers."""
    windows = read_confidence(run.folder)
    cells = next((window.shape[2:] for window in windows if window.shape[2:] != (1, 1)), (1, 1))
    windows = [np.broadcast_to(window, (*window.shape[:2], *cells)) for window in windows]
    missing = run.trace.video.n_frames - sum(window.shape[1] for window in windows)
    rest = np.zeros((len(run.budgets), max(missing, 0), *cells), np.uint8)
    step = -(-cells[1] // CELLS)
    return np.concatenate([*windows, rest], axis=1)[:, numbers, step // 2 :: step, step // 2 :: step]


def _starts(run: FinishedRun) -> Iterator[tuple[int, WindowTrace]]:
    """Windows, and the number of the first frame of each."""
    first = 0
    for window in run.trace.windows:
        yield first, window
        first += window.n_frames


def _network_runs(run: FinishedRun) -> Iterator[tuple[int, int, int]]:
    """Network, frame of the video, and the first budget that has the prediction, of every run of a network."""
    for first, window in _starts(run):
        ends = [finish.n_events for finish in window.finishes]
        budgets = np.searchsorted(ends, range(len(window.events)), side="right")
        for event, budget in zip(window.events, budgets, strict=True):
            if budget < len(ends):
                yield event.source, first + event.place, int(budget)


def _sources(run: FinishedRun, numbers: Sequence[int]) -> list[list[Mapping[str, Any]]]:
    """For every budget and frame: how it got its labels, from which frame if it was late, and the fused key frames."""
    prior: Mapping[str, Any] = {"carry": PRIOR, "late": None, "keys": []}
    sources: list[list[Mapping[str, Any]]] = []
    for j in range(len(run.budgets)):
        known: dict[int, Mapping[str, Any]] = {}
        for first, window in _starts(run):
            covered = range(first, first + window.n_frames)
            wanted = [t for t in numbers if t in covered]
            known |= _window_sources(window, window.finishes[j], first, wanted, len(run.trace.sources))
        sources.append([known.get(number, prior) for number in numbers])
    return sources


def _window_sources(
    window: WindowTrace, finish: Finish, first: int, numbers: Sequence[int], n_networks: int
) -> dict[int, Mapping[str, Any]]:
    keys: list[set[int]] = [set() for _ in range(n_networks)]
    for event in window.events[: finish.n_events]:
        keys[event.source].add(event.place)
    if finish.prior or not any(keys):
        return {}
    late = set(finish.late)
    timeline = Timeline.of(finish.positions, finish.cuts)
    if finish.carry == COPY:
        best = {t: network for network, places in enumerate(keys) for t in places}
        nearest = timeline.nearest(sorted(best.keys() - late)).tolist()
        fused = [[(best[near], near)] for near in nearest]
    else:
        nearest = timeline.nearest(sorted(set(range(window.n_frames)) - late)).tolist()
        fused = neighbours([sorted(places) for places in keys], timeline, Propagation().reach)
    found: dict[int, Mapping[str, Any]] = {}
    for number in numbers:
        at = number - first if finish.carry == COPY else nearest[number - first]
        fused_keys = [[network, first + key] for network, key in fused[at]]
        copied = None if at == number - first else first + at
        found[number] = {"carry": finish.carry, "late": copied, "keys": fused_keys}
    return found
