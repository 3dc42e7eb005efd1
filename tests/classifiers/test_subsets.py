"""H asked for any mix of subsets."""

from collections.abc import Mapping

import numpy as np
import pytest

from budgetseg.classifiers import SubsetClassifiers
from budgetseg.classifiers.subsets import columns_of
from budgetseg.errors import UsageError
from budgetseg.types import Float32

NAMES = ("colour", "hog", "mbh")
LENGTHS = (2, 3, 5, 4)
N_LABELS = 4
N = 50


def classifiers(seed: int = 0) -> SubsetClassifiers:
    rng, d = np.random.default_rng(seed), sum(LENGTHS)
    weights = rng.normal(size=(8, d, N_LABELS)).astype(np.float32)
    for subset in range(8):
        weights[subset, ~columns_of(subset, LENGTHS)] = 0
    centre, scale = rng.normal(size=d).astype(np.float32), rng.uniform(0.5, 2, d).astype(np.float32)
    bias = rng.normal(size=(8, N_LABELS)).astype(np.float32)
    prior, favour = np.full(N_LABELS, 1 / N_LABELS), np.zeros_like(bias)
    return SubsetClassifiers(NAMES, LENGTHS, centre, scale, weights, bias, prior, favour)


def inputs(seed: int = 0) -> tuple[dict[str, Float32], Float32]:
    """Values and places."""
    rng = np.random.default_rng(seed)
    place, *blocks = (rng.normal(size=(N, length)).astype(np.float32) for length in LENGTHS)
    return dict(zip(NAMES, blocks, strict=True)), place


def plain_predict(h: SubsetClassifiers, values: Mapping[str, Float32], place: Float32, i: int, subset: int) -> Float32:
    """One supervoxel, all inputs; weights are zero for those that the subset has not."""
    x = np.concatenate([place[i], *(values[name][i] for name in NAMES)]).astype(np.float64)
    scores = (x - h.centre) / h.scale @ h.weights[subset] + h.bias[subset]
    odds = np.exp(scores - scores.max())
    return np.asarray(odds / odds.sum(), np.float32)


def test_mixed_subsets_in_one_call_are_those_one_by_one() -> None:
    h, (values, place) = classifiers(), inputs()
    subsets = np.random.default_rng(1).integers(0, 8, N).astype(np.int32)
    found = h.predict(values, place, subsets)
    plain = [plain_predict(h, values, place, i, subset) for i, subset in enumerate(subsets.tolist())]
    assert np.allclose(found, plain, atol=1e-5)
    assert np.allclose(found.sum(axis=1), 1, atol=1e-5)


def test_all_subsets_at_once_are_those_one_by_one() -> None:
    h, (values, place) = classifiers(), inputs()
    everything = h.predict_all(values, place)
    assert everything.shape == (N, 8, N_LABELS)
    assert everything.dtype == np.float32
    for subset in range(8):
        assert np.array_equal(everything[:, subset], h.predict(values, place, np.full(N, subset, np.int32)))


def test_values_outside_a_subset_are_not_looked_at() -> None:
    h, (values, place) = classifiers(), inputs()
    subsets = np.random.default_rng(2).integers(0, 8, N).astype(np.int32)
    expected = h.predict(values, place, subsets)
    for d, name in enumerate(NAMES):
        values[name][subsets >> d & 1 == 0] = np.nan
    assert np.array_equal(h.predict(values, place, subsets), expected)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_descriptor_that_is_not_finite_is_named_in_one_line(bad: float) -> None:
    h, (values, place) = classifiers(), inputs()
    values["hog"][7, 2] = bad
    with pytest.raises(UsageError, match="'hog' of supervoxel 7 ") as caught:
        h.predict(values, place, np.full(N, 0b110, np.int32))
    assert "\n" not in str(caught.value)


def test_the_supervoxel_named_is_the_one_that_was_looked_at() -> None:
    h, (values, place) = classifiers(), inputs()
    subsets = np.full(N, 0b011, np.int32)
    subsets[:5] = 0
    values["colour"][:5] = values["hog"][:5] = np.nan  # never computed
    values["hog"][9] = np.nan
    with pytest.raises(UsageError, match="'hog' of supervoxel 9 "):
        h.predict(values, place, subsets)


def test_no_supervoxels_have_no_probabilities() -> None:
    values, place = inputs()
    none = {name: rows[:0] for name, rows in values.items()}
    assert classifiers().predict(none, place[:0], np.zeros(0, np.int32)).shape == (0, N_LABELS)


def test_columns_are_the_place_and_those_of_the_bits() -> None:
    assert np.flatnonzero(columns_of(0, LENGTHS)).tolist() == [0, 1]
    assert np.flatnonzero(columns_of(0b101, LENGTHS)).tolist() == [0, 1, 2, 3, 4, 10, 11, 12, 13]
    assert columns_of(0b111, LENGTHS).all()


def test_counts_are_those_of_the_arrays() -> None:
    assert (classifiers().n_subsets, classifiers().n_labels) == (8, N_LABELS)
