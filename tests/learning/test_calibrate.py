"""What is learned from runs on labelled videos."""

import numpy as np
import pytest

from budgetseg.learning.calibrate import CalibrationRecipe, Example, calibrate
from budgetseg.spaces.frames.signs import Signs
from budgetseg.types import Float64


def layout(share: float) -> Float64:
    """Sky above, and road below, as sure as `share`."""
    found = np.empty((4, 4, 2))
    found[:2] = share, 1 - share
    found[2:] = 1 - share, share
    return found


def examples(n_videos: int = 6, seed: int = 0, tells: bool = True) -> list[Example]:
    """Runs whose accuracy follows from their confidence and losses, or from their losses alone."""
    rng = np.random.default_rng(seed)
    found = []
    for k in range(n_videos):
        own = 0.3 * rng.normal()
        for j in range(20):
            confidence, lost = rng.uniform(0.7, 0.95), rng.uniform(0, 20)
            odds = (2 * np.log(confidence / (1 - confidence)) if tells else 2.0) - 0.05 * lost + own
            signs = Signs(confidence, lost, layout(0.9))
            found.append(Example(str(k), j < 10, signs, layout(0.95), float(1 / (1 + np.exp(-odds)))))
    return found


def test_intervals_hold_the_truth_of_other_videos() -> None:
    learned = calibrate(examples())
    assert learned is not None
    others = examples(20, seed=1)
    promises = [learned.promise(example.signs) for example in others]
    holds = [
        own.low is not None and own.high is not None and own.low <= example.accuracy <= own.high
        for own, example in zip(promises, others, strict=True)
    ]
    assert np.mean(holds) > 0.75
    errors = [abs(own.accuracy - example.accuracy) for own, example in zip(promises, others, strict=True)]
    assert np.mean(errors) < 0.05


def test_a_sign_that_tells_nothing_is_left_out() -> None:
    learned = calibrate(examples(tells=False))
    assert learned is not None
    assert learned.weights[0] == pytest.approx(0, abs=0.05)
    assert learned.weights[2] == pytest.approx(-0.05, abs=0.02)


def test_a_video_with_classes_elsewhere_is_out_of_domain() -> None:
    learned = calibrate(examples())
    assert learned is not None
    assert learned.promise(Signs(0.85, 5.0, layout(0.9))).in_domain is True
    promise = learned.promise(Signs(0.85, 5.0, layout(0.2)))
    assert promise.in_domain is False
    assert promise.low == 0


def test_few_videos_teach_nothing() -> None:
    assert calibrate(examples(2)) is None
    assert calibrate(examples(2), recipe=CalibrationRecipe(fewest=2)) is not None


def test_what_was_taken_for_the_truth_is_kept() -> None:
    learned = calibrate(examples(), truth="dcnn_large")
    assert learned is not None
    assert (learned.truth, learned.n_videos) == ("dcnn_large", 6)
