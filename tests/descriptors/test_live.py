"""Prices and bills of calls, on a clock that only work moves; lateness; and threads on a rendered street."""

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, get_ident
from typing import Any

import numpy as np
import pytest

from budgetseg.descriptors.core import Descriptor, Key, Resource, Scene
from budgetseg.descriptors.live import LiveDescriptors, Spent
from budgetseg.supervoxels import neighbourhood_graph
from budgetseg.timing.clock import ManualClock
from budgetseg.timing.deadline import Deadline, LateError
from budgetseg.timing.prices import Prices
from budgetseg.types import Float32, Supervoxels

GREY_S, STEP_S, OWN_S = 4.0, 2.0, 1.0
N_BYTES = 16  # of a grey frame, and of a step


class Grey(Resource):
    """A frame, for 4 s."""

    kind = "grey"

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        self.clock.advance(GREY_S)
        return np.asarray(scene.frames[index].mean(axis=2), np.float32)


class Step(Resource):
    """The difference of a frame and the next, for 2 s."""

    kind = "step"

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock

    def needs(self, scene: Scene, index: int) -> Sequence[Key]:  # noqa: ARG002
        return [("grey", index), ("grey", index + 1)]

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        self.clock.advance(STEP_S)
        difference: Float32 = inputs[1] - inputs[0]
        return difference


class Change(Descriptor):
    """The mean step out of every frame of a supervoxel's life, for 1 s."""

    name, length = "change", 1

    def __init__(self, clock: ManualClock) -> None:
        self.clock = clock
        self.resources = Grey(clock), Step(clock)

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:
        return [("step", t) for t in range(*scene.lifetime(region))]

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        return 1.0

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        self.clock.advance(OWN_S)
        return np.array([np.mean(inputs)], np.float32)


def make_live(limit_bytes: int = 1 << 20, clock: ManualClock | None = None) -> LiveDescriptors:
    """Supervoxels of frames 0 and 1, of 2 and 3, of 4, and of 5, at prices that are known."""
    frames = np.random.default_rng(0).integers(0, 256, (6, 2, 2, 3), np.uint8)
    ids = np.repeat(np.array([0, 0, 1, 1, 2, 3], np.int32), 4).reshape(6, 2, 2)
    scene = Scene.of(frames, Supervoxels(ids, neighbourhood_graph(ids)))
    prices, clock = Prices(), clock or ManualClock()
    for name, work, seconds in (("grey", 4, GREY_S), ("step", 4, STEP_S), ("change", 1, OWN_S)):
        prices.observe_calls(name, work, seconds)
    return LiveDescriptors(scene, [Change(clock)], prices, limit_bytes, clock.now_s)


def test_a_price_is_that_of_the_descriptor_and_of_what_is_not_there() -> None:
    assert make_live().cost(0, "change") == pytest.approx(OWN_S + 2 * STEP_S + 3 * GREY_S)


def test_the_price_falls_to_the_private_cost_once_the_resources_are_there() -> None:
    live = make_live()
    live.compute(0, "change")
    assert live.missing(0, "change") == []
    assert live.cost(0, "change") == pytest.approx(OWN_S)


def test_what_a_neighbour_has_paid_for_is_free() -> None:
    live = make_live()
    live.compute(0, "change")
    assert live.cost(1, "change") == pytest.approx(OWN_S + 2 * STEP_S + 2 * GREY_S)


def test_the_price_rises_again_when_resources_are_forgotten() -> None:
    live = make_live(limit_bytes=4 * N_BYTES)
    full = live.cost(0, "change")
    live.compute(0, "change")
    low = live.cost(0, "change")
    live.compute(1, "change")
    live.compute(2, "change")
    assert low < full
    assert live.cost(0, "change") == full


@pytest.mark.parametrize("limit_bytes", [0, 4 * N_BYTES, 1 << 20])
def test_the_bill_says_where_the_time_went(limit_bytes: int) -> None:
    clock = ManualClock()
    live = make_live(limit_bytes, clock)
    for region in (0, 1, 0, 2):
        missing = live.missing(region, "change")
        before_s = clock.now_s()
        spent = live.compute(region, "change")
        assert spent.total_s == pytest.approx(clock.now_s() - before_s)
        assert spent.private_s == pytest.approx(OWN_S)
        assert set(spent.shared_s) == set(missing)


def test_with_room_a_call_costs_its_price() -> None:
    live = make_live()
    for region in (1, 0, 1, 2):
        price_s = live.cost(region, "change")
        assert live.compute(region, "change").total_s == pytest.approx(price_s)


def test_what_is_made_twice_in_a_call_is_paid_twice_and_teaches_no_wrong_price() -> None:
    live = make_live(limit_bytes=0)
    assert live.compute(0, "change").shared_s["grey", 1] == pytest.approx(2 * GREY_S)
    assert live.prices.predict("change", 1) == pytest.approx(OWN_S)
    assert live.prices.predict("grey", 4) == pytest.approx(GREY_S)


def test_the_total_is_the_private_and_all_shared_seconds() -> None:
    assert Spent(np.zeros(1, np.float32), 1.0, {("grey", 0): 2.0, ("step", 0): 4.0}).total_s == 7.0


def test_asking_for_a_price_makes_nothing() -> None:
    clock = ManualClock()
    live = make_live(clock=clock)
    live.cost(0, "change")
    assert (len(live.cache), clock.now_s()) == (0, 0.0)


def test_missing_lists_each_resource_once_and_before_those_that_need_it() -> None:
    assert make_live().missing(0, "change") == [("grey", 0), ("grey", 1), ("step", 0), ("grey", 2), ("step", 1)]


