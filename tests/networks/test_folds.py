"""Folds leave no frame out and hide no class."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.networks.folds import frame_folds
from budgetseg.types import UInt8


def video(length: int, *classes: int) -> UInt8:
    return np.resize(np.array(classes, np.uint8), (length, 2, 2 * len(classes)))


def test_videos_with_the_same_classes_are_kept_whole_and_balanced() -> None:
    folds = frame_folds([video(n, 0, 1) for n in (62, 101, 68, 120, 16)], 4)
    assert [np.unique(fold).tolist() for fold in folds] == [[3], [1], [2], [0], [3]]


def test_a_class_of_one_video_alone_makes_blocks_of_time() -> None:
    first, _ = frame_folds([video(8, 0, 1), video(6, 0, 2)], 2)
    assert first.tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


@given(st.lists(st.integers(4, 40), min_size=1, max_size=6), st.integers(2, 4))
def test_every_fold_has_frames_and_every_frame_a_fold(lengths: list[int], n_folds: int) -> None:
    folds = frame_folds([video(n, 0) for n in lengths], n_folds)
    assert [len(fold) for fold in folds] == lengths
    assert set(np.concatenate(folds).tolist()) == set(range(n_folds))
