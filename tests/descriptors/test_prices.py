"""Costs of everything at once against asking for each one by itself."""

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from budgetseg.datasets.synthetic import render
from budgetseg.descriptors.core import Descriptor, Key, Lists, Numbering, Resource, Scene
from budgetseg.descriptors.hog import Hog
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.motion.histograms import Hof
from budgetseg.descriptors.prices import needs_of, price, workload
from budgetseg.descriptors.table import Costs
from budgetseg.errors import UsageError
from budgetseg.supervoxels import neighbourhood_graph, segment
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Int32, Supervoxels


class Grey(Resource):
    """A frame; needs nothing."""

    kind = "grey"

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return np.asarray(scene.frames[index].mean(axis=2), np.float32)


class Step(Resource):
    """From a frame to the next one, and back from the last."""

    kind = "step"

    def needs(self, scene: Scene, index: int) -> Sequence[Key]:
        return [("grey", (index + 1) % scene.n_frames), ("grey", index)]

    def work(self, scene: Scene, index: int) -> float:  # noqa: ARG002
        return 5.0 + index

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        difference: Float32 = inputs[1] - inputs[0]
        return difference


class Plugged(Descriptor):
    """What another package may bring: nothing but the plain forms, kinds mixed, one asked for twice."""

    name, length = "plugged", 1
    resources = Grey(), Step()

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        first, end = scene.lifetime(region)
        frames = [*range(end - 1, first - 1, -1), first]
        return [key for frame in frames for key in (("step", frame), ("grey", frame))][: 2 * (region % 4)]

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        return 1.0 + region

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return np.array([len(inputs)], np.float32)


def known(names: Sequence[str]) -> Prices:
    """A made-up price for every name."""
    prices = Prices()
    for k, name in enumerate(names):
        for work in (10.0, 1000.0, 100.0):
            prices.observe_calls(name, work, 1e-5 * (k + 1) + 1e-8 * work)
    return prices


def names_of(descriptors: Sequence[Descriptor]) -> list[str]:
    kinds = [resource.kind for descriptor in descriptors for resource in descriptor.resources]
    return [*(descriptor.name for descriptor in descriptors), *dict.fromkeys(kinds)]


def one_by_one(scene: Scene, descriptors: Sequence[Descriptor], prices: Prices) -> Costs:
    """The same costs, by what a single call would cost."""
    live = LiveDescriptors(scene, descriptors, prices, limit_bytes=0)
    resources = {resource.kind: resource for descriptor in descriptors for resource in descriptor.resources}
    keys = [(kind, index) for kind, own in resources.items() for index in range(own.count(scene))]
    numbers = {key: number for number, key in enumerate(keys)}
    pairs = [(region, own) for region in range(len(scene.supervoxels)) for own in descriptors]
    lists = Lists.of([numbers[key] for key in live.missing(region, own.name)] for region, own in pairs)
    private_s = np.array([prices.predict(own.name, own.work(scene, region)) for region, own in pairs])
    resource_s = np.array([prices.predict(kind, resources[kind].work(scene, index)) for kind, index in keys])
    kinds = {kind: own.count(scene) for kind, own in resources.items()}
    return Costs(private_s.reshape(-1, len(descriptors)), resource_s, lists.first, lists.items, kinds)


def assert_same(one: Costs, other: Costs) -> None:
    assert np.array_equal(one.private_s, other.private_s)
    assert np.array_equal(one.resource_s, other.resource_s)
    assert np.array_equal(one.first, other.first)
    assert np.array_equal(one.needed, other.needed)
    assert list(one.kinds.items()) == list(other.kinds.items())
    for field in ("private_s", "resource_s", "first", "needed"):
        assert getattr(one, field).dtype == getattr(other, field).dtype, field


def lives(ids: Int32) -> Scene:
    return Scene.of(np.zeros((*ids.shape, 3), np.uint8), Supervoxels(ids, neighbourhood_graph(ids)))


@pytest.fixture(scope="module")
def long_street() -> Scene:
    """Seventy frames, so that some lives are tracked in parts, and some not at all in between."""
    frames = render(3, 70, (64, 48))[0].frames
    return Scene.of(frames, segment(frames, 60, "fast"))


@pytest.mark.parametrize("plugged", [False, True])
def test_prices_are_those_of_each_pair_by_itself(
    plugged: bool, street: Scene, long_street: Scene, descriptors: list[Descriptor]
) -> None:
    every = [Plugged(), *descriptors] if plugged else descriptors
    prices = known(names_of(every))
    for scene in (street, long_street):
        assert_same(price(scene, every, prices), one_by_one(scene, every, prices))


