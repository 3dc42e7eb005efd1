"""Between a video and the frames of it that are worked on."""

import numpy as np
import pytest

from budgetseg.spaces.regions.carry import carry, reduced


def test_frames_of_the_size_that_is_worked_on_stay_as_they_are() -> None:
    frames = np.random.default_rng(0).integers(0, 256, (3, 20, 30, 3), np.uint8)
    assert np.array_equal(reduced(frames, (20, 30)), frames)


@pytest.mark.parametrize("size", [(10, 15), (5, 7), (2, 3)])
def test_smaller_frames_are_means_of_larger_ones(size: tuple[int, int]) -> None:
    frames = np.full((2, 40, 60, 3), 80, np.uint8)
    frames[1, :, 30:] = 160
    small = reduced(frames, size)
    assert small.shape == (2, *size, 3)
    assert (small[0] == 80).all()
    assert small[1].mean() == pytest.approx(120, abs=2)


@pytest.mark.parametrize(("n_out", "stride"), [(4, 1), (8, 2), (7, 2), (12, 3), (10, 3)])
def test_frames_between_those_that_were_worked_on_are_like_the_one_before(n_out: int, stride: int) -> None:
    maps = np.arange(-(-n_out // stride), dtype=np.uint8)[:, None, None] * np.ones((1, 4, 6), np.uint8)
    out = np.full((n_out, 4, 6), 255, np.uint8)
    carry(maps, stride, out)
    assert [int(one[0, 0]) for one in out] == [t // stride for t in range(n_out)]


def test_frames_after_the_last_that_was_worked_on_are_like_it() -> None:
    out = np.full((9, 2, 2), 255, np.uint8)
    carry(np.arange(2, dtype=np.uint8)[:, None, None] * np.ones((1, 2, 2), np.uint8), 2, out)
    assert [int(one[0, 0]) for one in out] == [0, 0, 1, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("dtype", ["uint8", "float32"])
def test_maps_of_smaller_frames_are_enlarged_without_new_values(dtype: str) -> None:
    maps = np.array([[[0, 7], [3, 5]]]).astype(dtype)
    out = np.zeros((1, 8, 12), dtype)
    carry(maps, 1, out)
    assert np.array_equal(out[0, ::4, ::6], maps[0])
    assert set(np.unique(out)) == {0, 3, 5, 7}
