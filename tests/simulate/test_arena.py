"""A table as a model sees it: its own order of descriptors, and what they cost."""

from dataclasses import replace

import numpy as np
import pytest

from budgetseg.classifiers.samples import place_of
from budgetseg.descriptors.table import VideoTable
from budgetseg.errors import UsageError
from budgetseg.policy.state import unshared
from budgetseg.simulate import Arena
from tests.models.made import HAND_MADE, random_model
from tests.simulate.arenas import FULL, MODEL, NAMES, random_arena, table_with_needs


def in_order(table: VideoTable, names: list[str]) -> VideoTable:
    """The same table with its columns in another order."""
    columns = [list(table.values).index(name) for name in names]
    return replace(table, values={name: table.values[name] for name in names}, costs=table.costs.take(columns))


@pytest.mark.parametrize("costs", ["shared", "unshared"])
def test_the_order_of_columns_in_a_table_does_not_matter(costs: str) -> None:
    table = table_with_needs()
    one, other = (Arena.of(MODEL, own, costs) for own in (table, in_order(table, sorted(FULL, reverse=True))))
    for name in one.world._fields:
        assert np.array_equal(getattr(one.world, name), getattr(other.world, name)), name
    assert np.array_equal(one.probabilities, other.probabilities)
    assert np.array_equal(one.inputs, other.inputs)


def test_what_h_says_of_a_subset_is_in_its_place() -> None:
    table, arena = table_with_needs(), random_arena()
    for subset in (0, 1, 6, 31):
        subsets = np.full(len(arena), subset, np.int32)
        probabilities = MODEL.classifiers.predict(table.values, place_of(table.graph), subsets)
        assert np.array_equal(arena.probabilities[:, subset], probabilities)


def test_what_was_said_out_of_fold_is_taken_instead() -> None:
    probabilities = np.random.default_rng(0).random((40, 32, 3), np.float32)
    assert np.array_equal(Arena.of(MODEL, table_with_needs(), probabilities=probabilities).probabilities, probabilities)


def test_descriptors_that_the_model_does_not_know_are_left_out() -> None:
    table, small = table_with_needs(), random_model(HAND_MADE)
    arena = Arena.of(small, table)
    assert np.array_equal(arena.costs.private_s, table.costs.private_s[:, :4])
    assert arena.probabilities.shape == (40, 16, 3)


def test_a_table_without_a_descriptor_of_the_model_is_refused() -> None:
    table = table_with_needs()
    lacking = in_order(table, ["colour", "hog", "mbh", "dcnn"])
    with pytest.raises(UsageError, match=r"^the table of 'street0' lacks hof; describe the video with it$"):
        Arena.of(MODEL, lacking)


def test_unknown_costs_are_refused() -> None:
    with pytest.raises(UsageError, match=r"^no costs 'free'; choose from shared, unshared$"):
        random_arena(costs="free")


def test_budgets_are_fractions_of_what_all_supervoxels_cost() -> None:
    table = table_with_needs()
    shared, own = random_arena(), random_arena(costs="unshared")
    assert shared.full_s(NAMES) == pytest.approx(table.costs.private_s.sum() + table.costs.resource_s.sum())
    assert shared.full_s(["hog", "colour"]) == pytest.approx(table.costs.full_s([0, 1]))
    assert own.full_s(NAMES) == pytest.approx(unshared(table.costs).private_s.sum())


def test_the_large_network_is_no_part_of_the_full_cost() -> None:
    names = ("colour", "dcnn", "dcnn_large")
    table = table_with_needs()
    values = dict(zip((*names, "hof", "mbh"), table.values.values(), strict=True))
    model = random_model({name: values[name].shape[1] for name in names})
    arena = Arena.of(model, replace(table, values=values))
    assert arena.full_s(names) == arena.full_s(names[:2]) == pytest.approx(table.costs.full_s([0, 1]))


def test_a_run_may_compute_what_is_enabled_and_all_are_candidates() -> None:
    episode = random_arena().begin(2.0, ["dcnn", "hog"], seed=3)
    assert episode.state.scalars.enabled == 0b10010
    assert episode.left_s == 2.0
    assert (episode.state.where[0] >= 0).all()
