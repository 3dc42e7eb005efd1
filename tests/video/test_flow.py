"""Optical flow of textures moved by a known number of pixels."""

from concurrent.futures import ThreadPoolExecutor

import cv2
import numpy as np
import pytest

from budgetseg.types import UInt8
from budgetseg.video.flow import flow_reduction, optical_flow

SIZES = [(120, 160, 1), (241, 319, 1), (361, 479, 2), (360, 480, 2), (719, 961, 4), (720, 960, 4)]


def moved_texture(height: int, width: int, move: tuple[int, int], blob: float = 3.0) -> tuple[UInt8, UInt8]:
    """Two frames (H, W, 3) of blobs; the second shows them `move` pixels, (dx, dy), further."""
    edge, (dx, dy) = max(map(abs, move)), move
    noise = np.random.default_rng(0).integers(0, 256, (height + 2 * edge, width + 2 * edge, 3), np.uint8)
    blobs = cv2.GaussianBlur(noise.astype(np.float32), (0, 0), blob)
    world = np.clip(128 + 50 * (blobs - blobs.mean()) / blobs.std(), 0, 255).astype(np.uint8)
    first = world[edge : edge + height, edge : edge + width]
    second = world[edge - dy : edge - dy + height, edge - dx : edge - dx + width]
    return first, second


@pytest.mark.parametrize(("height", "width", "reduce"), SIZES)
@pytest.mark.parametrize("move", [(4, 0), (0, -7), (-4, 8)])
def test_a_moved_texture_flows_by_its_move(height: int, width: int, reduce: int, move: tuple[int, int]) -> None:
    assert flow_reduction(height, width) == reduce
    flow = optical_flow(*moved_texture(height, width, move, 3.0 * reduce))
    rows, columns = flow.shape[:2]
    middle = flow[rows // 4 : -rows // 4, columns // 4 : -columns // 4]
    error = np.linalg.norm(middle - np.array(move), axis=2)
    assert np.quantile(error, 0.9) < 0.2


@pytest.mark.parametrize(("height", "width", "reduce"), [*SIZES, (16, 16, 1), (5, 7, 1), (1, 1, 1), (1, 400, 1)])
def test_flow_has_a_finite_vector_for_every_square_of_pixels(height: int, width: int, reduce: int) -> None:
    flow = optical_flow(*moved_texture(height, width, (1, 1)))
    assert flow.shape == (-(-height // reduce), -(-width // reduce), 2)
    assert flow.dtype == np.float32
    assert flow.flags.c_contiguous
    assert np.isfinite(flow).all()


def test_the_reduction_grows_with_the_frame_up_to_four() -> None:
    sides = [1, 100, 316, 317, 632, 633, 1000, 4000]
    assert [flow_reduction(side, side) for side in sides] == [1, 1, 1, 2, 2, 4, 4, 4]


def test_a_tiny_frame_flows_in_the_direction_of_its_move() -> None:
    flow = optical_flow(*moved_texture(16, 16, (2, 0), 2.0))
    dx, dy = np.median(flow, axis=(0, 1))
    assert abs(dx - 2) < 0.5
    assert abs(dy) < 0.5


@pytest.mark.parametrize(("height", "width"), [(5, 7), (16, 16), (120, 160), (360, 480), (720, 960)])
def test_frames_that_do_not_change_have_no_flow(height: int, width: int) -> None:
    plain = np.full((height, width, 3), 90, np.uint8)
    textured, _ = moved_texture(height, width, (0, 0))
    for frame in (plain, textured):
        assert not optical_flow(frame, frame).any()


def test_frames_of_one_colour_each_have_no_flow() -> None:
    dark, light = (np.full((120, 160, 3), grey, np.uint8) for grey in (90, 130))
    assert not optical_flow(dark, light).any()


def test_two_threads_find_the_flow_that_one_finds() -> None:
    moves = [(3, 0), (-2, 5), (0, 4), (6, -6)] * 4
    pairs = [moved_texture(120 + 40 * (k % 2), 160, move) for k, move in enumerate(moves)]
    alone = [optical_flow(*pair) for pair in pairs]
    with ThreadPoolExecutor(2) as threads:
        together = list(threads.map(lambda pair: optical_flow(*pair), pairs))
    assert all(np.array_equal(one, other) for one, other in zip(alone, together, strict=True))


@pytest.mark.parametrize("size", [(5, 7), (32, 32), (200, 100), (720, 960)])
def test_flow_does_not_depend_on_the_frames_seen_before(size: tuple[int, int]) -> None:
    pair = moved_texture(120, 160, (3, 2))
    with ThreadPoolExecutor(1) as nothing_seen:
        fresh = nothing_seen.submit(optical_flow, *pair).result()
    optical_flow(*moved_texture(*size, (1, 0)))
    assert np.array_equal(optical_flow(*pair), fresh)
