"""Logistic regression against scikit-learn's, and against its own gradient."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression

from budgetseg.classifiers.logistic import Linear, fit_logistic, second_moments, softmax
from budgetseg.types import Float32, Float64, Int64

N_LABELS = 4


def blobs(n: int = 600, seed: int = 0) -> tuple[Float32, Int64, Float32]:
    """Overlapping classes, unevenly large, in inputs of unequal scale; weights of rows."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(N_LABELS, n, p=[0.5, 0.3, 0.15, 0.05])
    x = (rng.normal(size=(N_LABELS, 6)) * 1.2)[labels] + rng.normal(size=(n, 6))
    x = (x - x.mean(axis=0)) * [1, 0.5, 2, 1, 0.1, 1]
    return x.astype(np.float32), labels, rng.uniform(0.2, 3, n).astype(np.float32)


def gradient(model: Linear, x: Float32, labels: Int64, weight: Float32, decay: float) -> Float64:
    """Of the loss in the docstring of `fit_logistic`, biases in the last row."""
    share = weight.astype(np.float64) / weight.sum(dtype=np.float64)
    error = share[:, None] * (softmax(model.scores(x)).astype(np.float64) - np.eye(N_LABELS)[labels])
    return np.vstack([x.T @ error + decay * model.weights, error.sum(axis=0)])


@pytest.mark.parametrize("decay", [1e-2, 1e-3])
def test_probabilities_are_those_of_scikit_learn(decay: float) -> None:
    x, labels, weight = blobs()
    share = weight.astype(np.float64) / weight.sum()
    peer = LogisticRegression(C=1 / decay, tol=1e-8, max_iter=5000).fit(x, labels, share)
    found = softmax(fit_logistic(x, labels, weight, N_LABELS, decay).scores(x))
    assert np.abs(found - peer.predict_proba(x)).max() < 0.02
    assert np.abs(found - peer.predict_proba(x)).mean() < 0.002


@pytest.mark.parametrize("decay", [1e-2, 1e-4])
def test_the_gradient_is_near_zero_at_the_end(decay: float) -> None:
    x, labels, weight = blobs()
    start = Linear(np.zeros((6, N_LABELS), np.float32), np.zeros(N_LABELS, np.float32))
    before = np.abs(gradient(start, x, labels, weight, decay)).max()
    model = fit_logistic(x, labels, weight, N_LABELS, decay)
    assert np.abs(gradient(model, x, labels, weight, decay)).max() < 3e-3 * before


def test_moments_at_hand_change_nothing() -> None:
    x, labels, weight = blobs()
    own = x[:, [0, 2, 5]].copy()
    moments = second_moments(x, weight)[np.ix_([0, 2, 5], [0, 2, 5])]
    one, other = (fit_logistic(own, labels, weight, N_LABELS, 1e-3, given) for given in (None, moments))
    assert np.allclose(softmax(one.scores(own)), softmax(other.scores(own)), atol=2e-3)


def test_moments_are_the_weighted_mean_of_products() -> None:
    x, _, weight = blobs(20)
    plain = sum(w * np.outer(row, row) for w, row in zip(weight, x, strict=True)) / weight.sum()
    assert np.allclose(second_moments(x, weight), plain, atol=1e-5)


def test_weights_of_rows_count_like_repetitions() -> None:
    x, labels, _ = blobs()
    times = np.random.default_rng(1).integers(0, 4, len(x))
    weighted = fit_logistic(x, labels, times.astype(np.float32), N_LABELS, 1e-2)
    rows = np.repeat(np.arange(len(x)), times)
    repeated = fit_logistic(x[rows], labels[rows], np.ones(len(rows), np.float32), N_LABELS, 1e-2)
    assert np.allclose(softmax(weighted.scores(x)), softmax(repeated.scores(x)), atol=5e-3)


def test_a_class_that_never_occurs_gets_no_probability_at_any_temperature() -> None:
    x, labels, weight = blobs()
    model = fit_logistic(x, np.where(labels == 2, 3, labels), weight, N_LABELS, 1e-3)
    for sharp in (0.1, 1, 3):
        probabilities = softmax(model.scores(x) * np.float32(sharp))
        assert probabilities[:, 2].max() < 1e-9
        assert np.allclose(probabilities.sum(axis=1), 1, atol=1e-5)


def test_a_single_class_is_certain() -> None:
    x, labels, weight = blobs(30)
    model = fit_logistic(x, np.full_like(labels, 1), weight, N_LABELS, 1e-3)
    assert softmax(model.scores(x))[:, 1].min() > 0.999


def test_inputs_that_never_vary_do_no_harm() -> None:
    x, labels, weight = blobs()
    x[:, 3] = 0
    model = fit_logistic(x, labels, weight, N_LABELS, 1e-4)
    assert np.isfinite(model.weights).all()
    assert np.allclose(model.weights[3], 0, atol=1e-6)


def test_huge_scores_make_finite_probabilities() -> None:
    found = softmax(np.array([[1e4, -1e4], [-1e4, -1e4]], np.float32))
    assert np.allclose(found, np.array([[1, 0], [0.5, 0.5]]))


def test_what_is_known_stays_where_there_is_nothing_to_learn() -> None:
    x, labels, weight = blobs()
    known = fit_logistic(x, labels, weight, N_LABELS, 1e-4).weights
    strict = fit_logistic(
        x[:8], labels[:8], weight[:8], N_LABELS, 1e3, toward=Linear(known, np.zeros(N_LABELS, np.float32))
    )
    present = np.unique(labels[:8])
    trust = strict.weights[:, present] / known[:, present]
    assert np.allclose(trust, trust.mean(), rtol=0.05)


def test_trust_is_the_factor_at_which_what_is_known_fits() -> None:
    rng = np.random.default_rng(0)
    x = rng.normal(size=(4000, 6)).astype(np.float32)
    known = Linear(rng.normal(size=(6, N_LABELS)).astype(np.float32), rng.normal(size=N_LABELS).astype(np.float32))
    labels = (softmax(known.scores(x)).cumsum(axis=1) < rng.random((len(x), 1))).sum(axis=1)
    given = Linear(3 * known.weights, 3 * known.bias)
    found = fit_logistic(x, labels, np.ones(len(x), np.float32), N_LABELS, 10.0, toward=given)
    assert np.allclose(found.weights, known.weights, atol=0.1 * np.abs(known.weights).max())
    assert np.allclose(found.bias, known.bias, atol=0.1 * np.abs(known.bias).max())
