"""Every kind of damage is named, and none hides another."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.datasets import Dataset, LabelledVideo, open_dataset
from budgetseg.datasets.check import CheckReport, check, n_frames
from budgetseg.types import Classes, UInt8, Video
from budgetseg.video import read_index_png


def repaint(path: Path, index: int) -> None:
    labels = read_index_png(path)
    labels[5, 5] = index
    cv2.imwrite(str(path), labels)


def shrink(path: Path) -> None:
    image = cv2.imread(str(path), cv2.IMREAD_UNCHANGED)
    assert image is not None
    cv2.imwrite(str(path), image[::2, ::2])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def scribble(path: Path) -> None:
    path.write_text("no labels")


def truncate(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-100])


DAMAGES: dict[str, tuple[str, Callable[[Path], None], str]] = {
    "missing label": ("trainannot/0016E5_00420.png", Path.unlink, "missing"),
    "truncated frame": ("train/0016E5_00420.png", truncate, "copy it again"),
    "truncated label": ("trainannot/0016E5_00420.png", truncate, "cut short"),
    "empty frame": ("val/0016E5_07961.png", empty, "copy it again"),
    "text as label": ("valannot/0016E5_07961.png", scribble, "not a PNG"),
    "first frame of another size": ("train/0016E5_00390.png", shrink, "240×180 pixels where the video has 480×360"),
    "frame of another size": ("train/0016E5_00450.png", shrink, "240×180 pixels where the video has 480×360"),
    "label of another size": ("valannot/0016E5_07959.png", shrink, "240×180 pixels where the video has 480×360"),
    "unknown index": ("valannot/0016E5_07959.png", lambda path: repaint(path, 12), "unknown index 12"),
}


def report_on(root: Path) -> CheckReport:
    return check(open_dataset("camvid", root))


def test_an_undamaged_copy_is_sound(camvid_copy: Path) -> None:
    report = report_on(camvid_copy)
    assert report.sound
    assert [(split.split, split.n_videos, split.n_frames, split.n_labelled) for split in report.splits] == [
        ("train", 1, 3, 3),
        ("fit", 1, 3, 3),
        ("val", 1, 3, 3),
    ]
    for split in report.splits:
        assert sum(split.pixels.values()) + split.n_ignored == 3 * 480 * 360


@pytest.mark.parametrize("kind", DAMAGES)
def test_a_damaged_file_is_named(camvid_copy: Path, kind: str) -> None:
    file, damage, words = DAMAGES[kind]
    damage(camvid_copy / file)
    (problem,) = report_on(camvid_copy).problems
    assert problem.path == str(camvid_copy / file)
    assert str(camvid_copy / file) in problem.message
    assert words in problem.message
    assert "\n" not in problem.message


def test_a_label_without_its_frame_is_named(camvid_copy: Path) -> None:
    (camvid_copy / "val" / "0016E5_07963.png").unlink()
    (problem,) = report_on(camvid_copy).problems
    assert problem.path == str(camvid_copy / "valannot" / "0016E5_07963.png")


@pytest.mark.parametrize("folder", ["val", "valannot"])
def test_a_missing_folder_is_one_problem(camvid_copy: Path, folder: str) -> None:
    for file in (camvid_copy / folder).iterdir():
        file.unlink()
    (camvid_copy / folder).rmdir()
    assert [problem.path for problem in report_on(camvid_copy).problems] == [str(camvid_copy / folder)]


def test_one_problem_does_not_hide_another(camvid_copy: Path) -> None:
    damaged = [camvid_copy / file for file in ("train/0016E5_00390.png", "trainannot/0016E5_00450.png")]
    for path in damaged:
        truncate(path)
    repaint(camvid_copy / "valannot" / "0016E5_07961.png", 200)
    report = report_on(camvid_copy)
    assert [problem.path for problem in report.problems] == [
        *map(str, damaged),
        str(camvid_copy / "valannot" / "0016E5_07961.png"),
    ]
    assert [split.n_labelled for split in report.splits] == [2, 2, 2]


def test_a_file_that_two_splits_share_is_named_once(suny_copy: Path) -> None:
    truncate(suny_copy / "dataset" / "Chen_png" / "bus" / "00001.png")
    assert len(check(open_dataset("suny", suny_copy)).problems) == 1


def test_progress_counts_every_frame_once(suny_copy: Path) -> None:
    dataset = open_dataset("suny", suny_copy)
    steps: list[int] = []
    check(dataset, steps.append)
    assert sum(steps) == n_frames(dataset) == 8


def test_the_parts_of_train_add_up(data_root: Path) -> None:
    report = check(open_dataset("suny", data_root / "suny"))
    rows = {split.split: split for split in report.splits}
    assert report.sound
    for name, n_pixels in rows["train"].pixels.items():
        assert n_pixels == rows["fit"].pixels[name] + rows["selection"].pixels[name]
    assert rows["train"].n_labelled + rows["test"].n_labelled == 85 + 86 + 81 + 81 + 69


def test_a_report_is_plain_data(camvid_copy: Path) -> None:
    (camvid_copy / "trainannot" / "0016E5_00420.png").unlink()
    plain = asdict(report_on(camvid_copy))
    assert plain["problems"][0]["path"].endswith("trainannot/0016E5_00420.png")
    assert plain["splits"][0]["pixels"].keys() >= {"sky", "bicyclist"}


class InMemory(LabelledVideo):
    """A video that fills no more than the contract."""

    name, n_frames, labelled = "one", 3, (0, 2)

    def video(self) -> Video:
        return Video(np.zeros((3, 2, 2, 3), np.uint8), np.arange(3.0))

    def labels(self) -> UInt8:
        return np.array([[[0, 0], [1, 255]]] * 2, np.uint8)


class Minimal(Dataset):
    """A dataset that fills no more than the contract."""

    name, splits = "minimal", ("train",)
    classes = Classes(("a", "b"), np.zeros((2, 3), np.uint8))

    def _videos(self, split: str) -> list[LabelledVideo]:  # noqa: ARG002 - it has one split
        return [InMemory()]


def test_any_dataset_that_fills_the_contract_can_be_checked() -> None:
    (split,) = check(Minimal()).splits
    assert (split.n_frames, split.n_labelled, split.pixels, split.n_ignored) == (3, 2, {"a": 4, "b": 2}, 2)
