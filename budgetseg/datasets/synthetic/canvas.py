"""The canvas: colour and class in one image, so that both always have the same outline."""

from collections.abc import Sequence
from dataclasses import dataclass, field

import cv2
import numpy as np

from budgetseg.types import Float64, Int32, UInt8

__all__ = ["Canvas", "Haze", "Paint", "Texture"]

Paint = tuple[float, float, float, float]
"""Red, green, blue and class index."""

Haze = tuple[float, float, float, float]
"""Red, green, blue, and their share in the visible colour, 0 to 1."""

_SHIFT = 4
"""Fractional bits of coordinates for OpenCV: outlines are rounded to 1/16 pixel."""


@dataclass(frozen=True, eq=False)
class Texture:
    """A picture of one class to be laid on rectangles.

    Attributes
    ----------
    pixels : (h, w, 4) uint8, red, green, blue and class index
    cover : (h, w) uint8, above 127 for pixels of the texture, below for holes; None without holes
    """

    pixels: UInt8
    cover: UInt8 | None = None
    _seen: dict[tuple[int, int, Haze], tuple[UInt8, UInt8 | None]] = field(default_factory=dict, repr=False)

    def seen(self, width: float, height: float, haze: Haze) -> tuple[UInt8, UInt8 | None]:
        """Pixels and cover from a distance: with haze, and halved along each axis to about a size, against flicker."""
        h, w = self.pixels.shape[:2]
        halvings = _halvings(w, width), _halvings(h, height)
        key = (*halvings, haze)
        if key not in self._seen:
            size = max(w >> halvings[0], 1), max(h >> halvings[1], 1)
            cover = None if self.cover is None else _resize(self.cover, size)
            self._seen[key] = _mixed(_resize(self.pixels, size), haze), cover
        return self._seen[key]


class Canvas:
    """An image with the class of what was painted last at every pixel.

    Attributes
    ----------
    pixels : (H, W, 4) uint8, red, green, blue and class index
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self.pixels: UInt8 = np.zeros((size[1], size[0], 4), np.uint8)

    def polygon(self, outline: Float64, paint: Paint) -> None:
        """Fill an outline of (M, 2) pixels."""
        _fill(self.pixels, outline, paint)

    def strokes(self, ends: Float64, widths: Float64, paints: Sequence[Paint]) -> None:
        """Draw K lines with round ends between points, (K, 2, 2) pixels, of widths (K,)."""
        whole = np.maximum(np.rint(widths), 1).astype(int).tolist()
        for (a, b), width, paint in zip(_fixed(ends).tolist(), whole, paints, strict=True):
            cv2.line(self.pixels, a, b, paint, width, cv2.LINE_8, _SHIFT)

    def shade(self, outlines: Sequence[Float64], light: float) -> None:
        """Multiply the colours inside the outlines by `light`, once where they overlap."""
        mask = np.zeros(self.pixels.shape[:2], np.uint8)
        for outline in outlines:
            _fill(mask, outline, 255)
        x, y, w, h = cv2.boundingRect(mask)
        box = slice(y, y + h), slice(x, x + w)
        cv2.copyTo(_mixed(self.pixels[box], (0, 0, 0, 1 - light)), mask[box], self.pixels[box])

    def picture(self, texture: Texture, outline: Float64, homography: Float64, haze: Haze) -> None:
        """Lay a texture on an outline of (M, 2) pixels; the homography (3, 3) takes the unit square to pixels."""
        box = self._box(outline)
        if box is None:
            return
        width, height = np.ptp(outline, axis=0).tolist()
        pixels, cover = texture.seen(width, height, haze)
        back = _to_texture(homography, box, pixels)
        mask = np.zeros((box[3] - box[1], box[2] - box[0]), np.uint8)
        _fill(mask, outline - box[:2], 255)
        if cover is not None:
            mask = np.where(_warp(cover, back, box) > 127, mask, 0).astype(np.uint8)
        cv2.copyTo(_warp(pixels, back, box), mask, self.pixels[box[1] : box[3], box[0] : box[2]])

    def _box(self, outline: Float64) -> tuple[int, int, int, int] | None:
        """Left, top, right, bottom of an outline on the canvas, or None off it."""
        if len(outline) < 3:
            return None
        h, w = self.pixels.shape[:2]
        (left, top), (right, bottom) = outline.min(axis=0).tolist(), outline.max(axis=0).tolist()
        box = max(int(left), 0), max(int(top), 0), min(int(right) + 2, w), min(int(bottom) + 2, h)
        return box if box[0] < box[2] and box[1] < box[3] else None


def _halvings(n: int, wanted: float) -> int:
    return max(int(np.log2(n / max(wanted, 1.0))), 0)


def _resize(image: UInt8, size: tuple[int, int]) -> UInt8:
    return np.asarray(cv2.resize(image, size, interpolation=cv2.INTER_AREA), np.uint8)


def _fixed(outline: Float64) -> Int32:
    return np.rint(outline * (1 << _SHIFT)).astype(np.int32)


def _fill(image: UInt8, outline: Float64, paint: Paint | int) -> None:
    if len(outline) > 2:
        cv2.fillPoly(image, [_fixed(outline)], paint, cv2.LINE_8, _SHIFT)


def _mixed(pixels: UInt8, haze: Haze) -> UInt8:
    """Pixels (h, w, 4) with a share of another colour; classes stay."""
    table = np.repeat(np.arange(256.0)[:, None], 4, axis=1)
    table[:, :3] += haze[3] * (np.array(haze[:3]) - table[:, :3])
    return np.asarray(cv2.LUT(pixels, np.rint(table).astype(np.uint8)[None]), np.uint8)


def _to_texture(homography: Float64, box: tuple[int, int, int, int], pixels: UInt8) -> Float64:
    """The matrix (3, 3) that maps pixels of the box to pixels of the texture."""
    shift = np.array([[1.0, 0, box[0]], [0, 1, box[1]], [0, 0, 1]])
    scale = np.array([[pixels.shape[1]], [pixels.shape[0]], [1.0]])
    return np.asarray(scale * cv2.invert(homography)[1] @ shift)


def _warp(image: UInt8, back: Float64, box: tuple[int, int, int, int]) -> UInt8:
    size = box[2] - box[0], box[3] - box[1]
    flags = cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP
    return np.asarray(cv2.warpPerspective(image, back, size, flags=flags, borderMode=cv2.BORDER_REPLICATE), np.uint8)
