"""Draw labels and supervoxels on frames."""

import cv2
import numpy as np

from budgetseg.types import Bool, Int32, UInt8

__all__ = ["blend", "boundaries", "mark_boundaries"]

_ON_DARK = (255, 255, 0)
_ON_LIGHT = (0, 0, 0)
_MIDDLE = 113  # half the brightness of yellow: a line differs from the frame by at least this much


def blend(frame: UInt8, labels: UInt8, colours: UInt8, opacity: float = 0.5) -> UInt8:
    """`frame` (H, W, 3) tinted with the colour of each pixel's label; pixels without a class stay as they are.

    Parameters
    ----------
    frame : (H, W, 3) uint8, RGB
    labels : (H, W) uint8, class index; `IGNORE`, like any index beyond the classes, has no colour
    colours : (L, 3) uint8, RGB
    opacity : 0 shows the frame alone, 1 the colours alone
    """
    table = np.zeros((256, 3), np.uint8)
    table[: len(colours)] = colours
    tint = cv2.applyColorMap(labels, table[:, None])  # table[labels], nine times as fast
    tinted = np.asarray(cv2.addWeighted(frame, 1.0 - opacity, tint, opacity, 0.0), np.uint8)
    if labels.max(initial=0) >= len(colours):
        np.copyto(tinted, frame, where=(labels >= len(colours))[..., None])
    return tinted


def boundaries(ids: Int32) -> Bool:
    """Whether the right or lower neighbour of each pixel has another id, (H, W) bool."""
    edge = np.zeros(ids.shape, np.bool_)
    edge[:, :-1] |= ids[:, 1:] != ids[:, :-1]
    edge[:-1] |= ids[1:] != ids[:-1]
    return edge


def mark_boundaries(frame: UInt8, ids: Int32) -> UInt8:
    """`frame` (H, W, 3) with the boundaries of `ids` (H, W) drawn: yellow on dark ground, black on light."""
    edge = boundaries(ids)
    is_dark = cv2.cvtColor(frame, cv2.COLOR_RGB2GRAY)[edge] < _MIDDLE
    marked = frame.copy()
    marked[edge] = np.where(is_dark[:, None], _ON_DARK, _ON_LIGHT).astype(np.uint8)
    return marked
