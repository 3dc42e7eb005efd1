"""Regions and their faces against loops over voxels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.supervoxels.regions import FEATURE_WEIGHTS, describe, faces, faces_between
from budgetseg.types import Int32, Int64
from tests.supervoxels.volumes import Shape, dense, faces_of, few, id_volumes, unit_cells

SEEDS = st.integers(0, 2**32)


def listed(pairs: Int32, areas: Int64) -> dict[tuple[int, int], int]:
    found = {(int(a), int(b)): int(area) for (a, b), area in zip(pairs, areas, strict=True)}
    assert len(found) == len(pairs), "a pair is listed twice"
    return found


def cells(ids: Int32, seed: int) -> tuple[Int64, Int64]:
    rng = np.random.default_rng(seed)
    return rng.integers(1, 5, (ids.shape[1],)), rng.integers(1, 5, (ids.shape[2],))


@given(id_volumes(), SEEDS)
@few
def test_faces_are_those_of_a_loop_over_voxels(ids: Int32, seed: int) -> None:
    sides = cells(ids, seed)
    assert listed(*faces(ids, *sides)) == faces_of(ids, *sides)


@given(id_volumes(), SEEDS)
@few
def test_faces_between_frames_are_those_that_a_cut_takes_away(ids: Int32, seed: int) -> None:
    sides = cells(ids, seed)
    two = ids[[0, -1]]
    whole = faces_of(two, *sides)
    for frame in two:
        for pair, area in faces_of(frame[None], *sides).items():
            whole[pair] -= area
    between = listed(*faces_between(two[0], two[1], *sides))
    assert between == {pair: area for pair, area in whole.items() if area}


@pytest.mark.parametrize("shape", [(4, 40, 60), (1, 1, 9000), (1, 9000, 1), (600, 4, 4)])
def test_more_pairs_than_the_table_first_holds_are_all_found(shape: Shape) -> None:
    ids = np.random.default_rng(0).permutation(np.prod(shape)).reshape(shape).astype(np.int32)
    assert listed(*faces(ids, *unit_cells(ids))) == faces_of(ids, *unit_cells(ids))


@pytest.mark.parametrize("size", [(80, 80), (1, 6000), (6000, 1)])
def test_more_pairs_between_frames_than_the_table_first_holds_are_all_found(size: tuple[int, int]) -> None:
    before, after = np.random.default_rng(0).permutation(2 * size[0] * size[1]).reshape(2, *size).astype(np.int32)
    pairs, areas = faces_between(before, after, np.ones(size[0], np.int64), np.ones(size[1], np.int64))
    expected = {(min(a, b), max(a, b)): 1 for a, b in zip(before.ravel().tolist(), after.ravel().tolist(), strict=True)}
    assert listed(pairs, areas) == expected


def test_areas_add_up_over_many_rows_and_growing_tables() -> None:
    ids = np.random.default_rng(1).integers(0, 200, (3, 70, 90)).astype(np.int32)
    assert listed(*faces(ids, *unit_cells(ids))) == faces_of(ids, *unit_cells(ids))


def test_the_largest_ids_are_told_apart() -> None:
    last = np.iinfo(np.int32).max
    ids = np.array([[[last, last - 1, 0, last]]], np.int32)
    assert listed(*faces(ids, *unit_cells(ids))) == {(last - 1, last): 1, (0, last - 1): 1, (0, last): 1}


def test_a_single_region_touches_nobody() -> None:
    pairs, areas = faces(np.zeros((2, 3, 4), np.int32), np.ones(3, np.int64), np.ones(4, np.int64))
    assert pairs.shape == (0, 2)
    assert areas.shape == (0,)


@given(id_volumes(), SEEDS)
@few
def test_a_description_is_the_sum_over_the_voxels(ids: Int32, seed: int) -> None:
    planes = np.random.default_rng(seed).integers(0, 256, (len(ids), 4, *ids.shape[1:]), np.uint8)
    sizes, sums = describe(ids, planes, int(ids.max()) + 1)
    pixels = planes.transpose(0, 2, 3, 1)
    assert np.array_equal(sizes, np.bincount(ids.ravel()))
    for region, total in enumerate(sums):
        assert np.array_equal(total, pixels[ids == region].sum(axis=0, dtype=np.int64) * FEATURE_WEIGHTS)


def test_sums_of_many_bright_voxels_do_not_overflow() -> None:
    ids = np.zeros((20, 1000, 1000), np.int32)
    _, sums = describe(ids, np.broadcast_to(np.uint8(255), (20, 4, 1000, 1000)), 1)
    assert np.array_equal(sums[0], 255 * ids.size * FEATURE_WEIGHTS)


def test_the_same_ids_give_the_same_order_of_pairs() -> None:
    ids = dense(np.random.default_rng(2).integers(0, 50, (3, 20, 20)).astype(np.int32))
    first, again = (faces(ids.copy(), *unit_cells(ids)) for _ in range(2))
    assert np.array_equal(first[0], again[0])
    assert np.array_equal(first[1], again[1])
