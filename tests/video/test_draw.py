"""Labels and boundaries on frames."""

import cv2
import numpy as np
import pytest

from budgetseg.types import IGNORE
from budgetseg.video import blend, mark_boundaries
from tests.video.clips import CLASSES, smooth_video, some_labels


def test_blending_tints_classes_and_spares_the_ignored() -> None:
    frame, labels = smooth_video(1).frames[0], some_labels((48, 64))
    labels[0, 0] = IGNORE
    assert np.array_equal(blend(frame, labels, CLASSES.colours, 0.0), frame)
    full, half = (blend(frame, labels, CLASSES.colours, opacity) for opacity in (1.0, 0.5))
    known = labels != IGNORE
    assert np.array_equal(full[known], CLASSES.colours[labels[known]])
    assert np.array_equal(full[~known], frame[~known])
    assert np.array_equal(half[~known], frame[~known])
    assert np.abs(half[known] - (frame[known] / 2 + CLASSES.colours[labels[known]] / 2)).max() <= 1


@pytest.mark.parametrize("grey", [0, 60, 112, 113, 128, 200, 255])
def test_boundaries_stand_out_on_any_ground(grey: int) -> None:
    frame = np.full((6, 8, 3), grey, np.uint8)
    ids = np.zeros((6, 8), np.int32)
    ids[2:4, 3:6] = 7
    marked = mark_boundaries(frame, ids)
    changed = (marked != frame).any(axis=2)
    expected = np.zeros((6, 8), bool)
    expected[2:4, [2, 5]] = expected[[1, 3], 3:6] = True
    assert np.array_equal(changed, expected)
    brightness = cv2.cvtColor(marked, cv2.COLOR_RGB2GRAY).astype(int)
    assert np.abs(brightness[changed] - grey).min() >= 113
    assert (frame == grey).all()
