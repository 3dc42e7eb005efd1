"""The neighbourhood graph against loops over voxels."""

from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.supervoxels.graph import BINS, GraphBuilder, direction_bins, neighbourhood_graph
from budgetseg.types import Graph, Int32
from tests.supervoxels.volumes import assert_same_graph, faces_of, few, id_volumes, unit_cells, voxels_of

OPPOSITE = {"up": "down", "down": "up", "left": "right", "right": "left", "before": "after", "after": "before"}


@given(id_volumes())
@few
def test_edges_are_sorted_unique_and_first_below_second(ids: Int32) -> None:
    edges = neighbourhood_graph(ids).edges
    assert (edges[:, 0] < edges[:, 1]).all()
    assert np.array_equal(np.unique(edges, axis=0), edges)


@given(id_volumes())
@few
def test_contact_is_that_of_a_loop_over_voxels(ids: Int32) -> None:
    graph = neighbourhood_graph(ids)
    pairs = [(a, b) for a, b in graph.edges.tolist()]
    assert dict(zip(pairs, graph.contact.tolist(), strict=True)) == faces_of(ids, *unit_cells(ids))


@given(id_volumes())
@few
def test_sizes_boxes_and_centroids_are_those_of_the_voxels(ids: Int32) -> None:
    graph = neighbourhood_graph(ids)
    assert graph.sizes.sum() == ids.size
    assert len(graph) == ids.max() + 1
    for region in range(len(graph)):
        voxels = voxels_of(ids, region)
        assert graph.sizes[region] == len(voxels)
        assert np.allclose(graph.centroids[region], voxels.mean(axis=0), rtol=0, atol=1e-9)
        tight = np.stack([voxels.min(axis=0), voxels.max(axis=0) + 1], axis=1)
        assert np.array_equal(graph.boxes[region], tight.ravel())


@given(id_volumes())
@few
def test_key_frames_are_the_first_middle_and_last_of_the_box(ids: Int32) -> None:
    graph = neighbourhood_graph(ids)
    for (first, middle, last), box in zip(graph.key_frames.tolist(), graph.boxes.tolist(), strict=True):
        assert (first, last) == (box[0], box[1] - 1)
        assert first <= middle <= last
        assert abs((middle - first) - (last - middle)) <= 1


def spread(seed: int) -> Int32:
    """Connected regions: every voxel of a volume belongs to the nearest of a few, along a random tree."""
    rng = np.random.default_rng(seed)
    ids = np.full((6, 5, 5), -1, np.int32)
    front = [tuple(voxel) for voxel in rng.permutation(np.argwhere(ids < 0))[:4].tolist()]
    for region, voxel in enumerate(front):
        ids[voxel] = region
    while front:
        here = front.pop(int(rng.integers(len(front))))
        for step in np.concatenate([np.eye(3, dtype=int), -np.eye(3, dtype=int)]):
            there = tuple((np.array(here) + step).tolist())
            if all(0 <= i < side for i, side in zip(there, ids.shape, strict=True)) and ids[there] < 0:
                ids[there] = ids[here]
                front.append(there)
    return ids


@given(st.integers(0, 2**32))
@few
def test_a_connected_region_has_pixels_in_its_key_frames(seed: int) -> None:
    ids = spread(seed)
    for region, frames in enumerate(neighbourhood_graph(ids).key_frames):
        assert all((ids[frame] == region).any() for frame in frames)


@given(id_volumes())
@few
def test_bins_seen_from_both_ends_are_opposite_but_for_ties(ids: Int32) -> None:
    graph = neighbourhood_graph(ids)
    step = graph.centroids[graph.edges[:, 1]] - graph.centroids[graph.edges[:, 0]]
    for (t, y, x), (there, back) in zip(step, graph.bins, strict=True):
        (axis, when), (axis_back, when_back) = BINS[there].split(), BINS[back].split()
        assert axis_back == (OPPOSITE[axis] if (y, x) != (0, 0) else axis)
        assert when_back == (OPPOSITE[when] if t != 0 else when)


