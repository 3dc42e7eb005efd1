"""What is known of the pixels of a run by whole frames, for the page."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from budgetseg.app.export.run import FinishedRun
from budgetseg.app.state import read_sures
from budgetseg.frames.evidence import Painting
from budgetseg.frames.heard import heard
from budgetseg.frames.label import WindowTrace
from budgetseg.frames.plan import COPY
from budgetseg.frames.window import PRIOR
from budgetseg.report.arrays import packed
from budgetseg.types import Int32, UInt8
from budgetseg.video import read_index_png

__all__ = ["areas_of"]

Size = tuple[int, int]

CELLS = 64  # in a row of how sure labels are, at most; more would be most of the page


def areas_of(run: FinishedRun, numbers: Sequence[int], size: Size) -> dict[str, Any]:
    """Pixels of these frames at a size, and what labelled them.

    ids : (T, h, w), pixels of one number have the same labels at every budget
    labels : (B, N), these labels
    sure : (B, T, h, w) at some of the networks' cells, 255 for certain
    networks : names
    asks : network, frame and first budget of every question
    sources : for every budget and frame, where its labels come from
    """
    ids, labels = _joint(_labels(run, numbers, size))
    networks = list(dict.fromkeys(ask.network for window in run.trace.frames for ask in window.asks))
    return {
        "ids": packed(ids.astype(np.uint16 if labels.shape[1] <= 1 << 16 else np.uint32)),
        "labels": packed(labels),
        "sure": packed(_sure(run, numbers)),
        "networks": networks,
        "asks": [[networks.index(name), frame, budget] for name, frame, budget in _asks(run)],
        "sources": _sources(run, numbers, networks),
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


def _sure(run: FinishedRun, numbers: Sequence[int]) -> UInt8:
    """How sure labels are, (B, T, h, w); 0 of frames that no window came to."""
    windows = read_sures(run.folder)
    cells = windows[0].shape[2:] if windows else (1, 1)
    missing = run.trace.video.n_frames - sum(own.shape[1] for own in windows)
    rest = np.zeros((len(run.budgets), missing, *cells), np.uint8)
    step = -(-cells[1] // CELLS)
    return np.concatenate([*windows, rest], axis=1)[:, numbers, step // 2 :: step, step // 2 :: step]


def _starts(run: FinishedRun) -> Iterator[tuple[int, WindowTrace]]:
    """Windows, and the number of the first frame of each."""
    first = 0
    for window in run.trace.frames:
        yield first, window
        first += window.n_frames


def _asks(run: FinishedRun) -> Iterator[tuple[str, int, int]]:
    """Network, frame of the video, and the first budget that has the answer."""
    for first, window in _starts(run):
        ends = [painting.n_asks for painting in window.paintings]
        for ask, budget in zip(window.asks, np.searchsorted(ends, range(len(window.asks)), side="right"), strict=True):
            if budget < len(ends):
                yield ask.network, first + ask.frame, int(budget)


def _sources(run: FinishedRun, numbers: Sequence[int], networks: Sequence[str]) -> list[list[Mapping[str, Any]]]:
    """For every budget and frame: how labels came there, from which frame if there was no time, and who was heard."""
    nothing: Mapping[str, Any] = {"carry": PRIOR, "late": None, "keys": []}
    found: list[list[Mapping[str, Any]]] = []
    for j in range(len(run.budgets)):
        told: dict[int, Mapping[str, Any]] = {}
        for first, window in _starts(run):
            own = range(first, first + window.n_frames)
            told |= _window_sources(window, window.paintings[j], first, [t for t in numbers if t in own], networks)
        found.append([told.get(number, nothing) for number in numbers])
    return found


def _window_sources(
    window: WindowTrace, painting: Painting, first: int, numbers: Sequence[int], networks: Sequence[str]
) -> dict[int, Mapping[str, Any]]:
    keys: dict[str, list[int]] = {}
    for ask in window.asks[: painting.n_asks]:
        keys.setdefault(ask.network, []).append(ask.frame)
    keys = {name: sorted(set(own)) for name, own in keys.items()}
    if painting.carry == PRIOR or not keys:
        return {}
    if painting.carry == COPY:
        done = sorted(set(keys[painting.network]) - set(painting.late))
        hears = [[(painting.network, _nearest(done, t))] for t in range(window.n_frames)]
    else:
        done = sorted(set(range(window.n_frames)) - set(painting.late))
        hears = heard(keys, window.n_frames, painting.apart)
    found: dict[int, Mapping[str, Any]] = {}
    for number in numbers:
        at = number - first if painting.carry == COPY else _nearest(done, number - first)
        heard_at = [[networks.index(name), first + key] for name, key in hears[at]]
        late = None if at == number - first else first + at
        found[number] = {"carry": painting.carry, "late": late, "keys": heard_at}
    return found


def _nearest(places: Sequence[int], t: int) -> int:
    return min(places, key=lambda place: abs(place - t))
