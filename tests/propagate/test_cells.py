"""Frames become cells, and cells have a class and a confidence."""

import numpy as np
import pytest

from budgetseg.propagate.cells import (
    between,
    confidence_of,
    grey_cells,
    reduced,
    spread_over,
    step_flow,
    top_classes,
)
from tests.baselines.worlds import moving
from tests.propagate.arrays import SETTINGS, probabilities

MOST = SETTINGS.flow_pixels


@pytest.mark.parametrize(("height", "width"), [(16, 20), (100, 120), (360, 480), (361, 479), (1080, 1920)])
def test_frames_are_halved_until_they_are_small(height: int, width: int) -> None:
    frame = np.full((height, width, 3), 77, np.uint8)
    small = reduced(frame, MOST)
    assert small.shape[0] * small.shape[1] <= MOST
    assert small.shape == frame.shape or 4 * small.shape[0] * small.shape[1] > MOST
    assert (small == 77).all()


def test_a_frame_that_is_small_enough_stays_as_it_is() -> None:
    frame = np.random.default_rng(0).integers(0, 256, (100, 120, 3), np.uint8)
    assert reduced(frame, 12_000) is frame


@pytest.mark.parametrize("shape", [(9, 12), (30, 40), (120, 160)])
def test_grey_is_the_mean_of_a_cell(shape: tuple[int, int]) -> None:
    frame = np.repeat(np.linspace(0, 255, 160).astype(np.uint8)[None, :, None], 120, axis=0).repeat(3, axis=2)
    cells = grey_cells(frame, shape)
    assert cells.shape == shape
    assert cells.dtype == np.float32
    assert np.allclose(cells[0], np.linspace(0, 255, shape[1] * 2 + 1)[1::2], atol=3)


@pytest.mark.parametrize("shape", [(30, 40), (60, 80), (120, 160)])
def test_flow_comes_in_cells(shape: tuple[int, int]) -> None:
    video, _ = moving(2, (4, -2))
    first, second = (reduced(frame, MOST) for frame in video.frames)
    flow = step_flow(second, first, shape)
    assert flow.shape == (*shape, 2)
    assert np.allclose(np.median(flow, axis=(0, 1)), [-4 * shape[1] / 160, 2 * shape[0] / 120], atol=0.1)


def test_the_class_of_a_cell_is_the_most_probable_one_and_the_first_of_equals() -> None:
    maps = probabilities((30, 40), 7, seed=0)
    assert np.array_equal(top_classes(maps), maps.argmax(axis=2))
    assert (top_classes(np.ones((3, 4, 5), np.float32)) == 0).all()


def test_confidence_is_the_share_of_the_most_probable_class_whatever_the_sum() -> None:
    maps = probabilities((30, 40), 7, seed=0)
    expected = (255 * maps.max(axis=2)).astype(np.uint8)
    for factor in (1.0, 0.25):
        assert (abs(confidence_of(np.float32(factor) * maps).astype(int) - expected) <= 1).all()


def test_nothing_has_no_confidence() -> None:
    assert (confidence_of(np.zeros((3, 4, 5), np.float32)) == 0).all()


@pytest.mark.parametrize(
    ("at", "first", "second", "part"),
    [(-2.0, 0, 1, 0.0), (0.0, 0, 1, 0.0), (1.25, 1, 2, 0.25), (4.0, 4, 4, 0.0), (7.5, 4, 4, 0.0), (np.nan, 0, 1, 0.0)],
)
def test_a_place_lies_between_two_cells_and_none_lies_outside(at: float, first: int, second: int, part: float) -> None:
    assert between(at, 5) == (first, second, np.float32(part))


@pytest.mark.parametrize(("n", "size"), [(5, 40), (5, 5), (5, 3), (7, 30), (1, 4)])
def test_pixels_after_each_cell_are_all_pixels_in_order(n: int, size: int) -> None:
    start, part, cells = spread_over(n, size)
    assert start[0] == 0
    assert start[n] == size
    assert (np.diff(start) >= 0).all()
    assert ((part >= 0) & (part < 1)).all()
    for cell in range(n):
        assert (cells[start[cell] : start[cell + 1]] == cell).all()
    places = np.clip((np.arange(size) + 0.5) * (n / size) - 0.5, 0, n - 1)
    assert np.allclose(cells + part, places, atol=1e-5)
