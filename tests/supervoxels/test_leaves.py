"""Leaves against Felzenszwalb and Huttenlocher's method written out plainly."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.supervoxels.features import feature_planes
from budgetseg.supervoxels.leaves import MAX_SIZE, MIN_SIZE, NO_EDGE, SCALE, edge_weights, merge_voxels
from budgetseg.types import Float64, Int32, UInt8
from tests.supervoxels.volumes import Shape, drift, few, is_dense, n_parts, noise, plain

SHAPES: list[Shape] = [(1, 1, 1), (1, 1, 9), (1, 9, 1), (9, 1, 1), (1, 6, 7), (3, 1, 8), (2, 4, 5), (4, 5, 3)]
CLIPS = {"noise": noise((8, 24, 31)), "drift": drift((8, 24, 31)), "plain": plain((8, 24, 31))}


def grown(weights: UInt8, scale: float, min_size: int, max_size: int) -> Int32:
    """`merge_voxels` with a sorted list of edges and a dictionary of sets."""
    _, _, height, width = weights.shape
    steps = 1, width, height * width
    listed = [
        (int(weight), voxel, direction)
        for direction in range(3)
        for voxel, weight in enumerate(weights[direction].ravel())
        if weight != NO_EDGE
    ]
    edges = [(weight, voxel, voxel + steps[direction]) for weight, voxel, direction in sorted(listed)]
    members = {voxel: {voxel} for voxel in range(weights[0].size)}
    home = dict(zip(members, members, strict=True))
    limit = dict.fromkeys(members, scale)

    def join(a: int, b: int) -> None:
        members[a] |= members.pop(b)
        home.update(dict.fromkeys(members[a], a))

    for weight, here, there in edges:
        a, b = home[here], home[there]
        if a != b and len(members[a]) + len(members[b]) <= max_size and weight <= min(limit[a], limit[b], scale):
            join(a, b)
            limit[a] = weight + scale / len(members[a])
    for _, here, there in edges:
        a, b = home[here], home[there]
        if a != b and min(len(members[a]), len(members[b])) < min_size:
            join(a, b)
    numbers: dict[int, int] = {}
    ids = [numbers.setdefault(home[voxel], len(numbers)) for voxel in sorted(home)]
    return np.array(ids, np.int32).reshape(weights.shape[1:])


@st.composite
def weight_volumes(draw: st.DrawFn) -> UInt8:
    """Edge weights, (3, T, h, w), of any kind: spread, few, two, one."""
    shape, n_values = draw(st.sampled_from(SHAPES)), draw(st.sampled_from([1, 2, 6, NO_EDGE]))
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    weights = rng.choice(rng.choice(NO_EDGE, n_values, replace=False), (3, *shape)).astype(np.uint8)
    weights[0, :, :, -1] = weights[1, :, -1] = weights[2, -1] = NO_EDGE
    return weights


@given(weight_volumes(), st.sampled_from([1.0, 40.0, 300.0]), st.sampled_from([1, 4, 16]), st.sampled_from([5, 20, 64]))
@few
def test_leaves_are_those_of_the_plain_method(weights: UInt8, scale: float, min_size: int, max_size: int) -> None:
    ids, n = merge_voxels(weights, scale, min_size, max_size)
    assert np.array_equal(ids, grown(weights, scale, min_size, max_size))
    assert n == ids.max() + 1


@given(st.sampled_from(SHAPES), st.integers(1, 256), st.integers(0, 2**32))
@few
def test_leaves_of_colours_are_those_of_the_plain_method(shape: Shape, n_colours: int, seed: int) -> None:
    planes = np.random.default_rng(seed).integers(0, n_colours, (shape[0], 3, *shape[1:])).astype(np.uint8)
    weights = edge_weights(planes)
    ids, _ = merge_voxels(weights, SCALE, MIN_SIZE, MAX_SIZE)
    assert np.array_equal(ids, grown(weights, SCALE, MIN_SIZE, MAX_SIZE))


@pytest.mark.parametrize("name", CLIPS)
def test_a_larger_clip_has_the_leaves_of_the_plain_method(name: str) -> None:
    weights = edge_weights(colours(CLIPS[name][:4]))
    ids, _ = merge_voxels(weights, SCALE, MIN_SIZE, MAX_SIZE)
    assert np.array_equal(ids, grown(weights, SCALE, MIN_SIZE, MAX_SIZE))


def test_edges_heavier_than_the_scale_are_left_to_small_regions() -> None:
    weights = np.full((3, 1, 1, 4), NO_EDGE, np.uint8)
    weights[0, 0, 0, :3] = 30, 40, 30
    assert merge_voxels(weights, 40.0, 1, 64)[1] == 1
    weights[0, 0, 0, 1] = 41
    assert merge_voxels(weights, 40.0, 1, 64)[1] == 2
    assert merge_voxels(weights, 40.0, 3, 64)[1] == 1


def colours(frames: UInt8) -> UInt8:
    return np.ascontiguousarray(feature_planes(frames)[:, :3])


def leaves_of(frames: UInt8) -> Int32:
    ids: Int32 = merge_voxels(edge_weights(colours(frames)), SCALE, MIN_SIZE, MAX_SIZE)[0]
    return ids


@pytest.mark.parametrize("name", CLIPS)
def test_leaf_ids_are_dense_and_in_the_order_of_their_first_voxel(name: str) -> None:
    ids = leaves_of(CLIPS[name])
    names, first = np.unique(ids, return_index=True)
    assert is_dense(ids, len(names))
    assert (np.diff(first) > 0).all()


@pytest.mark.parametrize("name", CLIPS)
def test_every_leaf_is_connected(name: str) -> None:
    ids = leaves_of(CLIPS[name])
    assert n_parts(ids) == ids.max() + 1


@pytest.mark.parametrize("name", CLIPS)
def test_no_leaf_is_too_small(name: str) -> None:
    ids = leaves_of(CLIPS[name])
    assert np.bincount(ids.ravel()).min() >= MIN_SIZE
    assert ids.max() + 1 <= ids.size // MIN_SIZE


def test_a_volume_below_the_least_size_is_one_leaf() -> None:
    ids = leaves_of(noise((1, 3, 5)))
    assert ids.size < MIN_SIZE
    assert not ids.any()


def test_before_small_leaves_are_joined_none_is_too_large() -> None:
    weights = edge_weights(colours(CLIPS["plain"]))
    ids, _ = merge_voxels(weights, SCALE, 1, MAX_SIZE)
    assert np.bincount(ids.ravel()).max() <= MAX_SIZE


def test_a_plain_clip_has_compact_leaves_not_strips() -> None:
    ids = leaves_of(plain((8, 64, 64)))
    spans = [np.ptp(np.argwhere(ids == leaf), axis=0).max() for leaf in range(0, ids.max(), 10)]
    assert np.median(spans) < 16


@given(st.sampled_from(SHAPES), st.integers(1, 256), st.integers(0, 2**32))
@few
def test_a_weight_is_twice_the_lab_distance_plus_a_dither_below_two(shape: Shape, n_values: int, seed: int) -> None:
    planes = np.random.default_rng(seed).integers(0, n_values, (shape[0], 3, *shape[1:])).astype(np.uint8)
    weights, volume = edge_weights(planes), planes.transpose(0, 2, 3, 1).astype(np.float64)
    for direction, axis in enumerate((2, 1, 0)):
        least: Float64 = 2 * np.linalg.norm(np.diff(volume, axis=axis), axis=-1)
        inner = np.delete(weights[direction], -1, axis)
        assert (inner >= np.minimum(np.floor(least - 1e-3), NO_EDGE - 1)).all()
        assert (inner <= np.minimum(least + 2 + 1e-3, NO_EDGE - 1)).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_edges_are_missing_exactly_at_the_border(shape: Shape) -> None:
    missing = np.zeros((3, *shape), np.bool_)
    missing[0, :, :, -1] = missing[1, :, -1] = missing[2, -1] = True
    weights = edge_weights(np.random.default_rng(0).integers(0, 256, (shape[0], 3, *shape[1:]), np.uint8))
    assert np.array_equal(weights == NO_EDGE, missing)


def test_a_plain_clip_has_weights_of_both_dithered_values() -> None:
    weights = edge_weights(colours(plain((2, 16, 16))))
    inner = weights[weights != NO_EDGE]
    assert set(inner.tolist()) == {0, 1}
    assert 0.4 < inner.mean() < 0.6


def test_the_dither_is_the_same_in_every_frame() -> None:
    weights = edge_weights(colours(np.repeat(noise((1, 9, 12)), 4, axis=0)))
    assert (weights[:2] == weights[:2, :1]).all()
    assert (weights[2, :-1] == weights[2, 0]).all()


def test_largest_colour_differences_are_still_edges() -> None:
    planes = np.zeros((1, 3, 2, 2), np.uint8)
    planes[0, :, 0, 0] = planes[0, :, 1, 1] = 255
    weights = edge_weights(planes)
    assert set(weights[weights != NO_EDGE].tolist()) == {NO_EDGE - 1}
