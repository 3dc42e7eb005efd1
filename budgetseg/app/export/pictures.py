"""Frames of a finished run: from its video where that is given, or restored from its overlays."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import cv2
import numpy as np

from budgetseg.app.export.run import FinishedRun
from budgetseg.app.overlay import OVERLAY, overlay_size, run_legend
from budgetseg.errors import UsageError
from budgetseg.types import Float32, UInt8
from budgetseg.video import VideoSource, open_video, read_index_png

__all__ = ["mean_outside", "overlay_of", "restored"]


def restored(run: FinishedRun, numbers: Sequence[int]) -> Iterator[UInt8]:
    """Frames of these rising numbers, (H, W, 3) uint8, RGB, at the size of the overlays.

    The tint is removed from the overlays of the smallest and the largest budget. What both legends cover is grey.
    """
    budgets = list(dict.fromkeys([run.budgets[0], run.budgets[-1]]))
    files = [run.label_files(name) for name in budgets]
    wanted = set(numbers)
    overlays = [overlay_of(run, name) for name in budgets]
    legends = [_covered(run, name) for name in budgets]
    for number, frames in enumerate(zip(*overlays, strict=False)):
        if number not in wanted:
            continue
        untinted = [
            _untinted(frame.pixels, label_files[number], run) for frame, label_files in zip(frames, files, strict=True)
        ]
        yield mean_outside(untinted, legends).astype(np.uint8)


def overlay_of(run: FinishedRun, budget: str) -> VideoSource:
    """The overlay at a budget; UsageError if the run wrote none."""
    path = run.place(budget) / OVERLAY
    if not path.is_file():
        raise UsageError(f"there is no '{path}', which pictures are taken from; label without --no-overlay")
    return open_video(path)


def _covered(run: FinishedRun, budget: str) -> tuple[slice, slice]:
    """Rows and columns of the overlay at a budget that its legend covers; none for a run of the first version."""
    video = run.trace.video
    shares = run.ledger(budget).get("class_shares", {})
    legend = run_legend(run.classes, shares, overlay_size((video.width, video.height), video.n_frames))
    if legend is None:
        return slice(0), slice(0)
    height, width = legend.pixels.shape[:2]
    return slice(legend.top, legend.top + height), slice(legend.left, legend.left + width)


def mean_outside(frames: Sequence[Float32], covered: Sequence[tuple[slice, slice]], unknown: float = 64.0) -> Float32:
    """The mean of frames (H, W, 3), each without the rows and columns that are covered in it.

    What is covered in all of them has the value `unknown`: a dark grey, on which colours are still told apart.
    """
    total = np.zeros_like(frames[0])
    n_seen = np.zeros((*frames[0].shape[:2], 1), np.float32)
    for frame, place in zip(frames, covered, strict=True):
        is_seen = np.ones_like(n_seen)
        is_seen[place] = 0
        total += frame * is_seen
        n_seen += is_seen
    return np.asarray(np.where(n_seen > 0, total / np.maximum(n_seen, 1), unknown), np.float32)


def _untinted(overlay: UInt8, labels: Path, run: FinishedRun) -> Float32:
    """The frame (H, W, 3) under an overlay, which is half frame and half label colours."""
    video = run.trace.video
    width, height = overlay_size((video.width, video.height), video.n_frames)
    shown = overlay[:height, :width].astype(np.float32)  # an overlay may be a row or a column larger
    found = cv2.resize(read_index_png(labels), (width, height), interpolation=cv2.INTER_NEAREST)
    colours = np.zeros((256, 3), np.float32)
    colours[: len(run.classes)] = run.classes.colours
    return np.asarray((2 * shown - colours[found]).clip(0, 255))
