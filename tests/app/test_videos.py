"""Which videos are meant, and how they share a budget."""

import math
from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.app.videos import Split, find_videos, work_of
from budgetseg.errors import VideoError
from budgetseg.types import Budget, Video
from budgetseg.video import write_overlay

OUT = Path("out")


def write_video(path: Path, n_frames: int = 3) -> Path:
    write_overlay(path, Video(np.zeros((n_frames, 32, 48, 3), np.uint8), np.arange(n_frames) / 25))
    return path


def write_images(folder: Path, n: int = 2) -> Path:
    folder.mkdir(parents=True)
    for k in range(n):
        cv2.imwrite(str(folder / f"{k}.png"), np.zeros((32, 48, 3), np.uint8))
    return folder


def places(*paths: Path) -> list[tuple[str, str]]:
    return [(str(task.folder), task.source.clip.path.name) for task in find_videos(paths, OUT)]


def test_one_video_or_one_folder_of_images_goes_to_the_output_itself(tmp_path: Path) -> None:
    assert places(write_video(tmp_path / "a.mp4")) == [("out", "a.mp4")]
    assert places(write_images(tmp_path / "frames")) == [("out", "frames")]


def test_each_of_several_gets_a_folder_in_natural_order(tmp_path: Path) -> None:
    for name in ("b10.mp4", "b2.mkv", ".hidden.mp4"):
        write_video(tmp_path / name)
    write_images(tmp_path / "c.d")
    (tmp_path / "notes.txt").write_text("no video")
    (tmp_path / "empty").mkdir()
    inside = [("out/b2", "b2.mkv"), ("out/b10", "b10.mp4"), ("out/c.d", "c.d")]
    assert places(tmp_path) == inside
    assert places(tmp_path, tmp_path / "c.d") == [*inside[:2], ("out/002-c.d", "c.d"), ("out/003-c.d", "c.d")]


def test_a_folder_of_one_video_is_still_a_folder_of_videos(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mp4")
    assert places(tmp_path) == [("out/a", "a.mp4")]


def test_videos_of_one_name_are_told_apart(tmp_path: Path) -> None:
    write_video(tmp_path / "a.mp4")
    write_video(tmp_path / "a.mkv")
    assert places(tmp_path) == [("out/a.mkv", "a.mkv"), ("out/a.mp4", "a.mp4")]


def test_images_beside_videos_are_refused_and_folders_beside_images_are_not_looked_at(tmp_path: Path) -> None:
    frames = write_images(tmp_path / "frames")
    write_images(frames / "thumbnails")
    assert places(frames) == [("out", "frames")]
    write_video(frames / "a.mp4")
    with pytest.raises(VideoError, match="holds images and videos; give the videos one by one"):
        places(frames)


def test_a_folder_of_nothing_and_a_missing_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="holds no PNG or JPEG image"):
        places(tmp_path)
    with pytest.raises(VideoError, match="there is no video at"):
        places(tmp_path / "nothing.mp4")


def test_work_is_pixels_times_frames_even_where_a_container_does_not_say(tmp_path: Path) -> None:
    for name in ("a.mp4", "a.mkv"):
        (task,) = find_videos([write_video(tmp_path / name, 10)], OUT)
        assert work_of(task.source) == 10 * 32 * 48
        assert task.source.n_frames == 10


def test_videos_share_in_proportion_and_the_next_may_use_what_is_left() -> None:
    split = Split([Budget(4), Budget(10)], [100, 200, 100])
    assert split.take() == (Budget(1), Budget(2.5))
    split.spend([1, 1.5])
    assert [budget.amount for budget in split.take()] == pytest.approx([2, 8.5 * 2 / 3])
    split.spend([2, 8.5])
    first, second = split.take()
    assert first == Budget(1)
    assert first.amount < second.amount < 1.01


def test_an_overrun_leaves_the_next_hardly_anything() -> None:
    split = Split([Budget(1)], [1, 1])
    split.spend([1.5])
    assert 0 < split.take()[0].amount < 0.01


def test_shares_and_no_bound_are_the_same_for_all() -> None:
    for budgets in ((Budget(0.2, is_share=True), Budget(0.5, is_share=True)), (Budget(math.inf),)):
        split = Split(budgets, [1, 3])
        assert split.take() == budgets
        split.spend([7.0] * len(budgets))
        assert split.take() == budgets
