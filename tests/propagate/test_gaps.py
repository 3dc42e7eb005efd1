"""Frame gaps: how much lies between neighbouring frames, in frames of usual video."""

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest

from budgetseg.datasets import open_dataset
from budgetseg.datasets.synthetic import render
from budgetseg.propagate.cells import grey_cells, reduced, step_flow
from budgetseg.propagate.gaps import Gaps, change
from budgetseg.types import Float32, UInt8
from tests.propagate.arrays import SETTINGS

GAPS = Gaps()
STILL = np.zeros((24, 32, 2), np.float32)


def smooth_grey(seed: int = 0) -> Float32:
    """Noise that is smooth enough to lie between cells."""
    noise = np.random.default_rng(seed).normal(100, 50, (24, 32)).astype(np.float32)
    for axis in (0, 1):
        noise = np.mean([np.roll(noise, k, axis) for k in range(-2, 3)], axis=0)
    return noise


def gap_of(frames: UInt8, stride: int = 1, n_pairs: int = 8) -> float:
    """The gap that is found where every so many frames are looked at."""
    shape = -(-frames.shape[1] // 4), -(-frames.shape[2] // 4)
    pairs = list(pairwise(range(0, len(frames), stride)))
    some = pairs[:: -(-len(pairs) // n_pairs)]
    changes = []
    for a, b in some:
        earlier, later = (reduced(frames[t], SETTINGS.flow_pixels) for t in (a, b))
        step = step_flow(later, earlier, shape, fine=True)
        changes.append(change(grey_cells(later, shape), grey_cells(earlier, shape), step))
    return GAPS.by_changes(changes, stride)


def test_before_there_are_frames_their_rate_tells() -> None:
    assert GAPS.by_rate(25) == GAPS.by_rate(15) == 1
    assert 5 < GAPS.by_rate(1) < GAPS.by_rate(0.5) < GAPS.by_rate(0.001) == GAPS.most


def test_what_has_moved_along_the_flow_has_not_changed() -> None:
    one, right = smooth_grey(), np.zeros((24, 32, 2), np.float32)
    right[..., 0] = 2.5
    moved = 0.5 * (np.roll(one, -2, axis=1) + np.roll(one, -3, axis=1))
    assert change(one, one, STILL) == 0
    assert change(moved, one, right) < 0.25 < change(moved, one, STILL)  # what came in at the border is new
    assert change(smooth_grey(1), one, STILL) > 0.9


def test_frames_without_contrast_have_not_changed() -> None:
    flat = np.full((24, 32), 7, np.float32)
    assert change(flat, flat, STILL) == 0


def test_the_more_has_changed_the_wider_the_gap_and_less_so_where_frames_were_left_out() -> None:
    found = [GAPS.by_changes([share], 1.0) for share in (0.0, 0.1, 0.15, 0.2, 0.3, 2.0)]
    assert found == sorted(found)
    assert (found[0], found[-1]) == (1, GAPS.most)
    assert GAPS.by_changes([0.2, 0.2], 2.0) == pytest.approx(found[3] / 2)


def test_a_cut_between_two_frames_says_nothing_about_the_others() -> None:
    assert GAPS.by_changes([0.05, 0.9, 0.05], 1.0) == GAPS.by_changes([0.05, 0.9], 1.0) == 1


def test_the_gap_of_a_street_is_wide_where_most_frames_were_left_out() -> None:
    frames = render(1, 96, (160, 120))[0].frames
    dense, sparse = gap_of(frames), gap_of(frames[::32])
    assert dense == 1
    assert sparse > 3
    assert gap_of(frames, stride=32) == pytest.approx(
        max(sparse / 32, 1)
    )  # the same pairs, known to have 31 frames between


def test_a_second_of_driving_is_a_wide_gap_and_a_frame_of_film_is_none(data_root: Path) -> None:
    driving = [gap_of(video.video().frames) for video in open_dataset("camvid", data_root / "camvid").videos("train")]
    film = [gap_of(video.video().frames) for video in open_dataset("suny", data_root / "suny").videos("train")]
    assert max(film) < 1.5
    assert min(driving) > 2
    assert np.mean(driving) > 10
