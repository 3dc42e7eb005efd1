"""The folder layout of users' own data, and MPI-Scene in it."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.datasets import Dataset, open_dataset
from budgetseg.datasets.check import check
from budgetseg.errors import DatasetError


def names(dataset: Dataset, split: str) -> list[str]:
    return [video.name for video in dataset.videos(split)]


def paths(dataset: Dataset) -> list[str]:
    return [problem.path for problem in check(dataset).problems]


def test_the_last_training_video_is_for_choosing(folder_root: Path) -> None:
    dataset = open_dataset("folder", folder_root)
    assert dataset.splits == ("train", "fit", "selection", "test")
    assert [names(dataset, split) for split in dataset.splits] == [["a", "b"], ["a"], ["b"], ["c"]]


def test_one_training_video_is_not_held_out(folder_root: Path) -> None:
    (folder_root / "splits.toml").write_text('train = ["a"]\ntest = ["b"]')
    dataset = open_dataset("folder", folder_root)
    assert dataset.splits == ("train", "fit", "test")
    assert names(dataset, "fit") == ["a"]


def test_a_named_selection_is_part_of_train(folder_root: Path) -> None:
    (folder_root / "splits.toml").write_text('train = ["b"]\nselection = ["a"]\nval = ["c"]')
    dataset = open_dataset("folder", folder_root)
    assert [names(dataset, split) for split in ("train", "fit", "selection", "val")] == [
        ["a", "b"],
        ["b"],
        ["a"],
        ["c"],
    ]


def test_labels_belong_to_the_frame_of_the_same_stem(folder_root: Path) -> None:
    for stem in ("f000", "f002", "f003"):
        (folder_root / "labels" / "a" / f"{stem}.png").unlink()
    video = open_dataset("folder", folder_root).videos("fit")[0]
    assert (video.n_frames, video.labelled) == (6, (1, 4, 5))


def test_frames_may_be_jpegs_in_natural_order(folder_root: Path) -> None:
    for index in range(12):
        path = folder_root / "frames" / "d" / f"{index}.jpg"
        path.parent.mkdir(exist_ok=True)
        cv2.imwrite(str(path), np.full((24, 32, 3), 20 * index, np.uint8))
    (folder_root / "labels" / "b").rename(folder_root / "labels" / "d")
    (folder_root / "labels" / "d" / "f000.png").rename(folder_root / "labels" / "d" / "10.png")
    (folder_root / "splits.toml").write_text('train = ["a"]\ntest = ["d"]')
    (video,) = open_dataset("folder", folder_root).videos("test")
    assert video.labelled == (10,)
    assert np.all(np.diff(video.video().frames.mean(axis=(1, 2, 3))) > 0)


def test_a_name_without_a_video_is_a_problem(folder_root: Path) -> None:
    (folder_root / "splits.toml").write_text('train = ["a", "nowhere"]')
    dataset = open_dataset("folder", folder_root)
    assert paths(dataset) == [str(folder_root / "frames" / "nowhere"), str(folder_root / "labels" / "nowhere")]
    with pytest.raises(DatasetError, match="nowhere: no frames"):
        dataset.videos("selection")[0].video()


def test_a_video_without_labels_is_a_problem(folder_root: Path) -> None:
    for file in (folder_root / "labels" / "b").iterdir():
        file.unlink()
    assert paths(open_dataset("folder", folder_root)) == [str(folder_root / "labels" / "b")]


def test_a_label_without_a_frame_is_a_problem(folder_root: Path) -> None:
    late = folder_root / "labels" / "c" / "000008.png"
    (folder_root / "labels" / "c" / "000000.png").rename(late)
    odd = folder_root / "labels" / "c" / "x.png"
    (folder_root / "labels" / "c" / "000002.png").rename(odd)
    gone = folder_root / "frames" / "a" / "f001.png"
    gone.unlink()
    assert set(paths(open_dataset("folder", folder_root))) == {
        str(late),
        str(odd),
        str(folder_root / "labels" / "a" / "f001.png"),
    }


def test_a_video_that_is_there_twice_is_a_problem(folder_root: Path) -> None:
    (folder_root / "videos" / "a.mp4").write_bytes((folder_root / "videos" / "c.mp4").read_bytes())
    assert str(folder_root / "frames" / "a") in paths(open_dataset("folder", folder_root))


def test_mpi_scene_is_halved_in_time_with_its_classes_built_in(mpi_scene_root: Path) -> None:
    dataset = open_dataset("mpi-scene", mpi_scene_root)
    assert dataset.classes.names == ("background", "road", "lane", "vehicle", "sky")
    frames = {video.name: video.n_frames for split in ("train", "test") for video in dataset.videos(split)}
    assert [frames[f"{name}_train"] for name in ("one", "two", "three", "four")] == [8, 7, 8, 8]
    assert [frames[f"{name}_test"] for name in ("one", "two", "three", "four")] == [8, 6, 8, 7]


def test_mpi_scene_keeps_the_labelled_quarter_of_each_half(mpi_scene_root: Path) -> None:
    dataset = open_dataset("mpi-scene", mpi_scene_root)
    labelled = {video.name: video.labelled for split in ("train", "test") for video in dataset.videos(split)}
    assert labelled["three_train"] == labelled["one_train"] == labelled["one_test"] == (0, 4)
    assert labelled["two_test"] == (1, 5)
    assert labelled["four_test"] == (0, 4)


def test_mpi_scene_takes_other_indices_but_no_other_classes(mpi_scene_root: Path) -> None:
    toml = mpi_scene_root / "classes.toml"
    toml.write_text('names = ["background", "road", "lane", "vehicle", "sky"]\nids = [4, 3, 2, 1, 0]')
    labels = open_dataset("mpi-scene", mpi_scene_root).videos("train")[0].labels()
    assert labels[0, 0, 0] == 4
    toml.write_text('names = ["road"]')
    with pytest.raises(DatasetError, match="open this as 'folder'"):
        open_dataset("mpi-scene", mpi_scene_root)


def test_an_empty_root_says_what_was_expected(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"expected videos/NAME.mp4"):
        open_dataset("mpi-scene", tmp_path)
    with pytest.raises(DatasetError, match=r"classes.toml: missing; write it as docs/datasets.md shows"):
        open_dataset("folder", tmp_path)
