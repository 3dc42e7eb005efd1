"""Videos in other light, blur, noise and colour."""

import numpy as np
import pytest

from budgetseg.learning.disturb import DISTURBANCES, Disturbance, disturbed

FRAMES = np.random.default_rng(0).integers(0, 256, (2, 120, 160, 3)).astype(np.uint8)


def test_no_disturbance_leaves_frames_as_they_are() -> None:
    assert np.array_equal(disturbed(FRAMES, Disturbance()), FRAMES)


@pytest.mark.parametrize("how", DISTURBANCES[1:], ids=lambda how: how.name)
def test_every_other_one_changes_them_and_repeats(how: Disturbance) -> None:
    found = disturbed(FRAMES, how)
    assert found.shape == FRAMES.shape
    assert found.dtype == np.uint8
    assert not np.array_equal(found, FRAMES)
    assert np.array_equal(found, disturbed(FRAMES, how))


def test_they_do_what_they_say() -> None:
    assert disturbed(FRAMES, Disturbance(gamma=2.0)).mean() < FRAMES.mean()
    assert np.ptp(disturbed(FRAMES, Disturbance(saturation=0.0)), axis=3).max() <= 1
    assert disturbed(FRAMES, Disturbance(blur=0.1)).std() < FRAMES.std()
