"""Labels and overlays that are written can be read back, and look as they should."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.errors import VideoError
from budgetseg.types import Labelling
from budgetseg.video import (
    blend,
    mark_boundaries,
    open_video,
    read_label_pngs,
    write_label_pngs,
    write_overlay,
)
from tests.video.clips import CLASSES, smooth_video, some_labels


def test_labels_come_back_as_they_were_written(tmp_path: Path) -> None:
    labels = some_labels((12, 9, 13))
    write_label_pngs(tmp_path / "labels", labels, CLASSES)
    assert np.array_equal(read_label_pngs(tmp_path / "labels"), labels)
    assert sorted(f.name for f in (tmp_path / "labels").iterdir())[:2] == ["000000.png", "000001.png"]


def test_viewers_show_the_class_colours_and_black_for_ignore(tmp_path: Path) -> None:
    labels = some_labels((1, 9, 13))
    write_label_pngs(tmp_path, labels, CLASSES, ["only"])
    shown = cv2.imread(str(tmp_path / "only.png"), cv2.IMREAD_COLOR)
    assert shown is not None
    expected = np.vstack([CLASSES.colours, np.zeros((253, 3), np.uint8)])[labels[0]]
    assert np.array_equal(shown[..., ::-1], expected)


def test_labels_that_make_no_sense_are_refused(tmp_path: Path) -> None:
    labels = some_labels((2, 4, 4))
    for bad, stems, complaint in [
        (np.full((1, 2, 2), 7, np.uint8), None, "label 7 is none of the 3 classes"),
        (labels, ["a"], "stems must name each of the 2 frames. Got 1"),
        (labels, ["a", "a"], "stems must differ"),
    ]:
        with pytest.raises(VideoError, match=complaint):
            write_label_pngs(tmp_path / "out", bad, CLASSES, stems)
    assert not (tmp_path / "out").exists()


def test_many_files_are_all_there(tmp_path: Path) -> None:
    labels = some_labels((300, 4, 5))
    write_label_pngs(tmp_path / "labels", labels, CLASSES)
    assert np.array_equal(read_label_pngs(tmp_path / "labels"), labels)


def test_a_frame_late_in_the_video_that_makes_no_sense_leaves_nothing_behind(tmp_path: Path) -> None:
    labels = some_labels((300, 4, 5))
    labels[280, 2, 2] = 9
    with pytest.raises(VideoError, match="label 9 is none of the 3 classes"):
        write_label_pngs(tmp_path / "labels", labels, CLASSES)
    assert list(tmp_path.iterdir()) == []


def test_reading_labels_names_what_is_wrong(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match="there are no label PNGs"):
        read_label_pngs(tmp_path)
    write_label_pngs(tmp_path, some_labels((1, 4, 4)), CLASSES, ["a"])
    write_label_pngs(tmp_path, some_labels((1, 4, 5)), CLASSES, ["b"])
    with pytest.raises(VideoError, match=r"b\.png' has shape \(4, 5\)"):
        read_label_pngs(tmp_path)


def test_an_overlay_shows_the_blended_frames_at_their_rate(tmp_path: Path) -> None:
    video = smooth_video()
    labels = np.repeat(np.arange(48, dtype=np.uint8)[None, :, None] // 16, 12, axis=0).repeat(64, axis=2)
    write_overlay(tmp_path / "o.mp4", video, Labelling(labels, CLASSES), labels.astype(np.int32))
    back = open_video(tmp_path / "o.mp4")
    expected = mark_boundaries(blend(video.frames[3], labels[3], CLASSES.colours), labels[3].astype(np.int32))
    assert back.rate == pytest.approx(10.0)
    assert np.abs(back.read().frames[3].astype(int) - expected).mean() < 8


def test_an_overlay_of_other_frames_is_refused(tmp_path: Path) -> None:
    with pytest.raises(VideoError, match=r"labels of shape \(2, 4, 4\) do not fit a video of \(12, 48, 64\)"):
        write_overlay(tmp_path / "o.mp4", smooth_video(), Labelling(some_labels((2, 4, 4)), CLASSES))
    with pytest.raises(VideoError, match="ids of shape"):
        write_overlay(tmp_path / "o.mp4", smooth_video(), ids=np.zeros((12, 4, 4), np.int32))
