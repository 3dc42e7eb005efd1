"""The frames that supervoxels agree on."""

import numpy as np

from budgetseg.descriptors.agreed_frames import _agreed_frames, agreed_frames


def test_supervoxels_agree_on_the_frames_that_they_look_at() -> None:
    rng = np.random.default_rng(0)
    first = rng.integers(0, 90, 500)
    end = first + rng.integers(1, 101 - first)
    frames = agreed_frames(first.astype(np.int32), end.astype(np.int32))
    assert (frames[:, 0] >= first).all()
    assert (np.diff(frames, axis=1) >= 0).all()
    assert (frames[:, 2] < end).all()
    n = np.array([len(set(own)) for own in frames.tolist()])
    assert np.array_equal(n, np.minimum(end - first, 3))
    for own, life in zip(frames.tolist(), zip(first.tolist(), end.tolist(), strict=True), strict=True):
        assert _agreed_frames(*life).tolist() == sorted(set(own))  # one by one as all at once
    of_long_lives = set(frames[end - first >= 24].ravel().tolist())
    assert of_long_lives <= set(range(0, 101, 4))
