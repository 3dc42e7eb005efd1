"""Folds: every item has one, and what a fold holds is also found elsewhere."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.folds import assign_folds
from budgetseg.types import Bool, Float64

SHARED = np.ones((4, 3), np.bool_)


def times_of(*lengths: int) -> list[Float64]:
    return [(np.arange(length) + 0.5) / length for length in lengths]


@st.composite
def presences(draw: st.DrawFn) -> Bool:
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    return rng.random((draw(st.integers(1, 8)), draw(st.integers(1, 4)))) < draw(st.sampled_from([0.3, 0.9]))


def test_videos_that_share_their_classes_stay_whole() -> None:
    folds = assign_folds(SHARED, [5, 6, 7, 8], times_of(5, 6, 7, 8), 2)
    assert all(len(set(fold.tolist())) == 1 for fold in folds)


def test_folds_of_whole_videos_are_balanced_by_frames() -> None:
    lengths = [10, 40, 20, 30]
    folds = [int(fold[0]) for fold in assign_folds(SHARED, lengths, times_of(*lengths), 2)]
    assert folds == [0, 0, 1, 1]  # 50 frames each


def test_a_class_of_one_fold_alone_cuts_all_videos_into_blocks_of_time() -> None:
    presence = SHARED.copy()
    presence[1:, 2] = False
    for fold in assign_folds(presence, [8] * 4, times_of(8, 8, 8, 8), 4):
        assert fold.tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_a_class_that_no_video_has_is_no_reason_to_cut() -> None:
    presence = SHARED.copy()
    presence[:, 2] = False
    folds = assign_folds(presence, [8] * 4, times_of(8, 8, 8, 8), 4)
    assert [fold[0] for fold in folds] == [0, 1, 2, 3]


def test_fewer_videos_than_folds_are_cut() -> None:
    (fold,) = assign_folds(SHARED[:1], [6], times_of(6), 3)
    assert fold.tolist() == [0, 0, 1, 1, 2, 2]


def test_the_first_and_the_last_moment_have_a_fold() -> None:
    (fold,) = assign_folds(SHARED[:1], [2], [np.array([0.0, 1.0])], 4)
    assert fold.tolist() == [0, 3]


@given(presences(), st.integers(2, 4), st.integers(0, 2**32))
def test_whole_videos_or_blocks_never_hide_a_class(presence: Bool, n_folds: int, seed: int) -> None:
    lengths = np.random.default_rng(seed).integers(n_folds, 30, len(presence)).tolist()
    folds = assign_folds(presence, lengths, times_of(*lengths), n_folds)
    assert [len(fold) for fold in folds] == lengths
    assert set(np.concatenate(folds).tolist()) == set(range(n_folds))
    if all(len(set(fold.tolist())) == 1 for fold in folds):
        own = np.array([fold[0] for fold in folds])
        for fold in range(n_folds):
            assert not (presence[own == fold].any(axis=0) & ~presence[own != fold].any(axis=0)).any()
