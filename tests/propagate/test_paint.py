"""Painting equals interpolation, and work that is left out changes nothing."""

import numpy as np
import pytest

from budgetseg.propagate.cells import top_classes
from budgetseg.propagate.paint import paint
from budgetseg.types import Float32, UInt8
from tests.propagate.arrays import interpolated, probabilities


def painted(maps: Float32, height: int, width: int) -> UInt8:
    labels = np.empty((height, width), np.uint8)
    paint(maps, top_classes(maps), labels)
    return labels


@pytest.mark.parametrize(("height", "width"), [(120, 160), (30, 40), (17, 23), (121, 163), (7, 300), (1, 1)])
@pytest.mark.parametrize("n_labels", [2, 11, 23])
def test_painting_is_interpolation_and_then_the_most_probable_class(height: int, width: int, n_labels: int) -> None:
    maps = probabilities((30, 40), n_labels, seed=1)
    assert np.mean(painted(maps, height, width) != interpolated(maps, height, width)) < 1e-3


def test_a_class_that_is_second_in_all_cells_may_win_between_them() -> None:
    maps = np.array([[[0.6, 0.0, 0.4], [0.0, 0.6, 0.4]]], np.float32)
    assert painted(maps, 1, 16)[0].tolist() == interpolated(maps, 1, 16)[0].tolist()
    assert 2 in painted(maps, 1, 16)


def test_cells_amid_their_class_need_no_probabilities() -> None:
    maps = np.zeros((6, 8, 3), np.float32)
    maps[:, :4] = (1, 0, 0)
    maps[:, 4:] = (0, 0, 1)
    near = np.abs(np.arange(8) - 3.5)[None, :, None] < 1
    bare, labels = np.where(near, maps, 0).astype(np.float32), np.empty((48, 64), np.uint8)
    paint(bare, top_classes(maps), labels)
    assert np.array_equal(labels, painted(maps, 48, 64))
