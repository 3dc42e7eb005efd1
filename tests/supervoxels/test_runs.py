"""Runs against a loop over pixels."""

from itertools import groupby

import numpy as np
from hypothesis import given

from budgetseg.supervoxels.runs import find_runs
from budgetseg.types import Int32
from tests.supervoxels.volumes import few, id_volumes


def runs_of(ids: Int32) -> list[list[tuple[int, int, int]]]:
    """Row, begin and end of the runs of every supervoxel, pixel by pixel."""
    runs: list[list[tuple[int, int, int]]] = [[] for _ in range(int(ids.max()) + 1)]
    for row, line in enumerate(ids.reshape(-1, ids.shape[2]).tolist()):
        for region, pixels in groupby(range(len(line)), key=line.__getitem__):
            xs = list(pixels)
            runs[region].append((row, xs[0], xs[-1] + 1))
    return runs


@given(id_volumes(longest=7))
@few
def test_runs_are_those_of_a_loop_over_pixels(ids: Int32) -> None:
    runs = find_runs(ids)
    found = np.column_stack([runs.rows, runs.spans]).tolist()
    expected = runs_of(ids)
    assert runs.first.tolist() == np.cumsum([0, *map(len, expected)]).tolist()
    assert [tuple(run) for run in found] == [run for own in expected for run in own]


@given(id_volumes(longest=7))
@few
def test_runs_cover_every_pixel_with_its_own_id(ids: Int32) -> None:
    runs = find_runs(ids)
    painted = np.full((ids.shape[0] * ids.shape[1], ids.shape[2]), -1)
    for region in range(len(runs.first) - 1):
        for k in range(runs.first[region], runs.first[region + 1]):
            painted[runs.rows[k], slice(*runs.spans[k])] = region
    assert np.array_equal(painted.reshape(ids.shape), ids)


def test_a_view_has_the_runs_of_its_copy() -> None:
    ids = np.random.default_rng(0).integers(0, 4, (6, 5, 8)).astype(np.int32)
    for view in (ids[::2], ids[:, 1:, 2:], ids[..., ::-1]):
        one, other = find_runs(view), find_runs(view.copy())
        assert all(np.array_equal(field, vars(other)[name]) for name, field in vars(one).items())
