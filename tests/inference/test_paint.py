"""Pixels take the label of their supervoxel."""

import numpy as np
import pytest

from budgetseg.inference.paint import paint


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n_frames", [1, 4])
def test_pixels_take_the_label_of_their_supervoxel(threads: int, n_frames: int) -> None:
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 30, (n_frames, 7, 9)).astype(np.int32)
    labels = rng.integers(0, 255, 30).astype(np.int32)
    out = np.full(ids.shape, 255, np.uint8)
    paint(labels, ids, out, threads)
    assert np.array_equal(out, labels[ids])
