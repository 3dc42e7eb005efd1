"""What networks and carrying are worth is seen where there are two answers about one frame."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.settings import Losses
from budgetseg.spaces.frames.worth import Worth, expected_iou
from budgetseg.types import Float32, UInt8

SHAPE = (12, 20)
LOSSES = Losses(doubling=1.5, prior_frames=2.0)
PRICES = {"small": 0.01, "middle": 0.02, "large": 0.08}


def halves() -> UInt8:
    """Labels of a frame that has class 0 on its left and class 1 on its right."""
    labels = np.zeros(SHAPE, np.uint8)
    labels[:, SHAPE[1] // 2 :] = 1
    return labels


def sure_of(labels: UInt8, certainty: float = 1.0, n_labels: int = 3) -> Float32:
    """Probabilities of a network that gives these labels so much, and all others the rest."""
    other = (1 - certainty) / (n_labels - 1)
    return np.where(labels[..., None] == np.arange(n_labels), certainty, other).astype(np.float32)


def moved(labels: UInt8, cells: int) -> UInt8:
    return np.roll(labels, cells, axis=1)


def test_labels_that_are_certain_are_expected_to_be_right() -> None:
    assert expected_iou(halves(), sure_of(halves()), 0.01) == pytest.approx(1)


def test_the_expected_iou_of_certain_truth_is_the_iou() -> None:
    wrong = halves()
    wrong[:, :2] = 1  # 2 of 20 columns
    left, right = 8 / 10, 10 / 12
    assert expected_iou(wrong, sure_of(halves()), 0.01) == pytest.approx((left + right) / 2)


def test_the_scale_of_probabilities_does_not_matter() -> None:
    p = sure_of(halves(), 0.8)
    assert expected_iou(halves(), 7 * p, 0.01) == pytest.approx(expected_iou(halves(), p, 0.01))


def test_no_labels_are_expected_to_be_better_than_the_most_probable_ones() -> None:
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(2), SHAPE).astype(np.float32)
    best = p.argmax(axis=2).astype(np.uint8)
    others = rng.integers(0, 2, (20, *SHAPE)).astype(np.uint8)
    assert all(expected_iou(other, p, 0.01) <= expected_iou(best, p, 0.01) for other in others)


def test_rare_classes_do_not_count() -> None:
    truth = halves()
    truth[0, 0] = 2
    found = halves()
    assert expected_iou(found, sure_of(truth), 0.0) < 0.7
    assert expected_iou(found, sure_of(truth), 0.01) > 0.99


def test_a_network_gains_with_its_price_until_it_was_compared() -> None:
    worth = Worth(LOSSES)
    assert worth.gains(PRICES) == pytest.approx([0.0, 1.5, 4.5])
    worth.compare(0, 1, halves(), sure_of(halves()))
    assert worth.gains(PRICES) == pytest.approx([0.0, 0.0, 3.0])
    assert worth.is_compared(0, 1)
    assert not worth.is_compared(0, 2)


@pytest.mark.parametrize("n", [0, 1, 2])
def test_networks_without_a_price_are_alike(n: int) -> None:
    assert Worth(LOSSES).gains(dict.fromkeys("abc"[:n], 0.0)) == [0.0] * n


def test_what_was_measured_for_a_model_counts_as_some_frames_of_the_video() -> None:
    worth = Worth(replace(LOSSES, gains={"small": 0.0, "middle": 2.0, "large": 1.5}))
    assert worth.gains(PRICES) == pytest.approx([0.0, 2.0, 1.5])
    worth.compare(0, 1, halves(), sure_of(halves()))
    assert worth.gains(PRICES) == pytest.approx([0.0, 2.0 * 2 / 3, 2.0 * 2 / 3 - 0.5])


def test_many_frames_outweigh_what_was_measured_for_a_model() -> None:
    worth = Worth(replace(LOSSES, gains={"small": 0.0, "middle": 2.0}))
    gains = []
    for _ in range(20):
        worth.compare(0, 1, halves(), sure_of(halves()))
        gains.append(worth.gains(PRICES)[1])
    assert gains == sorted(gains, reverse=True)
    assert gains[-1] < 0.2


def test_a_network_that_was_not_measured_gains_with_its_price() -> None:
    worth = Worth(replace(LOSSES, gains={"small": 0.0, "middle": 2.0}))
    assert worth.gains(PRICES) == pytest.approx([0.0, 2.0, 5.0])


def test_where_nothing_is_known_labels_do_not_count() -> None:
    truth = sure_of(halves())
    truth[:, :2] = 0
    wrong = halves()
    wrong[:, :2] = 1
    assert expected_iou(wrong, truth, 0.01) == pytest.approx(1)


def test_the_more_two_networks_differ_and_the_surer_the_dearer_is_the_more_it_gains() -> None:
    def gain(cells: int, certainty: float) -> float:
        worth = Worth(LOSSES)
        worth.compare(0, 1, moved(halves(), cells), sure_of(halves(), certainty))
        return worth.gains({"small": 0.01, "large": 0.02})[1]

    assert 0 == gain(0, 0.9) < gain(1, 0.9) < gain(2, 0.9) < gain(4, 0.9)
    assert gain(2, 0.5) < gain(2, 0.7) < gain(2, 1.0)


def test_a_dearer_network_that_knows_no_better_gains_nothing() -> None:
    worth = Worth(LOSSES)
    guesses = np.random.default_rng(0).integers(0, 3, SHAPE).astype(np.uint8)
    worth.compare(0, 1, guesses, np.full((*SHAPE, 3), 1 / 3, np.float32))
    assert worth.gains({"small": 0.01, "large": 0.02})[1] == pytest.approx(0, abs=2)


def test_carrying_is_taken_to_lose_as_usual_until_it_is_seen_to_lose_less_or_more() -> None:
    worth = Worth(LOSSES)
    assert worth.scales() == {FLOW: 1.0, COPY: 1.0}
    worth.carried(FLOW, 5.0, halves(), sure_of(halves()))
    assert 0 < worth.scales()[FLOW] < 0.5
    worth.carried(COPY, 5.0, moved(halves(), 5), sure_of(halves()))
    assert worth.scales()[COPY] > 2


def test_a_way_that_was_not_tried_is_taken_to_lose_as_much_as_the_other_one() -> None:
    worth = Worth(LOSSES)
    worth.carried(COPY, 5.0, halves(), sure_of(halves()))
    assert worth.scales()[FLOW] == worth.scales()[COPY] < 0.5


def test_many_trials_outweigh_the_prior() -> None:
    worth = Worth(LOSSES)
    scales = []
    for _ in range(12):
        worth.carried(FLOW, 5.0, halves(), sure_of(halves()))
        scales.append(worth.scales()[FLOW])
    assert scales == sorted(scales, reverse=True)
    assert scales[-1] < 0.1
