"""The colour histogram against a loop over pixels."""

import cv2
import numpy as np
import pytest

from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.colour import ENOUGH, Colour
from budgetseg.descriptors.core import Scene
from budgetseg.supervoxels import neighbourhood_graph, segment
from budgetseg.types import Float32, Float64, Int32, Supervoxels, UInt8

RED, BLUE, SKIN, LEAF = (200, 20, 20), (20, 20, 200), (220, 180, 150), (60, 100, 40)
COLOURS = [RED, BLUE, SKIN, LEAF]

L_EDGES = [12.5, 25, 37.5, 50, 62.5, 75, 87.5]
AB_EDGES = np.array([-27, -12, -3, 0, 3, 12, 27])  # 48 · (k / 4)², with the sign of k


def scene_of(frames: UInt8, ids: Int32) -> Scene:
    return Scene.of(frames, Supervoxels(ids, neighbourhood_graph(ids)))


def one_region(frames: UInt8) -> Scene:
    return scene_of(frames, np.zeros(frames.shape[:3], np.int32))


def describe(scene: Scene, region: int = 0) -> Float32:
    return Colour().compute(scene, region, [])


def bin_of(rgb: UInt8) -> int:
    """Bin of a colour, with R, G and B in the middle of their 32 levels."""
    middle = (rgb // 8 * 8 + np.float32(4)) / np.float32(255)
    lightness, a, b = cv2.cvtColor(middle.reshape(1, 1, 3), cv2.COLOR_RGB2LAB)[0, 0]
    row, column = np.searchsorted(AB_EDGES, [a, b], side="right")
    return int(np.searchsorted(L_EDGES, lightness, side="right") * 64 + row * 8 + column)


def shares(pixels: UInt8) -> Float64:
    """Share of each bin among pixels, (K, 3), colour by colour."""
    colours, counts = np.unique(pixels // 8 * 8, axis=0, return_counts=True)
    bins = [bin_of(rgb) for rgb in colours]
    return np.bincount(bins, weights=counts, minlength=512) / len(pixels)


def apart(one: Float32, other: Float64) -> float:
    """Share of the pixels that would have to change their bin."""
    return float(np.abs(one - other).sum() / 2)


@pytest.mark.parametrize("rgb", [*COLOURS, (0, 0, 0), (128, 128, 128), (255, 255, 255)])
def test_a_constant_colour_fills_one_bin(rgb: tuple[int, int, int]) -> None:
    vector = describe(one_region(np.full((2, 9, 7, 3), rgb, np.uint8)))
    assert np.array_equal(np.sort(vector)[-2:], [0, 1])


@pytest.mark.parametrize("rgb", COLOURS)
def test_a_constant_colour_fills_the_bin_of_its_lab(rgb: tuple[int, int, int]) -> None:
    assert describe(one_region(np.full((2, 9, 7, 3), rgb, np.uint8))).argmax() == bin_of(np.array(rgb, np.uint8))


def test_small_supervoxels_have_the_histogram_of_a_loop_over_pixels() -> None:
    rng = np.random.default_rng(0)
    ids = rng.integers(0, 4, (3, 12, 10)).astype(np.int32)
    frames = np.clip(np.array(COLOURS)[ids] + rng.integers(-20, 21, (*ids.shape, 3)), 0, 255).astype(np.uint8)
    scene = scene_of(frames, ids)
    for region in range(4):
        assert np.allclose(describe(scene, region) ** 2, shares(frames[ids == region]), rtol=0, atol=1e-6)


def test_large_supervoxels_have_nearly_the_histogram_of_all_their_pixels() -> None:
    frames = render(0, 8, (160, 120))[0].frames
    scene = Scene.of(frames, segment(frames, 40, "fast"))
    large = np.flatnonzero(scene.supervoxels.graph.sizes > 2 * ENOUGH)
    errors = [apart(describe(scene, k) ** 2, shares(frames[scene.supervoxels.ids == k])) for k in large.tolist()]
    assert len(errors) > 10
    assert max(errors) < 0.2


@pytest.mark.parametrize("n_frames", [8, 16, 32, 64, 96])
def test_a_large_supervoxel_that_keeps_its_shape_is_seen_in_all_its_rows(n_frames: int) -> None:
    frame = np.zeros((32, 32, 3), np.uint8)
    frame[:16], frame[16:] = RED, BLUE
    vector = describe(one_region(frame[None].repeat(n_frames, axis=0)))
    assert apart(vector**2, shares(frame.reshape(-1, 3))) < 0.1


def test_squares_sum_to_one() -> None:
    frames = render(0, 3, (96, 64))[0].frames
    scene = Scene.of(frames, segment(frames, 30, "fast"))
    for region in range(len(scene.supervoxels)):
        assert (describe(scene, region) ** 2).sum() == pytest.approx(1, abs=1e-5)


def test_red_and_blue_have_nothing_in_common() -> None:
    ids = np.repeat(np.array([0, 1], np.int32), 20)[None, None].repeat(8, axis=1)
    scene = scene_of(np.array([RED, BLUE], np.uint8)[ids], ids)
    assert describe(scene, 0) @ describe(scene, 1) == 0


@pytest.mark.parametrize(("shape", "pixels"), [((1, 1, 1), 1), ((1, 1, 5000), 5000), ((1, 30, 40), 1200)])
def test_the_work_is_the_pixels_counted_and_32_for_the_frame(shape: tuple[int, int, int], pixels: int) -> None:
    assert Colour().work(one_region(np.full((*shape, 3), RED, np.uint8)), 0) == pixels + 32


def test_a_large_supervoxel_is_hardly_more_work_than_a_small_one() -> None:
    small, large = (one_region(np.full((4, side, side, 3), RED, np.uint8)) for side in (16, 160))
    assert Colour().work(large, 0) < 2 * Colour().work(small, 0)
