"""Counts of what a plan works on."""

import pytest

from budgetseg.engine.plan import STRIDES, Plan


@pytest.mark.parametrize(("stride", "n_worked"), [(1, 10), (3, 4), (4, 3), (12, 1)])
def test_every_so_many_frames_one_is_worked_on_the_first_among_them(stride: int, n_worked: int) -> None:
    plan = Plan(10, (4, 6), stride)
    assert plan.n_worked == n_worked
    assert plan.n_pixels == n_worked * 24


def test_supervoxels_are_those_of_the_frames_that_are_worked_on_and_at_least_one() -> None:
    assert Plan(10, (4, 6), stride=4, density=2.5).n_supervoxels == 8
    assert Plan(10, (4, 6), density=2.5).supervoxels_in(2) == 5
    assert Plan(1, (4, 6), density=0.1).n_supervoxels == 1


def test_strides_rise_from_every_frame_on() -> None:
    assert STRIDES[0] == 1
    assert list(STRIDES) == sorted(set(STRIDES))
