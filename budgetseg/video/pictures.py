"""Frames of a video as an encoder takes them: 4:2:0, brightness apart from colour, at their times.

Most files store frames so. Without the way over RGB and back, an overlay takes half the time.
"""

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

from av.video.frame import VideoFrame
from av.video.reformatter import ColorRange, VideoReformatter

from budgetseg.types import UInt8
from budgetseg.video.container import Container
from budgetseg.video.encode import BT709, converted
from budgetseg.video.libav import is_upright, upright_rgb
from budgetseg.video.read import VideoSource, fitted

__all__ = ["BT601", "Picture", "pictures", "pictures_ahead", "rgb_of"]

_AHEAD = 8  # pictures that are decoded ahead

BT601 = 6
"""The colour matrix of standard-definition video, as streams number it. It is assumed where a file states none."""

_MATRICES = {1: BT709, 2: BT601, 5: BT601, 6: BT601}
"""Matrices by what files state: BT.709, nothing, and the two names of BT.601."""


class Picture(NamedTuple):
    """A frame for an encoder.

    Attributes
    ----------
    time_s : presentation time, from the first frame of the file
    frame : 4:2:0 with even sides, in limited range; it may not be changed
    matrix : its colour matrix, `BT709` or `BT601`; that of the first picture holds for all of a video
    """

    time_s: float
    frame: VideoFrame
    matrix: int


def pictures(source: VideoSource) -> Iterator[Picture]:
    """Frames of a video in order; those that are not stored as an encoder takes them are converted."""
    reformatter = VideoReformatter()
    if not isinstance(source.clip, Container):
        for frame in source:
            yield Picture(frame.time_s, converted(frame.pixels, reformatter), BT709)
        return
    matrix: int | None = None
    for _, time_s, stored in source.clip.stored(source.span):
        own = _matrix_of(stored, source.size)
        if matrix is None:
            matrix = BT709 if own is None else own
        if own == matrix:
            yield Picture(time_s, stored, matrix)
        else:
            pixels = fitted(upright_rgb(stored, reformatter), source.size)
            yield Picture(time_s, converted(pixels, reformatter, matrix), matrix)


def pictures_ahead(source: VideoSource) -> Iterator[Picture]:
    """As `pictures`, decoded by another thread, so that two cores have work: one decodes, the others encode."""
    if isinstance(source.clip, Container):
        threads = max(1, (os.cpu_count() or 1) // 2)
        source = replace(source, clip=replace(source.clip, threads=threads))
    decoding = pictures(source)
    waiting: deque[Future[Picture | None]] = deque()
    pool = ThreadPoolExecutor(1)  # one thread, so that pictures stay in order
    try:
        for _ in range(_AHEAD):
            waiting.append(pool.submit(next, decoding, None))
        while (picture := waiting.popleft().result()) is not None:
            waiting.append(pool.submit(next, decoding, None))
            yield picture
    finally:
        pool.shutdown(cancel_futures=True)


def rgb_of(picture: Picture, size: tuple[int, int]) -> UInt8:
    """The pixels of a picture, (H, W, 3) uint8, RGB, without what was added for even sides."""
    return upright_rgb(picture.frame, VideoReformatter())[: size[1], : size[0]].copy()


def _matrix_of(frame: VideoFrame, size: tuple[int, int]) -> int | None:
    """The colour matrix of a stored frame that an encoder can take as it is; None for any other."""
    is_plain = frame.format.name == "yuv420p" and frame.color_range != ColorRange.JPEG and is_upright(frame)
    is_fit = (frame.width, frame.height) == size and not any(side % 2 for side in size)
    return _MATRICES.get(int(frame.colorspace)) if is_plain and is_fit else None
