"""From what was worked on to all pixels."""

from types import SimpleNamespace
from typing import Any

import numpy as np
from budgetseg.app.maps import confidence_of

from budgetseg.engine.plan import Plan
from budgetseg.spaces.regions.carry import carry


def test_small_maps_of_few_frames_cover_all_frames_at_full_size() -> None:
    maps = np.arange(2 * 3 * 4, dtype=np.uint8).reshape(2, 3, 4)
    found = carry(maps, Plan(6, (3, 4), 1, stride=3), (6, 8))
    assert found.shape == (6, 6, 8)
    assert np.array_equal(found[2], maps[0].repeat(2, axis=0).repeat(2, axis=1))
    assert np.array_equal(found[3, ::2, ::2], maps[1])


def test_maps_that_are_whole_already_are_taken_as_they_are() -> None:
    maps = np.zeros((2, 3, 4), np.uint8)
    assert carry(maps, Plan(2, (3, 4), 1), (3, 4)) is maps


def test_confidence_is_that_of_the_supervoxel_and_the_least_where_nobody_came() -> None:
    def why(start: int, values: list[float]) -> Any:
        ids = np.arange(2, dtype=np.int32).reshape(2, 1, 1)
        known = SimpleNamespace(supervoxels=SimpleNamespace(ids=ids))
        return SimpleNamespace(start=start, known=known, confidence=np.array(values, np.float32))

    plan = Plan(9, (1, 1), 1, stride=2)
    found = confidence_of([why(0, [0.25, 0.5]), why(2, [0.75, 1.0])], plan, (9, 1, 1), 0.125)
    assert found.dtype == np.float32
    assert found[:, 0, 0].tolist() == [0.25, 0.25, 0.5, 0.5, 0.75, 0.75, 1.0, 1.0, 0.125]
    # The last window covers more frames than there are.
    assert len(confidence_of([why(0, [0.25, 0.5])], plan, (3, 1, 1), 0.125)) == 3
