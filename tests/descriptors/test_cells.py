"""Blocks and cells against sums over pixels, with arctan2."""

import numpy as np
import pytest

from budgetseg.descriptors.cells import (
    BLOCK,
    CELL,
    cell_sums,
    flow_blocks,
    flow_edge_blocks,
    gradient_blocks,
)
from budgetseg.types import Float32, Float64, UInt8
from tests.descriptors.plain import block_sums, flow_edge_votes, flow_votes, gradient_votes, square_sum

SIZES = [(1, 1), (2, 3), (4, 4), (5, 7), (13, 1), (16, 24), (33, 30)]
FLOW_SIZES = [(height, width, reduce) for height, width in SIZES for reduce in (1, 2, 4)]


def some_grey(height: int, width: int) -> UInt8:
    return np.random.default_rng(height).integers(0, 256, (height, width), np.uint8)


def some_flow(height: int, width: int) -> Float32:
    """Vectors of every direction, some of them shorter than what counts as motion."""
    return np.random.default_rng(width).normal(0, 1, (height, width, 2)).astype(np.float32)


def assert_near(blocks: Float32, plain: Float64) -> None:
    """Equal but for the arctangent, which is good to 0.003 bins: that share of the lengths may change its bin."""
    assert blocks.shape == plain.shape
    assert (np.abs(blocks - plain) <= 0.003 * plain.sum(axis=2, keepdims=True) + 1e-4).all()


@pytest.mark.parametrize(("height", "width"), SIZES)
def test_gradient_blocks_are_sums_over_pixels(height: int, width: int) -> None:
    grey = some_grey(height, width)
    assert_near(gradient_blocks(grey), block_sums(gradient_votes(grey), BLOCK))


@pytest.mark.parametrize(("height", "width", "reduce"), FLOW_SIZES)
def test_flow_blocks_are_sums_over_vectors(height: int, width: int, reduce: int) -> None:
    flow = some_flow(height, width)
    assert_near(flow_blocks(flow, reduce), block_sums(flow_votes(flow), BLOCK // reduce))


@pytest.mark.parametrize(("height", "width", "reduce"), FLOW_SIZES)
def test_flow_edge_blocks_are_sums_over_vectors(height: int, width: int, reduce: int) -> None:
    flow = some_flow(height, width)
    plain = block_sums(flow_edge_votes(flow), BLOCK // reduce)
    blocks = flow_edge_blocks(flow, reduce)
    assert_near(blocks[:, :, :8], plain[:, :, :8])
    assert_near(blocks[:, :, 8:], plain[:, :, 8:])


def blocks_of_one(dx: float, dy: float) -> list[float]:
    """Bins of a single vector."""
    histogram: list[float] = flow_blocks(np.array([[[dx, dy]]], np.float32), 1)[0, 0].tolist()
    return histogram


@pytest.mark.parametrize("bin_", range(8))
def test_a_vector_along_the_middle_of_a_bin_votes_for_it_alone(bin_: int) -> None:
    angle = bin_ * np.pi / 4
    assert blocks_of_one(3 * np.cos(angle), 3 * np.sin(angle)) == pytest.approx(np.eye(9)[bin_] * 3, abs=0.01)


@pytest.mark.parametrize("bin_", range(8))
def test_a_vector_between_two_bins_votes_for_both(bin_: int) -> None:
    angle = (bin_ + 0.5) * np.pi / 4
    both = 1.5 * (np.eye(9)[bin_] + np.eye(9)[(bin_ + 1) % 8])
    assert blocks_of_one(3 * np.cos(angle), 3 * np.sin(angle)) == pytest.approx(both, abs=0.01)


def test_shares_follow_the_angle_all_the_way_round() -> None:
    angles = np.linspace(0, 2 * np.pi, 3601)
    flow = np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
    bins = np.array([flow_blocks(vector[None, None], 1)[0, 0] for vector in flow])
    assert np.abs(bins - flow_votes(flow[:, None])[:, 0]).max() < 0.003


@pytest.mark.parametrize(("dx", "dy"), [(0.0, 0.0), (-0.0, -0.0), (0.39, 0.0), (0.0, -0.39), (-0.27, 0.27)])
def test_a_short_vector_counts_one_as_no_motion(dx: float, dy: float) -> None:
    assert blocks_of_one(dx, dy) == [0] * 8 + [1]


@pytest.mark.parametrize(("dx", "dy"), [(0.41, 0.0), (0.0, -0.41), (-0.3, 0.3)])
def test_a_vector_long_enough_does_not_count_as_no_motion(dx: float, dy: float) -> None:
    histogram = blocks_of_one(dx, dy)
    assert histogram[8] == 0
    assert sum(histogram) == pytest.approx(np.hypot(dx, dy), abs=1e-3)


def test_no_change_of_grey_or_flow_gives_empty_blocks() -> None:
    assert not gradient_blocks(np.full((9, 9), 200, np.uint8)).any()
    assert not flow_edge_blocks(np.full((9, 9, 2), 7.5, np.float32), 1).any()


def test_a_motion_that_all_share_adds_nothing_to_flow_edges() -> None:
    flow = some_flow(20, 24)
    assert np.allclose(flow_edge_blocks(flow + np.array([8, -4], np.float32), 1), flow_edge_blocks(flow, 1), atol=1e-3)


@pytest.mark.parametrize(("height", "width"), SIZES)
@pytest.mark.parametrize("n_bins", [8, 9, 16])
def test_cell_sums_are_sums_over_the_blocks_before(height: int, width: int, n_bins: int) -> None:
    blocks = np.random.default_rng(n_bins).random((height, width, n_bins), np.float32)
    sums = cell_sums(blocks)
    assert sums.shape == (height + CELL + 1, width + CELL + 1, n_bins)
    for y, x in np.ndindex(sums.shape[:2]):
        assert np.allclose(sums[y, x], square_sum(blocks.astype(np.float64), y - CELL, x - CELL, CELL), atol=1e-5)
