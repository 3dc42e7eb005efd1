"""Windows: leaves grown in blocks, joined into one graph, with what the window before left."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.supervoxels.features import feature_planes
from budgetseg.supervoxels.regions import Regions, describe
from budgetseg.supervoxels.window import BLOCK, Slab, Window, enlarge, segment_window
from budgetseg.types import Int32, Int64
from tests.supervoxels.volumes import Shape, drift, few, is_dense, n_parts, noise

SHAPES: list[tuple[Shape, int]] = [
    ((1, 1, 1), 1),
    ((20, 1, 1), 1),
    ((3, 2, 2), 3),
    ((17, 37, 23), 1),
    ((9, 37, 23), 3),
    ((9, BLOCK[1] + 2, BLOCK[2] + 10), 1),
    ((2, 2 * BLOCK[1] + 6, 3), 2),
]
"""Clips smaller and larger than a block in every direction, and the side of their voxels."""


def contacts(ids: Int32) -> dict[tuple[int, int], int]:
    """Faces shared by each pair of ids, smaller first."""
    both: list[Int64] = []
    for axis in range(3):
        moved = np.moveaxis(ids, axis, 0).astype(np.int64)
        both.append(np.stack([moved[:-1].ravel(), moved[1:].ravel()], axis=1))
    pairs = np.sort(np.concatenate(both), axis=1)
    found, areas = np.unique(pairs[pairs[:, 0] != pairs[:, 1]], axis=0, return_counts=True)
    return {(a, b): area for (a, b), area in zip(found.tolist(), areas.tolist(), strict=True)}


def edges_of(regions: Regions) -> dict[tuple[int, int], int]:
    assert len(np.unique(np.sort(regions.edges, axis=1), axis=0)) == len(regions.edges), "a pair is listed twice"
    return {(a, b): int(c) for (a, b), c in zip(regions.edges.tolist(), regions.contact, strict=True)}


@pytest.mark.parametrize(("shape", "reduce"), SHAPES)
def test_leaves_are_connected_and_dense_across_blocks(shape: Shape, reduce: int) -> None:
    window = segment_window(drift(shape), reduce)
    assert window.leaf_ids.shape == (shape[0], *(-(-side // reduce) for side in shape[1:]))
    assert is_dense(window.leaf_ids, window.tree.n_leaves)
    assert n_parts(window.leaf_ids) == window.tree.n_leaves


@pytest.mark.parametrize(("shape", "reduce"), SHAPES)
def test_the_region_graph_is_that_of_the_whole_window(shape: Shape, reduce: int) -> None:
    frames = drift(shape)
    window = segment_window(frames, reduce)
    sizes, sums = describe(window.leaf_ids, feature_planes(frames, reduce), len(window.regions))
    assert np.array_equal(window.regions.sizes, sizes)
    assert np.array_equal(window.regions.sums, sums)
    assert edges_of(window.regions) == contacts(window.leaf_ids)
    assert (window.regions.groups == -1).all()


@pytest.mark.parametrize(("shape", "reduce"), SHAPES)
def test_a_window_without_a_past_can_merge_into_one_region(shape: Shape, reduce: int) -> None:
    assert not segment_window(noise(shape), reduce).tree.cut(1).any()


@pytest.mark.parametrize(("shape", "reduce"), SHAPES)
def test_the_last_slab_is_the_end_of_the_window(shape: Shape, reduce: int) -> None:
    window = segment_window(drift(shape), reduce)
    last, first_leaf = window.last, len(window.regions) - len(window.last.regions)
    assert np.array_equal(last.ids + first_leaf, window.leaf_ids[-len(last.ids) :])
    assert np.array_equal(last.regions.sizes, window.regions.sizes[first_leaf:])


def with_past(n_groups: int) -> tuple[Window, Slab]:
    """A window, and the slab before it, whose leaves are in groups."""
    frames = drift((20, 20, 30))
    last = segment_window(frames[:10]).last
    groups = (np.arange(len(last.regions)) % n_groups).astype(np.int32)
    before = Slab(last.ids, replace(last.regions, groups=groups))
    return segment_window(frames[10:], 1, before), before


def test_the_leaves_before_come_first_and_touch_those_of_the_first_frame() -> None:
    window, before = with_past(5)
    n_before, n_new = len(before.regions), len(np.unique(window.leaf_ids))
    assert len(window.regions) == n_before + n_new
    assert window.leaf_ids.min() == n_before
    assert np.array_equal(window.regions.sizes[:n_before], before.regions.sizes)
    assert np.array_equal(window.regions.groups, [*before.regions.groups, *[-1] * n_new])
    assert edges_of(window.regions) == contacts(np.concatenate([before.ids, window.leaf_ids]))


def test_a_window_with_a_past_merges_into_the_groups_before() -> None:
    window, before = with_past(5)
    coarsest = window.tree.cut(0)
    known = dict(zip(coarsest.tolist(), before.regions.groups.tolist(), strict=False))
    assert set(known) == set(coarsest.tolist()), "a region has no group"
    assert [known[region] for region in coarsest[: len(before.regions)].tolist()] == before.regions.groups.tolist()


def test_a_past_leaves_the_leaves_as_they_are() -> None:
    window, before = with_past(5)
    assert np.array_equal(window.leaf_ids - len(before.regions), segment_window(drift((20, 20, 30))[10:]).leaf_ids)


@pytest.mark.parametrize("threads", [2, 5])
def test_threads_change_nothing(threads: int) -> None:
    frames = drift((35, 37, 23))
    one, several = segment_window(frames), segment_window(frames, threads=threads)
    assert np.array_equal(one.leaf_ids, several.leaf_ids)
    assert np.array_equal(one.tree.children, several.tree.children)
    assert np.array_equal(one.tree.prices, several.tree.prices)


@given(st.tuples(*[st.integers(1, 9)] * 3), st.integers(1, 4))
@few
def test_enlarged_ids_repeat_every_voxel_over_its_block(shape: Shape, reduce: int) -> None:
    small = tuple(-(-side // reduce) for side in shape[1:])
    ids = np.random.default_rng(0).integers(0, 100, (shape[0], *small)).astype(np.int32)
    whole = ids.repeat(reduce, axis=1).repeat(reduce, axis=2)
    assert np.array_equal(enlarge(ids, reduce, shape[1:]), whole[:, : shape[1], : shape[2]])
