"""Data of a labelled video for the player of the page: frames, and what is known of them at every budget."""

from collections.abc import Callable, Sequence
from typing import Any

import cv2
import numpy as np

from budgetseg.app.export.pictures import overlay_of, restored
from budgetseg.app.export.run import FinishedRun
from budgetseg.app.spaces import FRAMES
from budgetseg.report.areas import areas_of
from budgetseg.report.regions import regions_of
from budgetseg.types import UInt8
from budgetseg.video import blend, read_index_png
from budgetseg.video.data_url import photo_url
from budgetseg.video.read import fitted

__all__ = ["player_of"]

Size = tuple[int, int]

THUMBNAIL = 240  # pixels of a row in the gallery, which shows pictures about so wide


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
    frames, thumbnail = _pictures(run, numbers, size, advance)
    parts = areas_of if trace.space == FRAMES else regions_of
    return {
        "name": video.name,
        "folder": run.folder.name,
        "space": trace.space,
        "n_frames": video.n_frames,
        "size": [video.width, video.height],
        "numbers": numbers,
        "rate": overlay_of(run, run.budgets[-1]).rate / step,
        "model": trace.model.name,
        "settings": dict(trace.settings),
        "classes": {"names": run.classes.names, "colours": run.classes.colours.tolist()},
        "descriptors": run.descriptors,
        "budgets": [{"name": name, "ledger": run.ledger(name)} for name in run.budgets],
        "frames": frames,
        "thumbnail": thumbnail,
        "frame_size": [size[1], size[0]],
        **parts(run, numbers, size),
    }


def _pictures(
    run: FinishedRun, numbers: Sequence[int], size: Size, advance: Callable[[int], None]
) -> tuple[list[str], str]:
    """Pictures of frames, restored from the overlays, and a small one with labels of the frame in the middle."""
    pictures = []
    thumbnail = ""
    middle = numbers[len(numbers) // 2]
    for number, frame in zip(numbers, restored(run, numbers), strict=False):
        if number == middle:
            thumbnail = _thumbnail(run, frame, number)
        pictures.append(photo_url(fitted(frame, size[::-1])))
        advance(1)
    return pictures, thumbnail


def _thumbnail(run: FinishedRun, frame: UInt8, number: int) -> str:
    """A frame with its labels at the largest budget, in few pixels."""
    height, width = frame.shape[:2]
    size = min(width, THUMBNAIL), max(1, height * min(width, THUMBNAIL) // width)
    labels = cv2.resize(read_index_png(run.label_files(run.budgets[-1])[number]), size, interpolation=cv2.INTER_NEAREST)
    return photo_url(blend(fitted(frame, size), np.asarray(labels, np.uint8), run.classes.colours))
