"""Datasets as their file names tell them."""

import numpy as np

from budgetseg.datasets import Problem
from budgetseg.datasets.files import FrameFiles
from budgetseg.datasets.labels import IndexLabels
from budgetseg.datasets.listed import ListedDataset, train_parts
from budgetseg.types import Classes


def video(name: str) -> FrameFiles:
    return FrameFiles(name, (), np.zeros(0), {}, IndexLabels({}))


def test_a_training_set_that_cannot_be_divided_is_fitted_whole() -> None:
    a, b = video("a"), video("b")
    assert train_parts([a, b], [b], [a]) == {"train": [a, b], "fit": [a], "selection": [b]}
    assert train_parts([a, b], [], [a, b]) == {"train": [a, b], "fit": [a, b]}
    assert train_parts([a], [a], []) == {"train": [a], "fit": [a]}
    assert train_parts([], [], []) == {}


def test_videos_come_in_the_order_of_their_names_and_problems_as_listed() -> None:
    problems = (Problem("x.png", "x.png: missing; restore the file"),)
    classes = Classes(("road",), np.zeros((1, 3), np.uint8))
    dataset = ListedDataset("mine", classes, {"val": [video("b"), video("a")]}, problems)
    assert [found.name for found in dataset.videos("val")] == ["a", "b"]
    assert dataset.splits == ("val",)
    assert dataset.problems() == problems
