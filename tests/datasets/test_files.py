"""Videos of one image a frame: the files at fault are blamed, however many come first."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.datasets import open_dataset
from budgetseg.datasets.files import FrameFiles
from budgetseg.datasets.labels import IndexLabels
from budgetseg.errors import DatasetError

WIDE, NARROW = (8, 12), (8, 10)


def write(path: Path, size: tuple[int, int]) -> Path:
    path.parent.mkdir(exist_ok=True)
    cv2.imwrite(str(path), np.zeros(size, np.uint8))
    return path


def video_of(folder: Path, sizes: list[tuple[int, int]]) -> FrameFiles:
    """Frames of these sizes, all with labels of the size WIDE."""
    frames = tuple(write(folder / "frames" / f"{k}.png", size) for k, size in enumerate(sizes))
    labels = {k: write(folder / "labels" / f"{k}.png", WIDE) for k in range(len(sizes))}
    return FrameFiles("v", frames, np.arange(len(sizes)) / 25, labels, IndexLabels({0: 0}))


@pytest.mark.parametrize("odd", [[0], [0, 1], [0, 1, 2], [6], [2, 4]])
def test_the_size_of_most_frames_is_right_and_the_others_are_blamed(tmp_path: Path, odd: list[int]) -> None:
    video = video_of(tmp_path, [NARROW if k in odd else WIDE for k in range(7)])
    blamed = [problem.path for seen in video.inspect() for problem in seen.problems]
    assert blamed == [str(video.frames[k]) for k in odd]
    for read in (video.video, video.labels) if 0 in odd else (video.video,):
        with pytest.raises(DatasetError, match=rf"frames/{odd[0]}\.png: 10×8 pixels where the video has 12×8"):
            read()


def test_a_damaged_frame_does_not_keep_the_labels_from_being_read(tmp_path: Path) -> None:
    video = video_of(tmp_path, [WIDE] * 3)
    video.frames[0].write_bytes(b"")
    assert video.labels().shape == (3, *WIDE)


def test_a_part_has_the_frames_times_and_labels_between_its_ends(tmp_path: Path) -> None:
    video = video_of(tmp_path, [WIDE] * 7)
    first, second = video.between("a", 0, 0.5), video.between("b", 0.5, 1)
    assert first.frames + second.frames == video.frames
    assert (first.n_frames, second.labelled) == (4, (0, 1, 2))  # the frame in the middle goes to the first
    assert second.times_s[0] == 4 / 25


def test_labels_of_another_size_are_refused(folder_root: Path) -> None:
    cv2.imwrite(str(folder_root / "labels" / "a" / "f002.png"), np.zeros((12, 16), np.uint8))
    with pytest.raises(DatasetError, match=r"f002.png: 16×12 pixels where the video has 32×24"):
        open_dataset("folder", folder_root).videos("fit")[0].labels()


def test_frames_of_another_size_are_refused(folder_root: Path) -> None:
    cv2.imwrite(str(folder_root / "frames" / "a" / "f002.png"), np.zeros((12, 16, 3), np.uint8))
    with pytest.raises(DatasetError, match=r"f002.png: 16×12 pixels where the video has 32×24"):
        open_dataset("folder", folder_root).videos("fit")[0].video()
