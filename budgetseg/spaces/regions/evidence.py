"""What the labels of a window were made from: supervoxels, the descriptors of each, and what H made of them."""

from dataclasses import dataclass

import numpy as np

from budgetseg.spaces.regions.carry import carry
from budgetseg.types import Float32, Int32, Supervoxels

__all__ = ["RegionEvidence", "WindowMemory"]


@dataclass(frozen=True, eq=False)
class RegionEvidence:
    """What was known of a window at one budget; N supervoxels, L classes.

    Attributes
    ----------
    supervoxels : of the window, on the frames that were worked on
    stride : every so many frames of the video one was worked on
    n_frames : of the video, in the window
    subsets : (N,) int32, descriptors computed, as bits
    probabilities : (N, L) float32, H's, interpolated where nothing was computed
    labels : (N,) int32
    """

    supervoxels: Supervoxels
    stride: int
    n_frames: int
    subsets: Int32
    probabilities: Float32
    labels: Int32

    @property
    def certainty(self) -> Float32:
        """H's largest probability, (N,)."""
        return np.asarray(self.probabilities.max(axis=1))

    def confidence(self, size: tuple[int, int]) -> Float32:
        """H's largest probability at every pixel, (T, H, W)."""
        found = np.empty((self.n_frames, *size), np.float32)
        carry(self.certainty[self.supervoxels.ids], self.stride, found)
        return found


@dataclass(frozen=True, eq=False)
class WindowMemory:
    """What a run knows of a window at its end, to go on from another time.

    Attributes
    ----------
    supervoxels : of the window
    subsets : (N,) int32, descriptors computed, as bits
    probabilities : (N, L) float32, H's probabilities
    inputs : (N, d) float32, what was computed, as H scales it
    """

    supervoxels: Supervoxels
    subsets: Int32
    probabilities: Float32
    inputs: Float32
