"""What the labels of a window were made from: supervoxels, their descriptors, and H's probabilities."""

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
    supervoxels : of the frames that were read
    stride : one frame of the video in this many was read
    n_frames : number of frames of the video in the window
    subsets : (N,) int32, descriptors that were computed, as bits
    probabilities : (N, L) float32, H's probabilities, interpolated for supervoxels without descriptors
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
        """H's largest probability at every pixel, (T, H, W), for frames of size (H, W)."""
        confidence = np.empty((self.n_frames, *size), np.float32)
        carry(self.certainty[self.supervoxels.ids], self.stride, confidence)
        return confidence


@dataclass(frozen=True, eq=False)
class WindowMemory:
    """What a run knows of a window at its end, so that a later run can continue.

    Attributes
    ----------
    supervoxels : of the window
    subsets : (N,) int32, descriptors that were computed, as bits
    probabilities : (N, L) float32, H's probabilities; rows mean something only where `subsets` is not 0
    inputs : (N, d) float32, descriptors that were computed, as H scales them
    """

    supervoxels: Supervoxels
    subsets: Int32
    probabilities: Float32
    inputs: Float32
