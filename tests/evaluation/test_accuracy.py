"""Figures of labellings against plain counting of pixels."""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.evaluation.accuracy import Accuracy, accuracy_of, confusion_of
from budgetseg.types import IGNORE, Int32, Int64, UInt8

N_LABELS = 5
SHAPE = (3, 8, 9)


def random_case(seed: int) -> tuple[UInt8, Int32, Int32]:
    """True labels of pixels, some of them ignored, ids of pixels (T, H, W), and labels of supervoxels."""
    rng = np.random.default_rng(seed)
    present = rng.choice(N_LABELS, rng.integers(1, N_LABELS + 1), replace=False)
    truth = rng.choice([*present, IGNORE], SHAPE).astype(np.uint8)
    ids = rng.integers(0, 20, SHAPE, np.int32)
    return truth, ids, rng.integers(0, rng.integers(1, N_LABELS + 1), 20, np.int32)


def counts(truth: UInt8, ids: Int32) -> Int64:
    """Labelled pixels of each class in each supervoxel, (N, L)."""
    found = np.zeros((20, N_LABELS), np.int64)
    for label, region in zip(truth.flat, ids.flat, strict=True):
        if label != IGNORE:
            found[region, label] += 1
    return found


def plain(truth: UInt8, predicted: Int32) -> Accuracy:
    """From label maps, class by class."""
    labelled = truth != IGNORE
    per_class, overlaps = np.full(N_LABELS, np.nan), []
    for label in np.unique(truth[labelled]):
        true, claimed = truth == label, (predicted == label) & labelled
        per_class[label] = (predicted[true] == label).mean()
        overlaps.append((true & claimed).sum() / (true | claimed).sum())
    overall = (predicted == truth)[labelled].mean()
    return Accuracy(float(overall), float(np.nanmean(per_class)), float(np.mean(overlaps)), per_class)


def assert_equal(one: Accuracy, other: Accuracy) -> None:
    assert one.overall == pytest.approx(other.overall)
    assert one.class_average == pytest.approx(other.class_average)
    assert one.miou == pytest.approx(other.miou)
    assert np.allclose(one.per_class, other.per_class, equal_nan=True)


@given(st.integers(0, 2**32))
def test_figures_are_those_of_plain_label_maps(seed: int) -> None:
    truth, ids, labels = random_case(seed)
    confusion = confusion_of(counts(truth, ids), labels)
    assert confusion.sum() == (truth != IGNORE).sum()
    assert_equal(accuracy_of(confusion), plain(truth, labels[ids]))


@given(st.lists(st.integers(0, 2**32), min_size=2, max_size=4))
def test_confusions_of_videos_add_up_to_that_of_all_pixels(seeds: list[int]) -> None:
    cases = [random_case(seed) for seed in seeds]
    total = np.sum([confusion_of(counts(truth, ids), labels) for truth, ids, labels in cases], axis=0)
    truth = np.concatenate([truth for truth, _, _ in cases])
    predicted = np.concatenate([labels[ids] for _, ids, labels in cases])
    assert_equal(accuracy_of(total), plain(truth, predicted))


def test_what_is_all_right_is_one_everywhere() -> None:
    truth = np.diag([3, 1, 4, 1, 5])
    accuracy = accuracy_of(confusion_of(truth, np.arange(5, dtype=np.int32)))
    assert (accuracy.overall, accuracy.class_average, accuracy.miou) == (1, 1, 1)
    assert accuracy.per_class.tolist() == [1] * 5


def test_a_class_that_does_not_occur_counts_in_no_average_even_if_it_is_said() -> None:
    accuracy = accuracy_of(np.array([[6, 2, 2], [0, 5, 5], [0, 0, 0]]))
    assert accuracy.per_class[:2].tolist() == [0.6, 0.5]
    assert np.isnan(accuracy.per_class[2])
    assert accuracy.class_average == pytest.approx(0.55)
    assert accuracy.miou == pytest.approx((6 / 10 + 5 / 12) / 2)
    assert accuracy.overall == pytest.approx(11 / 20)


def test_a_class_that_is_never_said_counts_as_wrong() -> None:
    accuracy = accuracy_of(np.array([[10, 0], [10, 0]]))
    assert accuracy.per_class.tolist() == [1, 0]
    assert (accuracy.overall, accuracy.class_average, accuracy.miou) == (0.5, 0.5, 0.25)


def test_rare_classes_count_as_much_as_common_ones_in_the_class_average() -> None:
    accuracy = accuracy_of(np.array([[980, 0], [20, 0]]))
    assert (accuracy.overall, accuracy.class_average) == (0.98, 0.5)


def test_without_labelled_pixels_there_is_no_figure_and_no_warning() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        accuracy = accuracy_of(np.zeros((3, 3), np.int64))
    assert np.isnan([accuracy.overall, accuracy.class_average, accuracy.miou, *accuracy.per_class]).all()