@pytest.mark.parametrize("factor", [1.0, 3.0])
def test_on_a_busy_machine_a_call_is_predicted_to_take_longer(factor: float) -> None:
    live = make_live()
    live.prices.slowdown.factor = factor
    assert live.cost(0, "change") == pytest.approx(factor * (OWN_S + 2 * STEP_S + 3 * GREY_S))


def test_where_it_is_late_no_resource_is_made() -> None:
    clock = ManualClock()
    live = make_live(clock=clock)
    live.late = lambda: True
    with pytest.raises(LateError):
        live.compute(0, "change")
    assert (len(live.cache), clock.now_s()) == (0, 0.0)


def test_where_it_is_late_what_needs_no_more_resources_is_computed() -> None:
    live = make_live()
    first = live.compute(0, "change").vector
    live.late = lambda: True
    assert live.compute(0, "change").vector == first


def test_of_several_supervoxels_those_are_there_for_which_there_was_time() -> None:
    clock = ManualClock()
    live = make_live(clock=clock)
    deadline = Deadline(clock, at_s=3 * GREY_S + 2 * STEP_S)  # what the first of them needs
    live.late = deadline.is_over
    spent = live.compute_all(np.array([0, 1, 2]), "change")
    assert 1 <= len(spent.vectors) < 3
    assert spent.vectors[0] == make_live().compute(0, "change").vector


class Endless(Grey):
    """A frame that is cut off after so many seconds."""

    def __init__(self, clock: ManualClock, cut_after_s: float) -> None:
        super().__init__(clock)
        self.cut_after_s = cut_after_s

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        self.clock.advance(self.cut_after_s)
        raise LateError


def grey_s_after_a_cut(cut_after_s: float) -> float:
    clock = ManualClock()
    live = make_live(clock=clock)
    live.resources["grey"] = Endless(clock, cut_after_s)
    with pytest.raises(LateError):
        live.compute(0, "change")
    return live.prices.predict("grey", 4)


def test_a_resource_that_was_cut_off_later_than_predicted_is_known_to_take_longer() -> None:
    assert grey_s_after_a_cut(5 * GREY_S) > 1.5 * GREY_S


def test_a_resource_that_was_cut_off_sooner_than_predicted_teaches_nothing() -> None:
    assert grey_s_after_a_cut(0.5 * GREY_S) == GREY_S


def test_nothing_is_learned_in_a_thread_that_was_left_behind() -> None:
    live = make_live()
    before = live.prices.freeze()
    live.resources["grey"] = Grey(ManualClock())  # takes no time by the clock of the calls
    live.left_behind.add(get_ident())
    live.compute(0, "change")
    for name, work in (("grey", 4.0), ("step", 4.0), ("change", 1.0)):
        assert live.prices.usual(name, work) == before.usual(name, work)


def calls_of(live: LiveDescriptors) -> Iterator[tuple[int, str]]:
    for k in np.random.default_rng(0).permutation(len(live.scene.supervoxels) * len(live.descriptors)).tolist():
        region, which = divmod(k, len(live.descriptors))
        yield region, list(live.descriptors)[which]


def test_every_resource_comes_before_those_that_need_it(street: Scene, descriptors: list[Descriptor]) -> None:
    live = LiveDescriptors(street, descriptors, Prices())
    resources = {resource.kind: resource for descriptor in descriptors for resource in descriptor.resources}
    for region, name in calls_of(live):
        known: set[Key] = set()
        for kind, index in live.missing(region, name):
            assert known.issuperset(resources[kind].needs(street, index))
            known.add((kind, index))
        assert known.issuperset(live.descriptors[name].needs(street, region))


@pytest.mark.parametrize("limit_bytes", [200_000, 1 << 30])
def test_threads_give_the_vectors_of_one_thread(limit_bytes: int, street: Scene, descriptors: list[Descriptor]) -> None:
    alone, together = (LiveDescriptors(street, descriptors, Prices(), limit) for limit in (1 << 30, limit_bytes))
    calls = list(calls_of(alone))
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda call: together.compute(*call).vector, calls))
    for call, vector in zip(calls, vectors, strict=True):
        assert np.array_equal(alone.compute(*call).vector, vector), call


class Slow(Resource):
    """A frame that nobody has before two threads work on frames."""

    kind = "slow"

    def __init__(self) -> None:
        self.both = Barrier(2, timeout=20)

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        self.both.wait()
        return np.asarray(scene.frames[index].mean(axis=2), np.float32)


class Frames(Descriptor):
    """Needs all frames."""

    name, length = "frames", 1

    def __init__(self) -> None:
        self.resources = (Slow(),)

    def needs(self, scene: Scene, region: int) -> Sequence[Key]:  # noqa: ARG002
        return [("slow", index) for index in range(scene.n_frames)]

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        return 1.0

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        return np.array([np.mean(inputs)], np.float32)


def test_threads_that_need_the_same_share_the_work() -> None:
    ids = np.zeros((4, 2, 2), np.int32)
    ids[:, 1] = 1
    scene = Scene.of(np.arange(48, dtype=np.uint8).reshape(4, 2, 2, 3), Supervoxels(ids, neighbourhood_graph(ids)))
    live = LiveDescriptors(scene, [Frames()], Prices())
    with ThreadPoolExecutor(2) as pool:  # one that waited for the other would leave it alone at the barrier
        spent = list(pool.map(lambda region: live.compute(region, "frames"), (0, 1)))
    assert [len(own.shared_s) for own in spent] == [2, 2]
    assert spent[0].vector == spent[1].vector == scene.frames.mean()
