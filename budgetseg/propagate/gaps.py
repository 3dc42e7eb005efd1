"""How far apart the frames of a video lie: in frames of usual video, of a dozen frames a second and more.

What is carried from frame to frame is worth less the more has changed from one to the next. Frames a second apart have
little in common where the camera drives, and much where it stands still. So some are looked at when they are there;
until then their rate tells.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import cv2
import numpy as np

from budgetseg.types import Float32

__all__ = ["Gaps", "change"]


@dataclass(frozen=True)
class Gaps:
    """How the change between frames becomes a distance.

    Attributes
    ----------
    usual_rate : frames a second from which on video is usual
    alike : share of a frame's contrast that flow does not find in the frame before, in usual video
    each : what each frame of usual video that lies between adds to that; squares add up
    most : frames that lie so far apart have nothing in common
    """

    usual_rate: float = 12.0
    alike: float = 0.1
    each: float = 0.04
    most: float = 40.0

    def by_rate(self, rate: float) -> float:
        """How far apart neighbouring frames lie, by frames a second alone."""
        return min(max(self.usual_rate / rate, 1.0), self.most)

    def by_changes(self, changes: Sequence[float], step: float) -> float:
        """How far apart neighbouring frames lie, where so much has changed between some that are `step` frames apart.

        The median counts, since a cut may lie between two of them.
        """
        middle = sorted(changes)[(len(changes) - 1) // 2]
        return min(max((middle**2 - self.alike**2) / self.each**2 / step, 1.0), self.most)


def change(later: Float32, earlier: Float32, step: Float32) -> float:
    """Share of the contrast of a frame's grey cells (h, w) that is not found in an earlier one.

    `step` is the flow: where the cells of the later frame lie in the earlier one, (h, w, 2).
    """
    rows, columns = np.indices(later.shape, dtype=np.float32)
    moved = cv2.remap(
        earlier, columns + step[..., 0], rows + step[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return float(np.abs(later - moved).mean() / max(later.std(), 1.0))
