"""Priors of plans are found again from what they say that carrying loses."""

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.priors import Found, Lost, Sampling, Truth, expected_points, fit_losses, mean_gains
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.settings import Losses
from budgetseg.types import IGNORE

FREE = Sampling(noise=0.1, spread=5.0)


def found(losses: Losses, n_frames: int = 64) -> Found:
    """What would be measured where plans are right."""
    known = replace(losses, alone=0.0)
    rows = [
        replace(row, points=expected_points(row, known))
        for per_key in (2, 4, 8, 16, 32)
        for stride in (1, 2, 4)
        for carry in (FLOW, COPY)
        for distance in (1.0, 4.0)
        for row in [Lost(per_key, stride, carry, distance, 0.0)]
    ]
    return Found(n_frames, rows, {"small": 0.0, "large": float(n_frames)}, fused=0.4)


def test_losses_are_found_again() -> None:
    true = Losses(rate=0.4, copied=3.0, most=50.0, skipped=0.2)
    fitted = fit_losses([found(true)], FREE, Losses(), has_labels=True)
    for name in ("rate", "copied", "most", "skipped"):
        assert getattr(fitted, name) == pytest.approx(getattr(true, name), rel=0.05)
    assert fitted.alone == pytest.approx(0.4)


def test_without_labels_nobody_knows_what_fusing_gains() -> None:
    assert fit_losses([found(Losses())], FREE, Losses(alone=0.2), has_labels=False).alone == 0.2


def test_gains_are_means_over_frames() -> None:
    assert mean_gains([found(Losses(), 10), found(Losses(), 30)]) == {"small": 0.0, "large": pytest.approx(25.0)}


def test_right_labels_have_all_points_and_what_is_not_labelled_does_not_count() -> None:
    labels = np.zeros((2, 8, 12), np.uint8)
    labels[:, :, 6:] = 1
    labels[1, :4] = IGNORE
    truth = Truth.of_labels(labels, (4, 6), 2)
    cells = np.ascontiguousarray(labels[:1, ::2, ::2]).repeat(2, axis=0)
    assert truth.points(cells, 0.002) == pytest.approx(100)
    wrong = cells.copy()
    wrong[1, :2] = 0
    assert truth.points(wrong, 0.002) == pytest.approx(100)
    assert truth.points(1 - cells, 0.002) == pytest.approx(0)