@given(st.lists(st.integers(1, 70), min_size=1, max_size=4))
def test_prices_are_right_for_any_lives(descriptors: list[Descriptor], lengths: list[int]) -> None:
    scene = lives(np.repeat(np.arange(len(lengths), dtype=np.int32), lengths)[:, None, None])
    every = [*descriptors, Plugged()]
    prices = known(names_of(every))
    assert_same(price(scene, every, prices), one_by_one(scene, every, prices))


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_the_cost_of_a_pair_on_a_busy_machine_is_what_a_call_is_predicted_to_take(
    long_street: Scene, descriptors: list[Descriptor], factor: float
) -> None:
    prices = known(names_of(descriptors))
    prices.slowdown.factor = factor
    costs = price(long_street, descriptors, prices)
    live = LiveDescriptors(long_street, descriptors, prices)
    for cell in range(0, costs.private_s.size, 7):
        region, column = divmod(cell, len(descriptors))
        needed = costs.needed[costs.first[cell] : costs.first[cell + 1]]
        usual_s = costs.private_s[region, column] + costs.resource_s[needed].sum()
        assert factor * usual_s == pytest.approx(live.cost(region, descriptors[column].name))


def test_the_work_stays_where_prices_change(street: Scene, descriptors: list[Descriptor]) -> None:
    work, prices = workload(street, descriptors), known(names_of(descriptors))
    before = work.price(prices)
    for _ in range(100):
        prices.observe_calls("hog", 100.0, 0.1)
    assert_same(work.price(prices), price(street, descriptors, prices))
    assert (work.price(prices).private_s[:, 1] > before.private_s[:, 1]).all()


def test_costs_are_those_of_an_idle_machine(street: Scene) -> None:
    prices = known(names_of([Plugged()]))
    before = price(street, [Plugged()], prices)
    prices.slowdown.factor = 3.0
    assert_same(price(street, [Plugged()], prices), before)


def test_what_was_never_seen_costs_nothing(street: Scene) -> None:
    costs = price(street, [Plugged()], Prices())
    assert not costs.private_s.any()
    assert not costs.resource_s.any()


def test_a_resource_that_is_not_there_is_an_error(street: Scene) -> None:
    class Astray(Plugged):
        def needs(self, scene: Scene, region: int) -> Sequence[Key]:
            return [("grey", scene.n_frames)] if region == 3 else []

    class Lost(Astray):
        def all_needs(self, scene: Scene, numbering: Numbering) -> Lists:
            return Lists.of([[len(numbering)] if region == 3 else [] for region in range(len(scene.supervoxels))])

    for astray in (Astray(), Lost()):
        with pytest.raises(UsageError, match="'plugged' of supervoxel 3"):
            needs_of(street, [Hof(), astray])


def test_a_resource_that_is_not_there_does_not_matter_where_nobody_asks(street: Scene) -> None:
    class Onward(Step):
        def needs(self, scene: Scene, index: int) -> Sequence[Key]:  # noqa: ARG002
            return [("grey", index + 1)]

    class Plain(Plugged):
        resources = Grey(), Onward()

        def needs(self, scene: Scene, region: int) -> Sequence[Key]:  # noqa: ARG002
            return [("step", 0)]

    _, needs = needs_of(street, [Plain()])
    assert needs.items.tolist() == [1, street.n_frames] * len(street.supervoxels)


@pytest.mark.parametrize("kind", [Hog, Hof])
def test_a_class_that_replaces_a_plain_form_is_asked_for_it(kind: type[Descriptor], street: Scene) -> None:
    class Heavy(kind):  # type: ignore[misc, valid-type]
        def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
            return 7.0

    class Alone(kind):  # type: ignore[misc, valid-type]
        def needs(self, scene: Scene, region: int) -> Sequence[Key]:  # noqa: ARG002
            return [(kind.resources[0].kind, 0)]

    class Twice(kind):  # type: ignore[misc, valid-type]
        def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:
            return np.asarray(2 * super().compute(scene, region, inputs))

    assert (Heavy().works(street) == 7).all()
    assert needs_of(street, [Alone()])[1].items.tolist() == [0] * len(street.supervoxels)
    assert needs_of(street, [Heavy()])[1].items.tolist() == needs_of(street, [kind()])[1].items.tolist()
    plain, twice = (LiveDescriptors(street, [one()], Prices()).compute(3, kind.name).vector for one in (kind, Twice))
    assert np.array_equal(twice, 2 * plain)
