"""A small legend of classes in a corner of a picture: a colour and a name for each."""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from budgetseg.types import UInt8

__all__ = ["Legend", "LegendStyle", "legend_of"]

_FONT = cv2.FONT_HERSHEY_SIMPLEX


@dataclass(frozen=True)
class LegendStyle:
    """How a legend looks; sizes in pixels.

    Attributes
    ----------
    line_share : height of a line, as a share of the height of the picture
    least_line, most_line : bounds of the height of a line; letters of less than 11 pixels a line cannot be read
    most_share : share of the height of the picture that the legend may cover, at most
    ink, paper : colours of text and background
    """

    line_share: float = 1 / 28
    least_line: int = 12
    most_line: int = 40
    most_share: float = 0.18
    ink: tuple[int, int, int] = (255, 255, 255)
    paper: tuple[int, int, int] = (16, 16, 16)


@dataclass(frozen=True, eq=False)
class Legend:
    """A legend and its place in the picture, all even numbers.

    Attributes
    ----------
    pixels : (h, w, 3) uint8, RGB
    top, left : of its first pixel in the picture
    """

    pixels: UInt8
    top: int
    left: int


def legend_of(
    names: Sequence[str], colours: UInt8, size: tuple[int, int], style: LegendStyle | None = None
) -> Legend | None:
    """A legend at the bottom left of a picture; names that do not fit are left out. None where none fits.

    Parameters
    ----------
    names : of the classes, the most important first
    colours : (n, 3) uint8, RGB, of the same classes
    size : width and height of the picture
    style : how it looks; None for the default
    """
    style = style or LegendStyle()
    width, height = (side - side % 2 for side in size)
    line = 2 * round(min(max(style.line_share * height, style.least_line), style.most_line) / 2)
    scale = cv2.getFontScaleFromHeight(_FONT, max(line - 5, 1))
    gap = line // 4
    n_lines = int(style.most_share * height) // line
    places: list[tuple[int, int, int]] = []  # line, left, class
    at = gap
    row = 0
    longest = 0
    for k, name in enumerate(names):
        text_width = cv2.getTextSize(_plain(name), _FONT, scale, 1)[0][0]
        needed = line + text_width + gap
        if at + needed > width and at > gap:
            row += 1
            at = gap
        if row >= n_lines or at + needed > width:
            break
        places.append((row, at, k))
        at += needed + gap
        longest = max(longest, at - gap)
    if not places:
        return None
    rows = places[-1][0] + 1
    pixels = np.full((rows * line, min(longest + longest % 2, width), 3), style.paper, np.uint8)
    for row, left, k in places:
        top = row * line
        pixels[top + 3 : top + line - 3, left : left + line - gap - 2] = colours[k]
        baseline = (left + line - gap // 2, top + line - 4)
        cv2.putText(pixels, _plain(names[k]), baseline, _FONT, scale, style.ink, 1, cv2.LINE_AA)
    return Legend(pixels, height - len(pixels), 0)


def _plain(name: str) -> str:
    """A name in the letters that the font has."""
    return name.encode("ascii", "replace").decode()
