"""Colour and texture of voxels."""

import cv2
import numpy as np
import pytest

from budgetseg.supervoxels.features import N_FEATURES, feature_planes
from budgetseg.types import UInt8
from tests.supervoxels.volumes import drift, noise, plain


@pytest.mark.parametrize(
    ("rgb", "lab"),
    [
        ((0, 0, 0), (0, 128, 128)),
        ((255, 255, 255), (255, 128, 128)),
        ((255, 0, 0), (136, 208, 195)),
        ((0, 0, 255), (82, 207, 20)),
    ],
)
def test_a_plain_frame_has_its_lab_colour_and_no_texture(rgb: tuple[int, ...], lab: tuple[int, ...]) -> None:
    planes = feature_planes(np.full((1, 9, 8, 3), rgb, np.uint8))
    assert np.array_equal(np.unique(planes.reshape(N_FEATURES, -1), axis=1).ravel(), [*lab, 0])


@pytest.mark.parametrize("reduce", [1, 2, 3])
@pytest.mark.parametrize("size", [(1, 1), (2, 7), (37, 23)])
def test_there_is_a_voxel_for_every_block_even_if_cut(size: tuple[int, int], reduce: int) -> None:
    planes = feature_planes(noise((2, *size)), reduce)
    assert planes.shape == (2, N_FEATURES, *(-(-side // reduce) for side in size))


@pytest.mark.parametrize("width", [1, 2, 3, 4])  # OpenCV takes 4x1 pixels for a scalar where it can
@pytest.mark.parametrize("height", [1, 2, 3, 4, 5])
def test_the_smallest_frames_have_features(height: int, width: int) -> None:
    assert not feature_planes(plain((1, height, width)))[:, 3].any()


def test_texture_is_high_where_the_picture_is_rough() -> None:
    frames = plain((1, 32, 64))
    frames[0, ::2, 40:] = 0
    texture = feature_planes(frames)[0, 3]
    assert not texture[:, :32].any()
    assert texture[:, 48:].min() > 50


def test_texture_saturates() -> None:
    frames = np.zeros((1, 40, 40, 3), np.uint8)
    frames[0, ::4] = frames[0, 1::4] = 255
    assert feature_planes(frames)[0, 3, 10:30, 10:30].min() > 200


def test_every_frame_is_described_alone() -> None:
    frames = drift((4, 20, 30))
    assert np.array_equal(feature_planes(frames), np.concatenate([feature_planes(frame[None]) for frame in frames]))


@pytest.mark.parametrize("reduce", [2, 3])
def test_blocks_of_one_colour_look_like_pixels(reduce: int) -> None:
    small = noise((2, 9, 11))
    large = small.repeat(reduce, axis=1).repeat(reduce, axis=2)
    assert np.array_equal(feature_planes(large, reduce), feature_planes(small))


def test_a_cut_block_is_completed_by_its_border() -> None:
    frame = noise((1, 7, 8))[0]
    whole = np.asarray(cv2.copyMakeBorder(frame, 0, 2, 0, 1, cv2.BORDER_REPLICATE), np.uint8)
    assert np.array_equal(feature_planes(frame[None], 3), feature_planes(whole[None], 3))


def test_a_block_has_the_mean_colour_of_its_pixels() -> None:
    frames = np.zeros((1, 12, 12, 3), np.uint8)
    frames[:, ::2, ::2] = frames[:, 1::2, 1::2] = 200
    assert np.array_equal(feature_planes(frames, 2), feature_planes(np.full((1, 6, 6, 3), 100, np.uint8)))


@pytest.mark.parametrize("reduce", [1, 2])
@pytest.mark.parametrize("view", [np.s_[..., ::-1], np.s_[:, ::-1], np.s_[:, 3:, 5:], np.s_[::2]], ids=str)
def test_a_view_has_the_features_of_its_copy(view: tuple[slice, ...], reduce: int) -> None:
    frames: UInt8 = noise((4, 20, 30))[view]
    assert np.array_equal(feature_planes(frames, reduce), feature_planes(frames.copy(order="C"), reduce))
