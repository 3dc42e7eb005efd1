"""Which videos are meant, and what their folders are called."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.app.videos import Found, find_videos, is_one_video, open_counted, part_of, work_of
from budgetseg.errors import BudgetsegError, UsageError, VideoError
from budgetseg.types import Video
from budgetseg.video import write_overlay


def write_video(path: Path, n_frames: int = 3) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    write_overlay(path, Video(np.zeros((n_frames, 32, 48, 3), np.uint8), np.arange(n_frames) / 25))
    return path


def write_images(folder: Path, n: int = 2) -> Path:
    folder.mkdir(parents=True)
    for k in range(n):
        cv2.imwrite(str(folder / f"{k}.png"), np.zeros((32, 48, 3), np.uint8))
    return folder


def touch(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch()
    return path


def names(*paths: Path) -> list[str]:
    return [found.name for found in find_videos(paths)]


def test_one_video_or_one_folder_of_images_is_no_job(tmp_path: Path) -> None:
    frames, clip = write_images(tmp_path / "frames"), touch(tmp_path / "a.mp4")
    assert is_one_video([frames])
    assert is_one_video([clip])
    (tmp_path / "list.txt").write_text("a.mp4\n")
    for paths in ([tmp_path], [clip, frames], [Path(f"@{tmp_path}/list.txt")], [tmp_path / "*.mp4"]):
        assert not is_one_video(paths)


def test_folders_are_searched_with_all_below_them_in_natural_order(tmp_path: Path) -> None:
    for name in ("b10.mp4", "b2.MKV", ".hidden.mp4", "sub/deep/b1.mp4", "notes.txt"):
        touch(tmp_path / name)
    write_images(tmp_path / "c.d")
    (tmp_path / "empty").mkdir()
    assert names(tmp_path) == ["b2", "b10", "c.d", "sub/deep/b1"]


def test_pictures_beside_videos_below_a_folder_are_no_frames(tmp_path: Path) -> None:
    write_images(tmp_path / "series")
    touch(tmp_path / "series" / "one" / "a.mp4")
    assert names(tmp_path) == ["series/one/a"]


def test_results_of_ours_are_not_labelled_again(tmp_path: Path) -> None:
    touch(tmp_path / "a.mp4")
    touch(tmp_path / "out" / "a" / "trace.json")
    touch(tmp_path / "out" / "a" / "overlay.mp4")
    touch(tmp_path / "other" / "manifest.jsonl")
    touch(tmp_path / "other" / "b" / "overlay.mp4")
    assert names(tmp_path) == ["a"]


def test_patterns_find_what_they_match(tmp_path: Path) -> None:
    for name in ("a.mp4", "x/a.mp4", "x/y/b.mkv", "x/notes.txt"):
        touch(tmp_path / name)
    assert names(tmp_path / "**" / "*.mp4") == ["a", "x/a"]
    assert names(tmp_path / "x" / "*") == ["a", "y/b"]
    with pytest.raises(VideoError, match=r"no file matches '.*\*\.avi'; check the pattern"):
        names(tmp_path / "*.avi")


def test_lists_name_paths_beside_them_and_priorities(tmp_path: Path) -> None:
    for name in ("a.mp4", "x/a.mp4", "y/b.mp4"):
        touch(tmp_path / name)
    (tmp_path / "list.txt").write_text("# ours\na.mp4\n\nx/a.mp4\nx/gone.mp4\n")
    assert names(Path(f"@{tmp_path}/list.txt")) == ["a", "x/a", "x/gone"]  # what is not there is found out later
    (tmp_path / "list.csv").write_text("priority,path\n2.5,y\n,a.mp4\n")
    for given in (tmp_path / "list.csv", Path(f"@{tmp_path}/list.csv")):
        assert [(found.name, found.priority) for found in find_videos([given])] == [("b", 2.5), ("a", 1.0)]


@pytest.mark.parametrize(
    ("name", "text", "line"),
    [
        ("list.csv", "file\na.mp4\n", r"no column 'path'; its first line must be path, or path,priority"),
        ("list.csv", "path,priority\na.mp4,high\n", "has the priority 'high'; a priority is a number above 0"),
        ("list.csv", "path,priority\na.mp4,-1\n", "has the priority '-1'"),
        ("list.txt", "@more.txt\n", "names another list"),
        ("list.txt", "# nothing\n", r"there is no video in '@.*list.txt'; give video files, or folders of them"),
    ],
)
def test_lists_that_make_no_sense_are_one_line(tmp_path: Path, name: str, text: str, line: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(BudgetsegError, match=line):
        names(Path(f"@{tmp_path / name}"))


def test_a_list_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the list"):
        names(Path(f"@{tmp_path}/list.txt"))


def test_a_video_that_is_named_twice_is_found_once_with_its_highest_priority(tmp_path: Path) -> None:
    clip = touch(tmp_path / "a.mp4")
    (tmp_path / "list.csv").write_text("path,priority\na.mp4,3\n")
    assert find_videos([clip, tmp_path, tmp_path / "list.csv"]) == [Found(clip, "a", 3.0)]


def test_every_video_has_a_folder_of_its_own(tmp_path: Path) -> None:
    for name in ("a.mp4", "a.mkv", "b.mp4", "b/c.mp4"):
        touch(tmp_path / name)
    assert names(tmp_path) == ["a.mkv", "a.mp4", "b/c", "b.mp4"]  # the folder of b.mp4 would hold that of c
    for name in ("x/d.mp4", "y/d.mp4"):
        touch(tmp_path / name)
    assert names(tmp_path / "x" / "d.mp4", tmp_path / "y" / "d.mp4") == ["000-d.mp4", "001-d.mp4"]


def test_names_never_lead_out_of_the_results(tmp_path: Path) -> None:
    touch(tmp_path / "a.mp4")
    (tmp_path / "lists").mkdir()
    (tmp_path / "lists" / "list.txt").write_text("../a.mp4\n/b.mp4\n")
    assert names(Path(f"@{tmp_path}/lists/list.txt")) == ["a", "b"]


def test_parts_hold_every_video_once() -> None:
    videos = [Found(Path(str(k)), str(k)) for k in range(10)]
    parts = [part_of(videos, (k, 3)) for k in (1, 2, 3)]
    assert sorted(found.name for part in parts for found in part) == [str(k) for k in range(10)]
    assert {len(part) for part in parts} == {3, 4}


def test_images_beside_videos_are_refused_where_the_folder_was_given(tmp_path: Path) -> None:
    frames = write_images(tmp_path / "frames")
    write_images(frames / "thumbnails")
    assert names(frames) == ["frames"]
    touch(frames / "a.mp4")
    with pytest.raises(VideoError, match="holds images and videos; give the videos one by one"):
        names(frames)


def test_a_folder_of_nothing_and_a_missing_file_are_told(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="there is no video in"):
        names(tmp_path)
    with pytest.raises(VideoError, match="there is no video at"):
        open_counted(tmp_path / "nothing.mp4")


def test_work_is_pixels_times_frames_even_where_a_container_does_not_say(tmp_path: Path) -> None:
    for name in ("a.mp4", "a.mkv"):
        source = open_counted(write_video(tmp_path / name, 10))
        assert work_of(source) == 10 * 32 * 48
        assert source.n_frames == 10
