"""Videos without labels, for plans and policies."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.learning.plans import Learned, mark_of
from budgetseg.learning.unlabelled import with_opinion
from budgetseg.simulation import Arena, reward
from tests.simulation.arenas import MODEL, table_with_needs


def test_what_all_descriptors_say_is_the_truth_of_a_video_without_labels() -> None:
    bare = replace(table_with_needs(20, 0), truth=np.zeros((20, 3), np.int64))
    table = with_opinion(MODEL, bare)
    np.testing.assert_array_equal(table.truth.sum(axis=1), table.graph.sizes)
    arena = Arena.of(MODEL, table)
    everything = arena.begin(np.inf, MODEL.classifiers.names)
    everything.state.subsets[:] = MODEL.classifiers.n_subsets - 1
    everything.state.said[:] = arena.said[:, -1]
    assert reward(arena, everything.state).right.sum() == table.graph.sizes.sum()


def test_plans_and_policies_are_learned_anew_with_another_video() -> None:
    table = table_with_needs(20, 0)
    said = np.full((20, MODEL.classifiers.n_subsets, 3), 1 / 3, np.float32)
    alone = Learned(MODEL, [table], said)
    assert mark_of(alone, ()) != mark_of(replace(alone, unlabelled=[table_with_needs(15, 1)]), ())
    assert [len(arena) for arena in replace(alone, unlabelled=[table_with_needs(15, 1)]).arenas("shared")] == [20, 15]


@pytest.mark.parametrize("n", [15, 20])
def test_opinions_touch_nothing_but_the_truth(n: int) -> None:
    before = table_with_needs(n, 1)
    after = with_opinion(MODEL, before)
    assert after.costs is before.costs
    assert after.values is before.values
