"""What every dataset promises, held against all of them: real ones, and small ones written on the spot."""

from itertools import pairwise

import numpy as np
import pytest

from budgetseg.datasets import DATASETS, Dataset, LabelledVideo, open_dataset
from budgetseg.types import IGNORE

ROOTS = {"camvid": "camvid", "camvid-original": "camvid_original", "suny": "suny"}
WRITTEN = {"folder": "folder_root", "mpi-scene": "mpi_scene_root"}


@pytest.fixture(params=sorted(DATASETS))
def dataset(request: pytest.FixtureRequest) -> Dataset:
    name = request.param
    if not DATASETS[name].needs_root:
        return open_dataset(name)
    if name in WRITTEN:
        return open_dataset(name, request.getfixturevalue(WRITTEN[name]))
    return open_dataset(name, request.getfixturevalue("data_root") / ROOTS[name])


def apart(dataset: Dataset) -> list[LabelledVideo]:
    """The videos of the splits that have no frame in common."""
    return [video for split in dataset.splits if split not in ("fit", "selection") for video in dataset.videos(split)]


def sources(dataset: Dataset, split: str) -> set[str]:
    return (
        {source for video in dataset.videos(split) for source in video.sources()} if split in dataset.splits else set()
    )


def test_the_name_is_the_one_it_was_opened_by(dataset: Dataset, request: pytest.FixtureRequest) -> None:
    assert dataset.name == request.node.callspec.params["dataset"]


def test_every_class_has_its_own_name_and_colour(dataset: Dataset) -> None:
    assert len(set(dataset.classes.names)) == len(dataset.classes)
    assert len(np.unique(dataset.classes.colours, axis=0)) == len(dataset.classes)
    assert dataset.classes.colours.shape == (len(dataset.classes), 3)


def test_video_names_are_unique_and_in_order(dataset: Dataset) -> None:
    names = [video.name for video in apart(dataset)]
    assert len(set(names)) == len(names)
    for split in dataset.splits:
        ordered = [video.name for video in dataset.videos(split)]
        assert ordered == sorted(ordered)


def test_no_split_is_empty(dataset: Dataset) -> None:
    for split in dataset.splits:
        assert dataset.videos(split)


def test_labelled_frames_ascend_within_the_video(dataset: Dataset) -> None:
    for video in apart(dataset):
        assert video.labelled
        assert all(first < second for first, second in pairwise(video.labelled))
        assert video.labelled[0] >= 0
        assert video.labelled[-1] < video.n_frames


def test_no_frame_is_in_two_of_train_val_and_test(dataset: Dataset) -> None:
    train, val, test = (sources(dataset, split) for split in ("train", "val", "test"))
    assert not train & val
    assert not train & test
    assert not val & test


def test_fit_and_selection_are_the_two_parts_of_train(dataset: Dataset) -> None:
    fit, selection = sources(dataset, "fit"), sources(dataset, "selection")
    assert not fit & selection
    assert fit | selection == sources(dataset, "train")


def test_frames_and_labels_have_one_size_and_the_lengths_promised_and_labels_are_classes_or_ignored(
    dataset: Dataset,
) -> None:
    for video in apart(dataset):  # read once: that takes long
        frames, labels = video.video(), video.labels()
        n_frames, height, width = frames.shape
        assert n_frames == video.n_frames == len(frames.times_s) == len(video.sources())
        assert labels.shape == (len(video.labelled), height, width)
        assert labels.dtype == frames.frames.dtype == np.uint8
        present = np.flatnonzero(np.bincount(labels.ravel(), minlength=256))
        assert set(present.tolist()) <= {*range(len(dataset.classes)), IGNORE}


def test_times_ascend(dataset: Dataset) -> None:
    video = min(apart(dataset), key=lambda video: (video.n_frames < 3, video.n_frames))
    assert np.all(np.diff(video.video().times_s) > 0)


def test_reading_twice_gives_the_same(dataset: Dataset) -> None:
    video = min(apart(dataset), key=lambda video: video.n_frames)
    np.testing.assert_array_equal(video.video().frames, video.video().frames)
    np.testing.assert_array_equal(video.labels(), video.labels())


def test_inspection_sees_the_labels_that_are_read(dataset: Dataset) -> None:
    video = min(apart(dataset), key=lambda video: video.n_frames)
    seen = list(video.inspect())
    assert tuple(frame.source for frame in seen) == video.sources()
    assert tuple(index for index, frame in enumerate(seen) if frame.labels is not None) == video.labelled
    np.testing.assert_array_equal([frame.labels for frame in seen if frame.labels is not None], video.labels())


def test_the_published_files_have_no_problem(dataset: Dataset) -> None:
    assert list(dataset.problems()) == []
