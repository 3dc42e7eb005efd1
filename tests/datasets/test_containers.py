"""Labelled videos that lie in one file."""

from pathlib import Path

import numpy as np

from budgetseg.datasets import open_dataset
from budgetseg.datasets.check import check
from budgetseg.datasets.containers import VideoFile
from budgetseg.datasets.labels import IndexLabels


def test_labels_of_a_video_file_are_named_by_the_frame_number(folder_root: Path) -> None:
    (folder_root / "labels" / "c" / "000002.png").rename(folder_root / "labels" / "c" / "5.png")
    (video,) = open_dataset("folder", folder_root).videos("test")
    assert (video.n_frames, video.labelled) == (8, (0, 4, 5, 6))
    brightness = video.video().frames.mean(axis=(1, 2, 3))
    np.testing.assert_allclose(brightness, 20 + 10 * np.arange(8), atol=4)


def test_a_truncated_video_file_is_a_problem_and_the_rest_is_read(folder_root: Path) -> None:
    path = folder_root / "videos" / "c.mp4"
    path.write_bytes(path.read_bytes()[:-200])
    report = check(open_dataset("folder", folder_root))
    assert {problem.path for problem in report.problems} == {str(path)}
    assert [split.n_labelled for split in report.splits] == [11, 6, 5, 0]


def test_the_second_half_of_a_file_starts_in_its_middle(mpi_scene_root: Path) -> None:
    (video,) = (
        video for video in open_dataset("mpi-scene", mpi_scene_root).videos("test") if video.name == "three_test"
    )
    read = video.video()
    np.testing.assert_allclose(read.frames.mean(axis=(1, 2, 3)), 20 + 10 * np.arange(8, 16), atol=4)
    np.testing.assert_allclose(read.times_s, np.arange(8, 16) / 25, atol=1e-3)
    assert read.name == "three_test"


def test_a_file_that_is_not_there_is_one_problem_and_has_no_frames(tmp_path: Path) -> None:
    video = VideoFile("v", tmp_path / "nowhere.mp4", {}, IndexLabels({}))
    assert video.sources() == ()
    (seen,) = video.inspect()
    assert [problem.path for problem in seen.problems] == [str(tmp_path / "nowhere.mp4")]
