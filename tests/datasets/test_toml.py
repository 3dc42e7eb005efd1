"""classes.toml and splits.toml: what they may say, and what is said about the rest."""

import re
from pathlib import Path

import numpy as np
import pytest

from budgetseg.datasets.toml import palette, read_classes, read_splits
from budgetseg.errors import DatasetError
from budgetseg.types import IGNORE


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "file.toml"
    path.write_text(text)
    return path


def test_indices_count_up_and_255_is_ignored_unless_said_otherwise(tmp_path: Path) -> None:
    classes, read_labels = read_classes(written(tmp_path, 'names = ["a", "b"]'))
    assert classes.names == ("a", "b")
    assert dict(read_labels.classes) == {0: 0, 1: 1, 255: IGNORE}


def test_ids_and_ignored_ids_are_free(tmp_path: Path) -> None:
    text = 'names = ["a", "b"]\nids = [7, 3]\nignored = [0, 1]\ncolours = [[1, 2, 3], [4, 5, 6]]'
    classes, read_labels = read_classes(written(tmp_path, text))
    assert dict(read_labels.classes) == {7: 0, 3: 1, 0: IGNORE, 1: IGNORE}
    np.testing.assert_array_equal(classes.colours, [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "'names' must be a list"),
        ("names = [", "not readable as TOML"),
        ("names = 3", "'names' must be a list"),
        ('names = "road"', "'names' must be a list"),
        ('names = ["a", "a"]', "must differ"),
        ('names = ["a"]\ncolors = [[1, 2, 3]]', "unknown key 'colors'"),
        ('names = ["a"]\ncolours = [[1, 2]]', "'colours' must be 1 triples"),
        ('names = ["a"]\ncolours = []', "'colours' must be 1 triples"),
        ('names = ["a"]\ncolours = [[1, 2, 256]]', "'colours' must be 1 triples"),
        ('names = ["a", "b"]\nids = [1]', "'ids' must be 2 indices"),
        ('names = ["a"]\nignored = [-1]', "'ignored' must be"),
        ('names = ["a"]\nignored = [0]', "two meanings"),
    ],
)
def test_a_wrong_class_map_is_refused(tmp_path: Path, text: str, rule: str) -> None:
    with pytest.raises(DatasetError, match=rule):
        read_classes(written(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", "no splits"),
        ("train = 3", "'train' must be a list of video names"),
        ("train = []", "'train' must be a list of video names"),
        ('train = ["a", "a"]', "names a video twice; list it once"),
        ('train = ["a"]\ntest = ["a"]', "'a' is in both 'train' and 'test'"),
        ('selection = ["a"]\ntest = ["a"]', "'a' is in both"),
        ('train = ["a"]\nfit = ["a"]', "'fit' is what 'selection' leaves"),
    ],
)
def test_wrong_splits_are_refused(tmp_path: Path, text: str, rule: str) -> None:
    with pytest.raises(DatasetError, match=rule):
        read_splits(written(tmp_path, text))


def test_the_example_in_the_documentation_can_be_read(tmp_path: Path) -> None:
    page = (Path(__file__).parents[2] / "docs" / "datasets.md").read_text(encoding="utf-8")
    classes, splits = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)
    assert read_classes(written(tmp_path, classes))[0].names == ("road", "car", "sky")
    assert read_splits(written(tmp_path, splits)).keys() == {"train", "selection", "val", "test"}


def test_made_up_colours_differ() -> None:
    assert len(np.unique(palette(60), axis=0)) == 60
