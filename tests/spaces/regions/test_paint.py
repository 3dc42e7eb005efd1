"""Pixels take the label of their supervoxel."""

import numpy as np
import pytest

from budgetseg.spaces.regions.paint import paint, painters


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("n_frames", [1, 4])
def test_pixels_take_the_label_of_their_supervoxel(threads: int, n_frames: int) -> None:
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 30, (n_frames, 7, 9)).astype(np.int32)
    labels = rng.integers(0, 255, 30).astype(np.int32)
    out = np.full(ids.shape, 255, np.uint8)
    paint(labels, ids, out, threads, least=10)
    assert np.array_equal(out, labels[ids])


def test_few_pixels_are_painted_by_one_thread() -> None:
    assert [painters(n, 4) for n in (1, 15_000_000, 30_000_000, 100_000_000)] == [1, 1, 3, 4]
    assert painters(100_000_000, 1) == 1