@pytest.mark.parametrize(
    ("step", "there", "back"),
    [
        ((-1, -2, 1), "up before", "down after"),
        ((1, -2, 1), "up after", "down before"),
        ((-1, 2, 1), "down before", "up after"),
        ((1, 2, -1), "down after", "up before"),
        ((-1, 1, -2), "left before", "right after"),
        ((1, 1, -2), "left after", "right before"),
        ((-1, 1, 2), "right before", "left after"),
        ((1, -1, 2), "right after", "left before"),
    ],
)
def test_a_bin_is_named_after_the_dominant_axis_and_the_time(step: Sequence[float], there: str, back: str) -> None:
    assert bins_of(step) == (there, back)


@pytest.mark.parametrize(
    ("step", "there", "back"),
    [
        ((1, 2, 2), "down after", "up before"),
        ((1, -2, 2), "up after", "down before"),
        ((0, 2, 1), "down after", "up after"),
        ((0, 1, 2), "right after", "left after"),
        ((1, 0, 0), "down after", "down before"),
        ((0, 0, 0), "down after", "down after"),
    ],
)
def test_ties_are_vertical_downwards_and_after(step: Sequence[float], there: str, back: str) -> None:
    assert bins_of(step) == (there, back)


def bins_of(step: Sequence[float]) -> tuple[str, str]:
    here = np.array([7.5, 20.25, 30.0])
    there, back = direction_bins(np.stack([here, here + step]), np.array([[0, 1]], np.int32))[0]
    return BINS[there], BINS[back]


@given(id_volumes(longest=4), st.integers(1, 3), st.integers(0, 2), st.integers(0, 2))
@few
def test_a_graph_of_blocks_is_that_of_their_pixels(ids: Int32, reduce: int, cut_y: int, cut_x: int) -> None:
    pixels = ids.repeat(reduce, axis=1).repeat(reduce, axis=2)
    height, width = (
        side * reduce - min(cut, reduce - 1) for side, cut in zip(ids.shape[1:], (cut_y, cut_x), strict=True)
    )
    builder = GraphBuilder((height, width), reduce)
    builder.add(ids)
    assert_same_graph(builder.build(), neighbourhood_graph(pixels[:, :height, :width].copy()))


@given(id_volumes(), st.lists(st.integers(0, 5)))
@few
def test_a_graph_collected_from_windows_is_that_of_the_whole(ids: Int32, cuts: list[int]) -> None:
    builder = GraphBuilder(ids.shape[1:])
    for window in np.split(ids, sorted({cut for cut in cuts if 0 < cut < len(ids)})):
        builder.add(window)
    assert_same_graph(builder.build(), neighbourhood_graph(ids))


@pytest.mark.parametrize("n_more", [0, 1])
def test_a_graph_taken_early_stays_as_it_is(n_more: int) -> None:
    builder = GraphBuilder((4, 4))
    builder.add(np.zeros((2, 4, 4), np.int32))
    early = builder.build()
    before = Graph(**{name: values.copy() for name, values in vars(early).items()})
    builder.add(np.full((2, 4, 4), n_more, np.int32))
    assert_same_graph(early, before)


def test_a_single_region_has_no_edges() -> None:
    graph = neighbourhood_graph(np.zeros((3, 4, 5), np.int32))
    assert (len(graph), graph.edges.shape, graph.bins.shape) == (1, (0, 2), (0, 2))
    assert np.array_equal(graph.boxes, [[0, 3, 0, 4, 0, 5]])


def test_many_windows_add_up_their_contact() -> None:
    frame = np.array([[0, 0, 1], [0, 2, 1]], np.int32)
    builder = GraphBuilder((2, 3))
    for _ in range(40):
        builder.add(frame[None])
    graph = builder.build()
    assert np.array_equal(graph.edges, [[0, 1], [0, 2], [1, 2]])
    assert np.array_equal(graph.contact, [40, 80, 40])
