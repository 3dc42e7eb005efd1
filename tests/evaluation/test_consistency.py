"""Temporal consistency: labels that stay with what they are on, and labels that flicker."""

import numpy as np
import pytest

from budgetseg.evaluation.consistency import Trust, agreement, temporal_consistency, trusted_origins
from budgetseg.types import UInt8
from tests.baselines.worlds import moving

SIZE = (160, 120)


def consistency(frames: UInt8, labels: UInt8, trust: Trust | None = None) -> float | None:
    return temporal_consistency(*agreement(labels, trusted_origins(frames, 1, trust)))


def still(n_frames: int) -> tuple[UInt8, UInt8]:
    video, labels = moving(1, (0, 0), SIZE)
    return np.repeat(video.frames, n_frames, axis=0), np.repeat(labels, n_frames, axis=0)


def test_still_labels_of_a_still_video_are_consistent_everywhere() -> None:
    frames, labels = still(4)
    assert trusted_origins(frames).min() >= 0
    assert consistency(frames, labels) == 1


def test_labels_that_flicker_on_half_of_the_pixels_are_half_consistent() -> None:
    frames, labels = still(6)
    labels[::2, :, : SIZE[0] // 2] += 1
    assert consistency(frames, labels) == 0.5


@pytest.mark.parametrize("move", [(3, 0), (0, -2), (-5, 4)])
def test_labels_that_move_along_with_a_moving_texture_are_consistent(move: tuple[int, int]) -> None:
    video, labels = moving(6, move, SIZE)
    origins = trusted_origins(video.frames)
    assert (origins >= 0).mean() > 0.8
    along = temporal_consistency(*agreement(labels, origins))
    staying = temporal_consistency(*agreement(np.repeat(labels[:1], 6, axis=0), origins))
    assert along is not None
    assert staying is not None
    assert along > 0.99
    assert staying < along - 0.05


def test_what_comes_into_view_is_not_judged() -> None:
    video, _ = moving(5, (8, 0), SIZE)
    origins = trusted_origins(video.frames)
    assert (origins[:, :, :7] < 0).all()
    assert (origins[:, 4:-4, 12:-4] >= 0).mean() > 0.9


def test_frames_that_have_nothing_in_common_are_not_judged() -> None:
    noise = np.random.default_rng(0).integers(0, 256, (4, 120, 160, 3)).astype(np.uint8)
    labels = np.zeros(noise.shape[:3], np.uint8)
    assert consistency(noise, labels) is None
    assert consistency(noise[:1], labels[:1]) is None


def test_a_cut_is_not_judged_and_the_frames_around_it_are() -> None:
    frames, labels = still(3)
    other = frames[:, ::-1, ::-1][:, :, :, ::-1]
    joined = np.concatenate([frames, other])
    origins = trusted_origins(joined)
    assert (origins[2] < 0).all()
    assert (np.delete(origins, 2, axis=0) >= 0).all()
    assert temporal_consistency(*agreement(np.concatenate([labels, labels + 1]), origins)) == 1


def test_large_frames_are_judged_at_a_smaller_size() -> None:
    frames, labels = still(3)
    labels[1] += 1
    trust = Trust(most_pixels=60 * 80)
    assert trusted_origins(frames, 1, trust).shape == (2, 60, 80)
    assert consistency(frames, labels, trust) == 0


def test_any_number_of_threads_finds_the_same() -> None:
    video, _ = moving(6, (2, 1), SIZE)
    assert np.array_equal(trusted_origins(video.frames, 1), trusted_origins(video.frames, 3))


def test_tiny_frames_are_judged() -> None:
    frames = np.full((3, 8, 12, 3), 90, np.uint8)
    assert consistency(frames, np.zeros((3, 8, 12), np.uint8)) == 1
