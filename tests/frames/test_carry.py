"""Painting equals interpolation, and work that is left out changes nothing."""

import cv2
import numpy as np
import pytest
from budgetseg.frames.carry import (
    CONTRAST,
    FLOW_PIXELS,
    OUTSIDE,
    Source,
    compose,
    grey_cells,
    paint,
    paint_carried,
    reduced,
    step_flow,
    top_classes,
)

from budgetseg.types import Bool, Float32, Int64, UInt8
from tests.baselines.worlds import moving


def probabilities(shape: tuple[int, int], n_labels: int, seed: int, blob: float = 2.0) -> Float32:
    """Smooth maps that sum to one, (h, w, L)."""
    noise = np.random.default_rng(seed).normal(size=(*shape, n_labels)).astype(np.float32)
    smooth = np.stack([cv2.GaussianBlur(noise[..., k], (0, 0), blob) for k in range(n_labels)], axis=2)
    powers = np.exp(20 * smooth)
    return np.ascontiguousarray(powers / powers.sum(axis=2, keepdims=True), np.float32)


def painted(maps: Float32, height: int, width: int) -> UInt8:
    labels = np.empty((height, width), np.uint8)
    paint(maps, top_classes(maps), labels)
    return labels


def interpolated(maps: Float32, height: int, width: int) -> Int64:
    return np.asarray(cv2.resize(maps, (width, height)).argmax(axis=2))


def sampled(image: Float32, chain: Float32) -> Float32:
    """An image (h, w) or (h, w, L) where a chain leads, by plain interpolation."""
    h, w = image.shape[:2]
    y, x = np.mgrid[:h, :w]
    y, x = np.clip(y + chain[..., 1], 0, h - 1), np.clip(x + chain[..., 0], 0, w - 1)
    y0, x0 = y.astype(int), x.astype(int)
    y1, x1, fy, fx = np.minimum(y0 + 1, h - 1), np.minimum(x0 + 1, w - 1), y - y0, x - x0
    parts = (
        ((1 - fy) * (1 - fx), image[y0, x0]),
        ((1 - fy) * fx, image[y0, x1]),
        (fy * (1 - fx), image[y1, x0]),
        (fy * fx, image[y1, x1]),
    )
    return np.asarray(sum((weight[..., None] if image.ndim == 3 else weight) * part for weight, part in parts))


def inside(chain: Float32) -> Bool:
    """Whether chains lead to a place less than a cell away from the frame, (h, w)."""
    h, w = chain.shape[:2]
    y, x = np.mgrid[:h, :w]
    y, x = y + chain[..., 1], x + chain[..., 0]
    return np.asarray((y > -1) & (y < h) & (x > -1) & (x < w))


@pytest.mark.parametrize(("height", "width"), [(120, 160), (30, 40), (17, 23), (121, 163), (7, 300), (1, 1)])
@pytest.mark.parametrize("n_labels", [2, 11, 23])
def test_painting_is_interpolation_and_then_the_most_probable_class(height: int, width: int, n_labels: int) -> None:
    maps = probabilities((30, 40), n_labels, seed=1)
    assert np.mean(painted(maps, height, width) != interpolated(maps, height, width)) < 1e-3


def test_a_class_that_is_second_in_all_cells_may_win_between_them() -> None:
    maps = np.array([[[0.6, 0.0, 0.4], [0.0, 0.6, 0.4]]], np.float32)
    assert painted(maps, 1, 16)[0].tolist() == interpolated(maps, 1, 16)[0].tolist()
    assert 2 in painted(maps, 1, 16)


@pytest.mark.parametrize("weights", [(1.0, 0.5), (1.0, 0.0), (0.2, 1.0)])
def test_what_is_carried_is_the_mean_of_what_both_key_frames_say(weights: tuple[float, float]) -> None:
    rng, shape = np.random.default_rng(3), (30, 40)
    grey, *seen = (rng.uniform(0, 255, shape).astype(np.float32) for _ in range(3))
    maps = [probabilities(shape, 5, seed) for seed in (1, 2)]
    chains = [rng.normal(0, 3, (*shape, 2)).astype(np.float32) for _ in range(2)]
    first, second = (
        Source(own, top_classes(own), looks, chain, weight)
        for own, looks, chain, weight in zip(maps, seen, chains, weights, strict=True)
    )
    labels = np.empty((120, 160), np.uint8)
    paint_carried(grey, first, second, labels)
    trust = [
        one.weight / (1 + abs(sampled(one.grey, one.chain) - grey) / CONTRAST) * np.where(inside(one.chain), 1, OUTSIDE)
        for one in (first, second)
    ]
    said = [sampled(one.probabilities, one.chain) for one in (first, second)]
    mean = (trust[0][..., None] * said[0] + trust[1][..., None] * said[1]) / (trust[0] + trust[1])[..., None]
    assert np.mean(labels != interpolated(mean.astype(np.float32), 120, 160)) < 1e-3


def test_a_chain_adds_the_step_to_the_chain_where_the_step_leads() -> None:
    rng = np.random.default_rng(0)
    step, chain = (rng.normal(0, 2, (20, 30, 2)).astype(np.float32) for _ in range(2))
    assert np.allclose(compose(step, 1.0, chain), step + sampled(chain, step), atol=1e-4)
    assert np.allclose(compose(step, -1.0, chain), -step + sampled(chain, -step), atol=1e-4)


@pytest.mark.parametrize("shape", [(30, 40), (60, 80), (120, 160)])
def test_flow_comes_in_cells_of_the_answer(shape: tuple[int, int]) -> None:
    video, _ = moving(2, (4, -2))
    first, second = (reduced(frame) for frame in video.frames)
    flow = step_flow(second, first, shape)
    assert flow.shape == (*shape, 2)
    assert np.allclose(np.median(flow, axis=(0, 1)), [-4 * shape[1] / 160, 2 * shape[0] / 120], atol=0.1)


@pytest.mark.parametrize(("height", "width"), [(16, 20), (100, 120), (360, 480), (361, 479), (1080, 1920)])
def test_frames_are_halved_until_they_are_small(height: int, width: int) -> None:
    frame = np.full((height, width, 3), 77, np.uint8)
    small = reduced(frame)
    assert small.shape[0] * small.shape[1] <= FLOW_PIXELS
    assert small.shape == frame.shape or 4 * small.shape[0] * small.shape[1] > FLOW_PIXELS
    assert grey_cells(small, (9, 12)).shape == (9, 12)
    assert (small == 77).all()
