"""Data of a labelled video for the player of the page: frames, and what is known of them at every budget."""

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import cv2
import numpy as np

from budgetseg.app.export.run import FinishedRun
from budgetseg.app.spaces import FRAMES
from budgetseg.report.areas import areas_of
from budgetseg.report.arrays import picture
from budgetseg.report.regions import regions_of
from budgetseg.types import Float32, UInt8
from budgetseg.video import open_video, read_index_png

__all__ = ["player_of"]

Size = tuple[int, int]


def player_of(
    run: FinishedRun, n_frames: int, width: int, advance: Callable[[int], None] = lambda _: None
) -> dict[str, Any]:
    """A run as fields of the page, with at most n_frames of its frames, at most `width` pixels wide."""
    trace = run.trace
    video = run.trace.video
    step = -(-video.n_frames // n_frames)
    numbers = list(range(0, video.n_frames, step))
    size = video.height, video.width
    if video.width > width:
        size = max(1, round(video.height * width / video.width)), width
    parts = areas_of if trace.space == FRAMES else regions_of
    return {
        "name": video.name,
        "folder": run.folder.name,
        "space": trace.space,
        "n_frames": video.n_frames,
        "size": [video.width, video.height],
        "numbers": numbers,
        "rate": open_video(run.place(run.budgets[-1]) / "overlay.mp4").rate / step,
        "model": trace.model.name,
        "settings": dict(trace.settings),
        "classes": {"names": run.classes.names, "colours": run.classes.colours.tolist()},
        "descriptors": run.descriptors,
        "budgets": [{"name": name, "ledger": run.ledger(name)} for name in run.budgets],
        "frames": _frames(run, numbers, size, advance),
        "frame_size": [size[1], size[0]],
        **parts(run, numbers, size),
    }


def _frames(run: FinishedRun, numbers: Sequence[int], size: Size, advance: Callable[[int], None]) -> list[str]:
    """Pictures of frames, restored from the overlays of the smallest and the largest budget by removing the tint."""
    budgets = list(dict.fromkeys([run.budgets[0], run.budgets[-1]]))
    files = [run.label_files(name) for name in budgets]
    wanted = set(numbers)
    pictures = []
    overlays = [open_video(run.place(name) / "overlay.mp4") for name in budgets]
    for number, frames in enumerate(zip(*overlays, strict=False)):
        if number not in wanted:
            continue
        pairs = zip(frames, files, strict=True)
        untinted = [_untinted(frame.pixels, label_files[number], run) for frame, label_files in pairs]
        whole = np.mean(untinted, axis=0).astype(np.uint8)
        pictures.append(picture(cv2.resize(whole, size[::-1], interpolation=cv2.INTER_AREA)))
        advance(1)
    return pictures


def _untinted(overlay: UInt8, labels: Path, run: FinishedRun) -> Float32:
    """The frame (H, W, 3) under an overlay, which is half frame and half label colours."""
    height, width = run.trace.video.height, run.trace.video.width  # an overlay may be a row or a column larger
    colours = np.zeros((256, 3), np.float32)
    colours[: len(run.classes)] = run.classes.colours
    frame = 2 * overlay[:height, :width].astype(np.float32) - colours[read_index_png(labels)]
    return np.asarray(frame.clip(0, 255))
