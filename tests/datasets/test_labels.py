"""Label files to class indices."""

from pathlib import Path

import cv2
import numpy as np
import pytest

from budgetseg.datasets.labels import ColourLabels, IndexLabels
from budgetseg.errors import BudgetsegError, DatasetError
from budgetseg.types import IGNORE
from budgetseg.video import write_index_png


def test_indices_go_through_the_table_whatever_the_palette_shows(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    write_index_png(path, np.array([[5, 7], [7, 9]], np.uint8), np.full((256, 3), 200, np.uint8))
    np.testing.assert_array_equal(IndexLabels({5: 0, 7: 1, 9: IGNORE})(path), [[0, 1], [1, IGNORE]])


def test_all_unknown_indices_are_named(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    cv2.imwrite(str(path), np.array([[0, 3, 4, 9]], np.uint8))
    with pytest.raises(DatasetError, match=r"x.png: unknown index 3-4, 9; the classes are 0-1, ignored none"):
        IndexLabels({0: 0, 1: 1})(path)


def test_colours_go_through_the_table(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    cv2.imwrite(str(path), np.array([[[0, 64, 192], [0, 0, 0]]], np.uint8))
    np.testing.assert_array_equal(ColourLabels({(192, 64, 0): 3, (0, 0, 0): IGNORE})(path), [[3, IGNORE]])


@pytest.mark.parametrize("colour", [(64, 64, 64), (193, 64, 0), (255, 127, 63)])
def test_a_colour_near_a_known_one_is_unknown(tmp_path: Path, colour: tuple[int, int, int]) -> None:
    path = tmp_path / "x.png"
    cv2.imwrite(str(path), np.array([[colour[::-1]]], np.uint8))
    with pytest.raises(DatasetError, match="unknown colour"):
        ColourLabels({(192, 64, 0): 3})(path)


def test_a_picture_in_place_of_indices_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "x.png"
    cv2.imwrite(str(path), np.zeros((4, 4, 3), np.uint8))
    with pytest.raises(BudgetsegError, match=r"x\.png"):
        IndexLabels({0: 0})(path)
