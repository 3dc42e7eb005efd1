"""How the overlay of a run looks: its size, and its legend. Whoever reads an overlay back needs to know both."""

from collections.abc import Mapping
from dataclasses import dataclass

from budgetseg.app.shares import found_classes
from budgetseg.types import Classes
from budgetseg.video.legend import Legend, legend_of

__all__ = ["OVERLAY", "OverlaySettings", "overlay_size", "run_legend"]

OVERLAY = "overlay.mp4"
"""Name of the file."""


@dataclass(frozen=True)
class OverlaySettings:
    """Settings of overlays.

    Attributes
    ----------
    most_pixels : an overlay with more pixels in all its frames has half the width and height, which takes a third of
        the time to encode; 1e9 are 4,300 frames of 640×360 (bench wait)
    """

    most_pixels: float = 1e9


def overlay_size(size: tuple[int, int], n_frames: int, settings: OverlaySettings | None = None) -> tuple[int, int]:
    """Width and height of the overlay of a video.

    Examples
    --------
    >>> overlay_size((640, 360), 250), overlay_size((640, 360), 7500)
    ((640, 360), (320, 180))
    """
    settings = settings or OverlaySettings()
    width, height = size
    if n_frames * width * height <= settings.most_pixels:
        return size
    return max(1, width // 2), max(1, height // 2)


def run_legend(classes: Classes, shares: Mapping[str, float], size: tuple[int, int]) -> Legend | None:
    """The legend in the overlay of a run: classes that were found, the most frequent first; None where none fits.

    Parameters
    ----------
    classes : of the run
    shares : share of each class in the labels, by name
    size : width and height of the video
    """
    names = found_classes(shares)
    numbers = [classes.names.index(name) for name in names]
    return legend_of(names, classes.colours[numbers], size)
