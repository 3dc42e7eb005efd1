"""What labels of a window were made from, and how confident they are."""

import numpy as np

from budgetseg.spaces.regions.evidence import RegionEvidence
from budgetseg.types import Supervoxels
from tests.graphs import random_graph

IDS = np.array([[[0, 0, 1], [2, 2, 1]], [[0, 3, 3], [2, 3, 3]]], np.int32)
PROBABILITIES = np.array([[0.9, 0.1], [0.4, 0.6], [0.5, 0.5], [0.2, 0.8]], np.float32)


def evidence(stride: int = 1, n_frames: int = 2) -> RegionEvidence:
    supervoxels = Supervoxels(IDS, random_graph(4, 6, 0))
    return RegionEvidence(
        supervoxels, stride, n_frames, np.array([1, 0, 3, 1], np.int32), PROBABILITIES, np.array([0, 1, 0, 1], np.int32)
    )


def test_certainty_is_the_largest_probability() -> None:
    assert np.allclose(evidence().certainty, [0.9, 0.6, 0.5, 0.8])


def test_pixels_are_as_confident_as_their_supervoxel() -> None:
    assert np.allclose(evidence().confidence((2, 3)), evidence().certainty[IDS])


def test_confidence_is_carried_to_all_frames_and_to_their_size() -> None:
    found = evidence(stride=3, n_frames=5).confidence((4, 6))
    assert found.shape == (5, 4, 6)
    assert found.dtype == np.float32
    assert np.allclose(found[:3, ::2, ::2], evidence().certainty[IDS[0]])
    assert np.allclose(found[3:, ::2, ::2], evidence().certainty[IDS[1]])
