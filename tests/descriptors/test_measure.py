"""Values and costs of a whole video against asking for each one by itself."""

from threading import get_ident
from time import sleep

import numpy as np
import pytest

from budgetseg.descriptors.colour import Colour
from budgetseg.descriptors.core import Descriptor, Key, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.table import Costs
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32

Measured = tuple[dict[str, Float32], Costs]


@pytest.fixture(scope="module")
def measured(street: Scene, descriptors: list[Descriptor]) -> Measured:
    return measure(street, descriptors)


def needs_of(costs: Costs, region: int, column: int) -> list[Key]:
    """Resources that a descriptor of a supervoxel needs, as the table says."""
    keys = [(kind, index) for kind, count in costs.kinds.items() for index in range(count)]
    cell = region * costs.private_s.shape[1] + column
    return [keys[resource] for resource in costs.needed[costs.first[cell] : costs.first[cell + 1]]]


def test_values_are_those_of_each_one_computed_by_itself(
    measured: Measured, street: Scene, descriptors: list[Descriptor]
) -> None:
    values, _ = measured
    assert list(values) == [descriptor.name for descriptor in descriptors]
    for descriptor in descriptors:
        rows = values[descriptor.name]
        assert (str(rows.dtype), rows.shape) == ("float32", (len(street.supervoxels), descriptor.length))
        for region in range(0, len(street.supervoxels), 5):
            alone = LiveDescriptors(street, [descriptor], Prices()).compute(region, descriptor.name)
            assert np.array_equal(rows[region], alone.vector), (descriptor.name, region)


def test_needs_are_everything_behind_a_descriptor_in_the_order_of_making(
    measured: Measured, street: Scene, descriptors: list[Descriptor]
) -> None:
    resources = {resource.kind: resource for descriptor in descriptors for resource in descriptor.resources}

    def behind(key: Key) -> set[Key]:
        return {key}.union(*map(behind, resources[key[0]].needs(street, key[1])))

    _, costs = measured
    for region in range(len(street.supervoxels)):
        for column, descriptor in enumerate(descriptors):
            needed = needs_of(costs, region, column)
            assert set(needed) == set().union(*map(behind, descriptor.needs(street, region)))
            assert len(needed) == len(set(needed))
            for place, key in enumerate(needed):
                assert behind(key) <= set(needed[: place + 1]), key


def test_all_that_is_needed_has_a_cost_and_nothing_else_does(measured: Measured) -> None:
    _, costs = measured
    assert np.array_equal(np.flatnonzero(costs.resource_s), np.unique(costs.needed))
    assert (costs.resource_s >= 0).all()
    assert (costs.private_s > 0).all()
    assert len(costs.resource_s) == sum(costs.kinds.values())
    assert len(costs.first) == costs.private_s.size + 1


def test_threads_change_neither_values_nor_needs(
    measured: Measured, street: Scene, descriptors: list[Descriptor]
) -> None:
    values, costs = measure(street, descriptors, threads=2, batch=3)
    for name, rows in measured[0].items():
        assert np.array_equal(values[name], rows), name
    assert costs.kinds == measured[1].kinds
    assert np.array_equal(costs.first, measured[1].first)
    assert np.array_equal(costs.needed, measured[1].needed)
    assert np.array_equal(costs.resource_s > 0, measured[1].resource_s > 0)


@pytest.mark.parametrize("threads", [1, 2])
def test_progress_reaches_the_number_of_supervoxels_and_comes_from_one_thread(street: Scene, threads: int) -> None:
    counts: list[int] = []
    callers: set[int] = set()

    def advance(n: int) -> None:
        counts.append(n)
        callers.add(get_ident())

    measure(street, [Colour()], threads, advance, batch=7)
    assert (sum(counts), max(counts)) == (len(street.supervoxels), 7)
    assert callers == {get_ident()}


def test_a_descriptor_without_resources_shares_nothing(street: Scene) -> None:
    values, costs = measure(street, [Colour()])
    assert values.keys() == {"colour"}
    assert (len(costs.resource_s), len(costs.needed), dict(costs.kinds)) == (0, 0, {})
    assert not costs.first.any()
    assert costs.full_s([0]) == pytest.approx(costs.private_s.sum())


def test_an_error_is_raised_without_computing_the_rest(street: Scene) -> None:
    asked: list[int] = []

    class Broken(Colour):
        def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
            asked.append(region)
            sleep(0.02)
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        measure(street, [Broken()], batch=1)
    assert len(asked) < len(street.supervoxels)
