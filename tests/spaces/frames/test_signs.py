"""What the labels of a video show of how right they are."""

import numpy as np
import pytest

from budgetseg.engine.plan import Plan
from budgetseg.engine.result import Result
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.spaces.frames.signs import Layout, layout_of, signs_of
from budgetseg.timing.ledger import Ledger
from budgetseg.types import IGNORE, Classes, UInt8

CLASSES = Classes(("sky", "road"), np.zeros((2, 3), np.uint8))


def result(labels: UInt8, *evidence: FrameEvidence | None) -> Result:
    plan = Plan(len(labels), (labels.shape[1], labels.shape[2]))
    return Result(labels, Ledger(1.0), CLASSES, "frames", plan, (), evidence, (), 0.5)


def evidence(n_frames: int, confidence: float, lost: float) -> FrameEvidence:
    return FrameEvidence(np.full((n_frames, 4, 6), round(255 * confidence), np.uint8), np.full(n_frames, lost))


def test_confidence_and_losses_are_means_over_frames() -> None:
    signs = signs_of(result(np.zeros((8, 12, 16), np.uint8), evidence(2, 0.4, 10.0), evidence(6, 0.8, 2.0)), 30.0)
    assert signs is not None
    assert signs.confidence == pytest.approx(0.7)
    assert signs.lost == pytest.approx(4.0)


def test_a_window_with_labels_of_another_one_loses_as_across_a_cut() -> None:
    signs = signs_of(result(np.zeros((8, 12, 16), np.uint8), evidence(6, 0.8, 2.0), None), 30.0)
    assert signs is not None
    assert signs.lost == pytest.approx((6 * 2 + 2 * 30) / 8)


def test_labels_of_the_prior_show_nothing() -> None:
    assert signs_of(result(np.zeros((8, 12, 16), np.uint8), None), 30.0) is None


def test_a_layout_is_the_share_of_each_class_in_each_part() -> None:
    labels = np.zeros((3, 60, 80), np.uint8)
    labels[:, 30:] = 1
    labels[:, :, 40:] = IGNORE
    layout = layout_of(labels, 2)
    assert layout.shape == (6, 8, 2)
    assert np.all(layout[:3, :4] == (1, 0))
    assert np.all(layout[3:, :4] == (0, 1))
    assert np.all(layout[:, 4:] == 0.5)  # nothing is known there


def test_a_tiny_video_has_a_layout_too() -> None:
    assert layout_of(np.ones((1, 3, 2), np.uint8), 2, Layout(3, 2)).sum() == pytest.approx(6)
