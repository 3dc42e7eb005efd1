"""A legend covers a corner, and names only what fits."""

import numpy as np
import pytest

from budgetseg.video.legend import legend_of

NAMES = ("road", "sky", "building", "pedestrian", "bicyclist", "sidewalk", "fence", "tree", "car", "pole", "sign")
COLOURS = np.random.default_rng(0).integers(60, 256, (len(NAMES), 3)).astype(np.uint8)


@pytest.mark.parametrize("size", [(176, 144), (640, 360), (121, 81), (1920, 1080)])
def test_a_legend_lies_within_the_picture_and_covers_a_fifth_at_most(size: tuple[int, int]) -> None:
    legend = legend_of(NAMES, COLOURS, size)
    assert legend is not None
    height, width = legend.pixels.shape[:2]
    assert not any(side % 2 for side in (height, width, legend.top, legend.left))
    assert legend.top + height <= size[1]
    assert legend.left + width <= size[0]
    assert height <= size[1] / 5


@pytest.mark.parametrize("size", [(176, 144), (640, 360)])
def test_the_most_important_classes_are_shown_in_their_colours(size: tuple[int, int]) -> None:
    legend = legend_of(NAMES, COLOURS, size)
    assert legend is not None
    shown = [(legend.pixels == colour).all(axis=2).sum() >= 20 for colour in COLOURS]
    n = sum(shown)
    assert n >= 3
    assert shown == [True] * n + [False] * (len(NAMES) - n)


def test_names_that_do_not_fit_are_left_out_and_where_none_fits_there_is_no_legend() -> None:
    assert legend_of(["a very long name of a class" * 5], COLOURS[:1], (176, 144)) is None
    assert legend_of(NAMES, COLOURS, (8, 8)) is None
    assert legend_of([], COLOURS[:0], (640, 360)) is None
