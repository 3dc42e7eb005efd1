"""A temperature makes probabilities as often right as they say."""

import numpy as np
import pytest

from budgetseg.networks.calibrate import sample_scores, temperature_of
from budgetseg.types import IGNORE, Float32, UInt8


def drawn(factor: float) -> tuple[Float32, UInt8]:
    """Scores that are `factor` times too large, and classes that were drawn by the true ones."""
    rng = np.random.default_rng(0)
    scores = 2 * rng.normal(size=(20_000, 4))
    chances = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    truths = (chances.cumsum(axis=1) < rng.random((len(scores), 1))).sum(axis=1).clip(max=3)
    return (factor * scores).astype(np.float32), truths.astype(np.uint8)


@pytest.mark.parametrize("factor", [0.5, 1.0, 2.5])
def test_the_temperature_undoes_too_much_and_too_little_confidence(factor: float) -> None:
    assert temperature_of(*drawn(factor)) == pytest.approx(factor, rel=0.05)


def test_without_pixels_nothing_is_changed() -> None:
    assert temperature_of(np.zeros((0, 3), np.float32), np.zeros(0, np.uint8)) == 1


def test_pixels_without_a_label_are_not_sampled() -> None:
    planes = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    labels = np.full((3, 4), IGNORE, np.uint8)
    labels[1, 2] = 1
    scores, truths = sample_scores([(planes, labels)] * 2, np.random.default_rng(0), per_frame=5)
    assert scores.tolist() == [[6, 18]] * 2
    assert truths.tolist() == [1, 1]
