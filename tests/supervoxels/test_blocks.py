"""Blocks in the place of supervoxels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.descriptors.agreed_frames import agreed_frames
from budgetseg.supervoxels.blocks import N_FRAMES, cut_blocks
from budgetseg.supervoxels.graph import neighbourhood_graph
from tests.supervoxels.volumes import assert_same_graph, few

shapes = st.tuples(st.integers(1, 40), st.integers(1, 30), st.integers(1, 30))


@given(shapes, st.integers(1, 200))
@few
def test_they_are_boxes_that_fill_the_video_with_the_graph_of_their_voxels(shape: tuple[int, int, int], n: int) -> None:
    blocks = cut_blocks(shape, n)
    assert blocks.ids.shape == shape
    assert np.array_equal(np.unique(blocks.ids), np.arange(len(blocks)))
    sides = np.diff(blocks.graph.boxes.reshape(-1, 3, 2), axis=2)[:, :, 0]
    assert np.array_equal(sides.prod(axis=1), blocks.graph.sizes)
    assert_same_graph(blocks.graph, neighbourhood_graph(blocks.ids))
    assert np.array_equal(cut_blocks(shape, len(blocks)).ids, blocks.ids)


@pytest.mark.parametrize(
    ("shape", "n"), [((40, 160, 240), 250), ((101, 360, 480), 900), ((20, 160, 240), 125), ((7, 120, 90), 43)]
)
def test_there_are_about_as_many_as_were_asked_for_and_they_are_about_square(
    shape: tuple[int, int, int], n: int
) -> None:
    blocks = cut_blocks(shape, n)
    assert 0.7 * n < len(blocks) < 1.4 * n
    heights, widths = (blocks.graph.boxes[:, k + 1] - blocks.graph.boxes[:, k] for k in (2, 4))
    assert 0.6 < heights.mean() / widths.mean() < 1.7


def test_blocks_of_one_time_look_at_the_same_frames() -> None:
    boxes = cut_blocks((3 * N_FRAMES, 40, 60), 90).graph.boxes
    frames = agreed_frames(boxes[:, 0], boxes[:, 1])
    for time in range(3):
        own = frames[boxes[:, 0] == time * N_FRAMES]
        assert (own == own[0]).all()
