"""What is known of the pixels of a run by whole frames, for the page."""

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

CELLS = 64  # in a row of confidences, at most; more would be most of the page
PRIOR = "prior"


def areas_of(run: FinishedRun, numbers: Sequence[int], size: Size) -> dict[str, Any]:
    """Pixels of these frames at a size, and what labelled them.

    ids : (T, h, w), pixels of one number have the same labels at every budget
    labels : (B, N), these labels
    sure : (B, T, h, w), confidence at some of the networks' cells, 255 for certain
    networks : names
    asks : network, frame and first budget of every question
    sources : for every budget and frame, where its labels come from
    """
    ids, labels = _joint(_labels(run, numbers, size))
    return {
        "ids": packed(ids.astype(np.uint16 if labels.shape[1] <= 1 << 16 else np.uint32)),
        "labels": packed(labels),
        "sure": packed(_confidence(run, numbers)),
        "networks": list(run.trace.sources),
        "asks": [list(ask) for ask in _asks(run)],
        "sources": _sources(run, numbers),
    }


def _labels(run: FinishedRun, numbers: Sequence[int], size: Size) -> UInt8:
    """Labels at every budget, (B, T, h, w): those of the pixel in the middle."""
    height, width = run.trace.video.height, run.trace.video.width
    rows, columns = ((2 * np.arange(n) + 1) * most // (2 * n) for n, most in zip(size, (height, width), strict=True))
    place, found = np.ix_(rows, columns), np.empty((len(run.budgets), len(numbers), *size), np.uint8)
    for own, name in zip(found, run.budgets, strict=True):
        files = run.label_files(name)
        for labels, number in zip(own, numbers, strict=True):
            labels[:] = read_index_png(files[number])[place]
    return found


def _joint(labels: UInt8) -> tuple[Int32, UInt8]:
    """A number for every mix of labels (B, ...) that occurs, at each place of it, (...), and these mixes, (B, N)."""
    numbers, mixes = np.zeros(labels.shape[1:], np.int32), np.zeros((0, 1), np.uint8)
    for own in labels:
        both = numbers * 256 + own
        there = np.flatnonzero(np.bincount(both.ravel()))
        place = np.zeros(there[-1] + 1, np.int32)
        place[there] = np.arange(len(there))
        numbers, mixes = place[both], np.concatenate([mixes[:, there // 256], (there % 256).astype(np.uint8)[None]])
    return numbers, mixes


def _confidence(run: FinishedRun, numbers: Sequence[int]) -> UInt8:
    """How confident labels are, (B, T, h, w), 255 for certain; 0 of frames that no window came to."""
    windows = read_confidence(run.folder)
    cells = next((own.shape[2:] for own in windows if own.shape[2:] != (1, 1)), (1, 1))
    windows = [own if own.shape[2:] == cells else np.broadcast_to(own, (*own.shape[:2], *cells)) for own in windows]
    missing = run.trace.video.n_frames - sum(own.shape[1] for own in windows)
    rest = np.zeros((len(run.budgets), max(missing, 0), *cells), np.uint8)
    step = -(-cells[1] // CELLS)
    return np.concatenate([*windows, rest], axis=1)[:, numbers, step // 2 :: step, step // 2 :: step]


def _starts(run: FinishedRun) -> Iterator[tuple[int, WindowTrace]]:
    """Windows, and the number of the first frame of each."""
    first = 0
    for window in run.trace.windows:
        yield first, window
        first += window.n_frames


def _asks(run: FinishedRun) -> Iterator[tuple[int, int, int]]:
    """Network, frame of the video, and the first budget that has the prediction."""
    for first, window in _starts(run):
        ends = [finish.n_events for finish in window.finishes]
        budgets = np.searchsorted(ends, range(len(window.events)), side="right")
        for event, budget in zip(window.events, budgets, strict=True):
            if budget < len(ends):
                yield event.source, first + event.place, int(budget)


def _sources(run: FinishedRun, numbers: Sequence[int]) -> list[list[Mapping[str, Any]]]:
    """For every budget and frame: how labels came there, from which frame if there was no time, and what was fused."""
    nothing: Mapping[str, Any] = {"carry": PRIOR, "late": None, "keys": []}
    found: list[list[Mapping[str, Any]]] = []
    for j in range(len(run.budgets)):
        known: dict[int, Mapping[str, Any]] = {}
        for first, window in _starts(run):
            own = range(first, first + window.n_frames)
            wanted = [t for t in numbers if t in own]
            known |= _window_sources(window, window.finishes[j], first, wanted, len(run.trace.sources))
        found.append([known.get(number, nothing) for number in numbers])
    return found


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
        best = {t: network for network, own in enumerate(keys) for t in own}
        nearest = timeline.nearest(sorted(best.keys() - late)).tolist()
        fused = [[(best[near], near)] for near in nearest]
    else:
        nearest = timeline.nearest(sorted(set(range(window.n_frames)) - late)).tolist()
        fused = neighbours([sorted(own) for own in keys], timeline, Propagation().reach)
    found: dict[int, Mapping[str, Any]] = {}
    for number in numbers:
        at = number - first if finish.carry == COPY else nearest[number - first]
        own_keys = [[network, first + key] for network, key in fused[at]]
        copied = None if at == number - first else first + at
        found[number] = {"carry": finish.carry, "late": copied, "keys": own_keys}
    return found
