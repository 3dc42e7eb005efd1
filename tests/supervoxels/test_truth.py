"""Labels of supervoxels against loops over voxels."""

from collections import Counter
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.supervoxels.truth import achievable_accuracy, count_labels, majority_labels
from budgetseg.types import IGNORE, Int32, UInt8
from tests.supervoxels.volumes import few, id_volumes

N_LABELS = 4


def labels_of(ids: Int32, seed: int) -> UInt8:
    """Random labels, a fifth of them ignored."""
    return np.random.default_rng(seed).choice([0, 1, 2, 3, IGNORE], ids.shape).astype(np.uint8)


def counted(ids: Int32, labels: UInt8, labelled: Sequence[int]) -> list[Counter[int]]:
    counts: list[Counter[int]] = [Counter() for _ in range(int(ids.max()) + 1)]
    for t, truth in zip(labelled, labels, strict=True):
        for region, label in zip(ids[t].ravel().tolist(), truth.ravel().tolist(), strict=True):
            if label != IGNORE:
                counts[region][label] += 1
    return counts


@given(id_volumes(), st.integers(0, 2**32))
@few
def test_counts_are_those_of_a_loop(ids: Int32, seed: int) -> None:
    labels = labels_of(ids, seed)
    expected = counted(ids, labels, range(len(ids)))
    assert count_labels(ids, labels, N_LABELS).tolist() == [[c[label] for label in range(N_LABELS)] for c in expected]


@given(id_volumes(), st.integers(0, 2**32), st.sets(st.integers(0, 4)))
@few
def test_only_labelled_frames_count(ids: Int32, seed: int, frames: set[int]) -> None:
    labelled = sorted(t for t in frames if t < len(ids))
    labels = labels_of(ids, seed)[labelled]
    expected = counted(ids, labels, labelled)
    counts = count_labels(ids, labels, N_LABELS, labelled)
    assert counts.tolist() == [[c[label] for label in range(N_LABELS)] for c in expected]


def most_frequent(counts: Counter[int]) -> int:
    return min(counts, key=lambda label: (-counts[label], label), default=IGNORE)


@given(id_volumes(), st.integers(0, 2**32))
@few
def test_the_majority_is_the_most_frequent_label_the_lowest_of_equals(ids: Int32, seed: int) -> None:
    labels = labels_of(ids, seed)
    expected = [most_frequent(counts) for counts in counted(ids, labels, range(len(ids)))]
    majority = majority_labels(count_labels(ids, labels, N_LABELS))
    assert majority.dtype == np.uint8
    assert majority.tolist() == expected


@given(id_volumes(), st.integers(0, 2**32))
@few
def test_achievable_accuracy_is_that_of_the_majority_labels(ids: Int32, seed: int) -> None:
    labels = labels_of(ids, seed)
    counts = count_labels(ids, labels, N_LABELS)
    kept = labels != IGNORE
    right = (majority_labels(counts)[ids] == labels)[kept].sum()
    assert achievable_accuracy(counts) == pytest.approx(right / max(kept.sum(), 1))


def test_nothing_labelled_means_no_label_and_no_accuracy() -> None:
    ids = np.array([[[0, 1]]], np.int32)
    counts = count_labels(ids, np.full_like(ids, IGNORE, np.uint8), N_LABELS)
    assert majority_labels(counts).tolist() == [IGNORE, IGNORE]
    assert achievable_accuracy(counts) == 0


def test_supervoxels_that_follow_the_labels_can_express_them_all() -> None:
    ids = np.random.default_rng(0).integers(0, N_LABELS, (3, 5, 5)).astype(np.int32)
    assert achievable_accuracy(count_labels(ids, ids.astype(np.uint8), N_LABELS)) == 1


def test_frames_and_labels_of_different_number_are_refused() -> None:
    ids = np.zeros((3, 2, 2), np.int32)
    with pytest.raises(ValueError, match="zip"):
        count_labels(ids, np.zeros((2, 2, 2), np.uint8), N_LABELS)
