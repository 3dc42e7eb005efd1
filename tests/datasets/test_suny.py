"""SUNY: halves in time, labels by order, whichever videos are there."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.datasets import open_dataset
from budgetseg.datasets.check import check
from budgetseg.errors import DatasetError
from budgetseg.types import IGNORE

COUNTS = {"bus": 85, "container": 86, "garden": 81, "paris": 81, "soccer": 69}
FRAMES, LABELS = "dataset/Chen_png", "groundtruth/Chen_gt"


def test_every_frame_is_in_one_half(data_root: Path) -> None:
    dataset = open_dataset("suny", data_root / "suny")
    halves = {video.name: video.n_frames for split in ("train", "test") for video in dataset.videos(split)}
    assert {name: halves[f"{name}_train"] + halves[f"{name}_test"] for name in COUNTS} == COUNTS
    assert all(abs(halves[f"{name}_train"] - halves[f"{name}_test"]) <= 1 for name in COUNTS)


def test_training_comes_before_testing_and_fitting_before_choosing(data_root: Path) -> None:
    dataset = open_dataset("suny", data_root / "suny")
    for earlier, later in (("train", "test"), ("fit", "selection")):
        for first, second in zip(dataset.videos(earlier), dataset.videos(later), strict=True):
            assert first.sources()[-1] < second.sources()[0]


def test_a_quarter_of_the_training_half_is_for_choosing(data_root: Path) -> None:
    dataset = open_dataset("suny", data_root / "suny")
    for train, selection in zip(dataset.videos("train"), dataset.videos("selection"), strict=True):
        assert abs(selection.n_frames / train.n_frames - 0.25) < 0.02


def test_the_times_of_the_second_half_follow_on_the_first(suny_copy: Path) -> None:
    dataset = open_dataset("suny", suny_copy)
    times_s = [dataset.videos(split)[0].video().times_s for split in ("train", "test")]
    np.testing.assert_allclose(np.concatenate(times_s), np.arange(8) / 30)


def test_index_0_is_ignored_and_index_1_is_class_0(suny_copy: Path) -> None:
    path = suny_copy / LABELS / "bus" / "bus_cif000000_GT_index.png"
    raw = np.zeros((288, 352), np.uint8)
    raw[:, 176:] = 1
    raw[:, 264:] = 23
    cv2.imwrite(str(path), raw)
    first = open_dataset("suny", suny_copy).videos("train")[0].labels()[0]
    assert first.shape == (160, 240)
    assert [first[0, x] for x in (0, 119, 120, 179, 180)] == [IGNORE, IGNORE, 0, 0, 22]


def test_the_kth_label_belongs_to_the_kth_frame_whatever_its_number(suny_copy: Path) -> None:
    folder = suny_copy / LABELS / "bus"
    before = open_dataset("suny", suny_copy).videos("train")[0].labels()
    for number in reversed(range(8)):
        (folder / f"bus_cif{number:06}_GT_index.png").rename(folder / f"bus_cif{number + 5:06}_GT_index.png")
    dataset = open_dataset("suny", suny_copy)
    assert dataset.problems() == ()
    np.testing.assert_array_equal(dataset.videos("train")[0].labels(), before)


@pytest.mark.parametrize("number", [0, 3, 7])
def test_labels_are_refused_where_one_is_missing(suny_copy: Path, number: int) -> None:
    missing = suny_copy / LABELS / "bus" / f"bus_cif{number:06}_GT_index.png"
    missing.unlink()
    dataset = open_dataset("suny", suny_copy)
    with pytest.raises(DatasetError, match="7 label files for 8 frames"):
        dataset.videos("train")[0].labels()
    assert [problem.path for problem in dataset.problems()] == [str(missing.parent), str(missing)]


@pytest.mark.parametrize("number", [1, 4, 8])
def test_a_missing_frame_is_named(suny_copy: Path, number: int) -> None:
    missing = suny_copy / FRAMES / "bus" / f"{number:05}.png"
    missing.unlink()
    assert str(missing) in [problem.path for problem in open_dataset("suny", suny_copy).problems()]


def test_a_video_without_labels_is_a_problem_and_the_others_are_read(suny_copy: Path) -> None:
    (suny_copy / FRAMES / "bus2").mkdir()
    for file in (suny_copy / FRAMES / "bus").iterdir():
        (suny_copy / FRAMES / "bus2" / file.name).write_bytes(file.read_bytes())
    report = check(open_dataset("suny", suny_copy))
    assert [problem.path for problem in report.problems] == [str(suny_copy / LABELS / "bus2")]
    assert [(split.n_frames, split.n_labelled) for split in report.splits if split.split == "test"] == [(8, 4)]


def test_other_files_beside_the_labels_do_not_matter(suny_copy: Path) -> None:
    cv2.imwrite(str(suny_copy / LABELS / "bus" / "bus_cif000000_GT.png"), np.zeros((8, 8, 3), np.uint8))
    assert check(open_dataset("suny", suny_copy)).sound


def test_a_folder_without_videos_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="expected dataset/Chen_png/VIDEO"):
        open_dataset("suny", tmp_path)
