"""Tint pictures by the classes of their pixels, in the colours of the file: without the way over RGB."""

import cv2
import numpy as np
from av.video.frame import VideoFrame
from av.video.reformatter import VideoReformatter

from budgetseg.types import UInt8
from budgetseg.video.encode import BT709, converted, even
from budgetseg.video.legend import Legend

__all__ = ["Tint"]

Planes = tuple[UInt8, UInt8, UInt8]
"""Brightness, (H, W), and two colours, (H/2, W/2)."""

_WEIGHTS = {True: (0.2126, 0.0722), False: (0.299, 0.114)}
"""Weights of red and blue in brightness, by whether the matrix is BT.709."""


class Tint:
    """Tints pictures by labels; a tint serves all pictures that have the same labels.

    Parameters
    ----------
    colours : (L, 3) uint8, RGB; labels beyond them are shown without a tint
    matrix : colour matrix of the pictures
    size : width and height of the tinted pictures, both even
    legend : that is drawn on every picture; None for none
    opacity : 0 shows the frame alone, 1 the colours alone
    """

    def __init__(
        self,
        colours: UInt8,
        matrix: int,
        size: tuple[int, int],
        legend: Legend | None = None,
        opacity: float = 0.5,
    ) -> None:
        self._size = size
        self._n_classes = len(colours)
        self._tables = _tables(colours, matrix)
        self._opacity = opacity
        self._tint: list[UInt8] = []
        self._bare: list[UInt8] = []
        self._legend: list[tuple[slice, slice, UInt8]] = []
        if legend is not None:
            self._legend = _patches(legend, matrix)

    def choose(self, labels: UInt8) -> None:
        """Take the tint of labels, (H, W) uint8, for the next pictures."""
        labels = _fitted(labels, self._size)
        coarse = np.ascontiguousarray(labels[::2, ::2])
        brightness, blue, red = self._tables
        self._tint = [_looked_up(labels, brightness), _looked_up(coarse, blue), _looked_up(coarse, red)]
        self._bare = []
        if labels.max(initial=0) >= self._n_classes:
            self._bare = [(plane >= self._n_classes).view(np.uint8) for plane in (labels, coarse, coarse)]

    def apply(self, picture: VideoFrame) -> VideoFrame:
        """A picture with the chosen tint, and the legend."""
        tinted = VideoFrame(*self._size, "yuv420p")
        tinted.colorspace = picture.colorspace
        tinted.color_range = picture.color_range
        targets = _planes(tinted)
        sources = [
            plane if plane.shape == target.shape else _shrunk(plane, target)
            for plane, target in zip(_planes(picture), targets, strict=True)
        ]
        for source, tint, target in zip(sources, self._tint, targets, strict=True):
            cv2.addWeighted(source, 1 - self._opacity, tint, self._opacity, 0.0, dst=target)
        for source, bare, target in zip(sources, self._bare, targets, strict=False):
            cv2.copyTo(source, bare, target)
        for (rows, columns, patch), target in zip(self._legend, targets, strict=False):
            target[rows, columns] = patch
        return tinted


def _planes(picture: VideoFrame) -> Planes:
    """The planes of a picture, as views of its memory."""
    found = [
        np.frombuffer(plane, np.uint8).reshape(-1, plane.line_size)[: plane.height, : plane.width]  # type: ignore[call-overload]
        for plane in picture.planes
    ]
    return found[0], found[1], found[2]


def _fitted(labels: UInt8, size: tuple[int, int]) -> UInt8:
    """Labels (H, W) at a size: an odd side grows by a copy of its edge, as pictures do; all else takes the nearest."""
    if even((labels.shape[1], labels.shape[0])) == size:
        added = ((0, size[1] - labels.shape[0]), (0, size[0] - labels.shape[1]))
        return np.pad(labels, added, "edge") if labels.shape != size[::-1] else labels
    return np.asarray(cv2.resize(labels, size, interpolation=cv2.INTER_NEAREST), np.uint8)


def _shrunk(plane: UInt8, target: UInt8) -> UInt8:
    """A plane at the size of another one."""
    return np.asarray(cv2.resize(plane, target.shape[::-1], interpolation=cv2.INTER_AREA), np.uint8)


def _looked_up(labels: UInt8, table: UInt8) -> UInt8:
    return np.asarray(cv2.LUT(labels, table), np.uint8)


def _tables(colours: UInt8, matrix: int) -> Planes:
    """Brightness and the two colours of every class, (256,) each, in limited range."""
    of_red, of_blue = _WEIGHTS[matrix == BT709]
    red, green, blue = (np.asarray(colours, np.float64) / 255).reshape(-1, 3).T
    brightness = of_red * red + (1 - of_red - of_blue) * green + of_blue * blue
    planes = (
        16 + 219 * brightness,
        128 + 112 * (blue - brightness) / (1 - of_blue),
        128 + 112 * (red - brightness) / (1 - of_red),
    )
    tables = []
    for plane in planes:
        table = np.zeros(256, np.uint8)
        table[: len(plane)] = np.round(plane)
        tables.append(table)
    return tables[0], tables[1], tables[2]


def _patches(legend: Legend, matrix: int) -> list[tuple[slice, slice, UInt8]]:
    """Rows, columns and content of the legend in each plane."""
    picture = converted(legend.pixels, VideoReformatter(), matrix)
    height, width = legend.pixels.shape[:2]
    patches = []
    for plane, step in zip(_planes(picture), (1, 2, 2), strict=True):
        rows = slice(legend.top // step, (legend.top + height) // step)
        columns = slice(legend.left // step, (legend.left + width) // step)
        patches.append((rows, columns, plane.copy()))
    return patches
