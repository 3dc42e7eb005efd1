import numpy as np
import pytest

from budgetseg.classifiers.calibration import expected_calibration_error


def test_confidence_that_comes_true_has_no_error() -> None:
    probabilities = np.tile(np.array([0.75, 0.25], np.float32), (4, 1))
    truth = np.array([[3, 1], [6, 2], [1, 0], [2, 1]])
    assert expected_calibration_error(probabilities, truth) == pytest.approx(0, abs=1e-7)


def test_sure_and_wrong_is_an_error_of_one() -> None:
    assert expected_calibration_error(np.array([[1, 0]], np.float32), np.array([[0, 7]])) == 1


def test_every_labelled_pixel_counts_once() -> None:
    probabilities = np.array([[1, 0], [1, 0], [0.6, 0.4]], np.float32)
    truth = np.array([[10, 0], [0, 30], [0, 0]])  # 40 pixels at a confidence of 1, a quarter right
    assert expected_calibration_error(probabilities, truth) == pytest.approx(0.75)


def test_bins_keep_opposite_errors_apart() -> None:
    probabilities = np.array([[0.6, 0.4], [1, 0]], np.float32)
    truth = np.array([[10, 0], [6, 4]])
    assert expected_calibration_error(probabilities, truth) == pytest.approx(0.4)
    assert expected_calibration_error(probabilities, truth, n_bins=1) == pytest.approx(0, abs=1e-7)


def test_probabilities_that_rows_were_drawn_from_are_calibrated() -> None:
    rng = np.random.default_rng(0)
    probabilities = rng.dirichlet(np.ones(4), 20_000).astype(np.float32)
    truth = np.array([rng.multinomial(1, row / row.sum()) for row in probabilities.astype(np.float64)])
    assert expected_calibration_error(probabilities, truth) < 0.015


def test_nothing_labelled_is_no_error() -> None:
    assert expected_calibration_error(np.array([[1, 0]], np.float32), np.array([[0, 0]])) == 0
