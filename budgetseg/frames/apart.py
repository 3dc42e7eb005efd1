"""How far apart the frames of a video lie: in frames of usual video, of a dozen frames a second and more.

What is carried from frame to frame is worth less the more has changed from one to the next. Frames a second apart are
strangers to each other where the camera drives, and where it stands still they are not; so some are looked at when they
are there, if there is time, and until then their rate tells.
"""

from collections.abc import Sequence

import cv2
import numpy as np

from budgetseg.types import Float32

__all__ = ["N_PAIRS", "apart_by", "changed", "foretell_apart"]

N_PAIRS = 3
"""Neighbouring frames that are looked at, of a window."""
ALIKE, CHANGE = 0.1, 0.04
"""Share of a frame's contrast that flow does not find in the frame before, in usual video, and what each frame of it
that lies between adds; squares are added."""
USUAL_RATE = 12.0
"""Frames a second; more are usual."""
MOST = 40.0
"""Frames that lie so far apart have nothing in common."""


def foretell_apart(rate: float) -> float:
    """How far apart frames lie by their rate alone, frames a second."""
    return min(max(USUAL_RATE / rate, 1.0), MOST)


def changed(later: Float32, earlier: Float32, step: Float32) -> float:
    """Share of the contrast of a frame's grey cells (h, w) that is not found in an earlier one.

    `step` is the flow: where the cells of the later frame lie in the earlier one, (h, w, 2).
    """
    rows, columns = np.indices(later.shape, dtype=np.float32)
    from_there = cv2.remap(
        earlier, columns + step[..., 0], rows + step[..., 1], cv2.INTER_LINEAR, borderMode=cv2.BORDER_REPLICATE
    )
    return float(np.abs(later - from_there).mean() / max(later.std(), 1.0))


def apart_by(changes: Sequence[float], gap: float) -> float:
    """How far apart frames lie where so much has changed between some that are `gap` frames from each other.

    The median counts, since a cut may lie between two of them.
    """
    usual = sorted(changes)[(len(changes) - 1) // 2]
    return min(max((usual**2 - ALIKE**2) / CHANGE**2 / gap, 1.0), MOST)
