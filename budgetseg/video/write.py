"""Write labels as indexed PNGs and as an overlay on the video."""

import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from budgetseg.errors import VideoError
from budgetseg.files import atomic_folder
from budgetseg.types import IGNORE, Classes, Int32, Labelling, UInt8, Video
from budgetseg.video.draw import blend, mark_boundaries
from budgetseg.video.encode import VideoWriter
from budgetseg.video.images import list_images
from budgetseg.video.png import index_png, read_index_png

__all__ = ["read_label_pngs", "write_label_pngs", "write_overlay"]

_TOGETHER = 32  # files that one thread writes before errors are checked


def write_label_pngs(folder: str | Path, labels: UInt8, classes: Classes, stems: Sequence[str] | None = None) -> None:
    """Write an indexed PNG for each frame: pixels are class indices, the palette has the colours.

    Parameters
    ----------
    folder : created if needed; files of other names in it are kept
    labels : (T, H, W) uint8, class index or `IGNORE`, which is shown black
    classes : names and colours of the indices
    stems : T file names without suffix; 000000, 000001, ... if None
    """
    names = [f"{t:06d}" for t in range(len(labels))] if stems is None else list(stems)
    _check_names(names, len(labels))
    palette = np.zeros((256, 3), np.uint8)
    palette[: len(classes)] = classes.colours
    n_threads = os.cpu_count() or 1
    with atomic_folder(folder) as part, ThreadPoolExecutor(n_threads) as pool:
        files = [part / f"{name}.png" for name in names]

        def write(first: int) -> None:
            piece = slice(first, first + _TOGETHER)
            _write_pngs(files[piece], labels[piece], palette, classes)

        step = n_threads * _TOGETHER
        for first in range(0, len(files), step):  # in parts, so that an error is raised soon
            list(pool.map(write, range(first, min(first + step, len(files)), _TOGETHER)))


def _write_pngs(files: Sequence[Path], labels: UInt8, palette: UInt8, classes: Classes) -> None:
    """Write frames one after the other; what equals its neighbour is encoded once."""
    before: UInt8 | None = None
    content = b""
    for file, indices in zip(files, labels, strict=True):
        if before is None or not np.array_equal(indices, before):
            _check_classes(indices, classes)
            content = index_png(indices, palette)
        file.write_bytes(content)
        before = indices


def _check_classes(indices: UInt8, classes: Classes) -> None:
    if indices.max(initial=0) < len(classes):
        return
    beyond = indices[(indices >= len(classes)) & (indices != IGNORE)]
    if beyond.size:
        raise VideoError(f"label {beyond[0]} is none of the {len(classes)} classes; check the class list")


def read_label_pngs(folder: str | Path) -> UInt8:
    """Read the indices in all PNGs of `folder` in natural order, (T, H, W) uint8."""
    folder = Path(folder)
    files = [file for file in list_images(folder) if file.suffix.lower() == ".png"] if folder.is_dir() else []
    if not files:
        raise VideoError(f"there are no label PNGs in '{folder}'; check the path")
    frames = [read_index_png(file) for file in files]
    for file, frame in zip(files, frames, strict=True):
        if frame.shape != frames[0].shape:
            raise VideoError(
                f"'{file}' has shape {frame.shape}, but '{files[0].name}' {frames[0].shape}; bring all to one size"
            )
    return np.stack(frames)


def write_overlay(
    path: str | Path,
    video: Video,
    labelling: Labelling | None = None,
    ids: Int32 | None = None,
    *,
    opacity: float = 0.5,
    rate: float | None = None,
) -> None:
    """Write `video` to a file, tinted by class if `labelling` is given, with the boundaries of `ids` if they are given.

    Parameters
    ----------
    path : the video file to write; .mp4 plays everywhere
    video : T frames
    labelling : labels (T, H, W)
    ids : (T, H, W) int32, for example of supervoxels
    opacity : of the class colours
    rate : frames per second; None for the mean of the video's times
    """
    _check_fits(video, labelling, ids)
    t, height, width = video.shape
    with VideoWriter(path, (width, height), rate or _mean_rate(video)) as writer:
        for k in range(t):
            frame: UInt8 = video.frames[k]
            if labelling is not None:
                frame = blend(frame, labelling.labels[k], labelling.classes.colours, opacity)
            if ids is not None:
                frame = mark_boundaries(frame, ids[k])
            writer.write(frame)


def _mean_rate(video: Video) -> float:
    """Mean frames per second, 25 if there are too few times."""
    span_s = float(video.times_s[-1] - video.times_s[0]) if len(video.times_s) else 0.0
    return (len(video.times_s) - 1) / span_s if span_s > 0 else 25.0


def _check_names(names: list[str], n_frames: int) -> None:
    if len(names) != n_frames:
        raise VideoError(f"stems must name each of the {n_frames} frames. Got {len(names)}; give one per frame")
    if len(set(names)) != len(names):
        raise VideoError("stems must differ, or one label file would replace another; rename the frames")


def _check_fits(video: Video, labelling: Labelling | None, ids: Int32 | None) -> None:
    for what, array in (("labels", None if labelling is None else labelling.labels), ("ids", ids)):
        if array is not None and array.shape != video.shape:
            raise VideoError(f"{what} of shape {array.shape} do not fit a video of {video.shape}; use the same frames")
