"""What the labels of a window were made from, where whole frames were labelled."""

from dataclasses import dataclass

import cv2
import numpy as np

from budgetseg.types import Float32, Float64, Int32, UInt8

__all__ = ["FrameEvidence"]


@dataclass(frozen=True, eq=False)
class FrameEvidence:
    """How confident the labels of a window are, at one budget, and where they come from.

    Attributes
    ----------
    cells : (T, h, w) uint8, the share of the label's class in the fused predictions, 255 for all
    lost : (T,) points that labels are found to lose by being carried; None for none
    key_frames : (T, h, w) int32, number in the window of the key frame that tells most for the label; None where
        nobody has asked for it
    networks : (T, h, w) uint8, number of the network that saw it; None likewise
    """

    cells: UInt8
    lost: Float64 | None = None
    key_frames: Int32 | None = None
    networks: UInt8 | None = None

    def confidence(self, size: tuple[int, int]) -> Float32:
        """The probability of the label at every pixel, (T, H, W)."""
        found = np.empty((len(self.cells), *size), np.float32)
        for cells, out in zip(self.cells, found, strict=True):
            out[:] = cv2.resize(cells, size[::-1], interpolation=cv2.INTER_LINEAR) / np.float32(255)
        return found
