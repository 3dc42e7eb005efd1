"""Descriptors computed live give what a table gives, and one that fails does not end the run."""

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest

from budgetseg.classifiers.samples import place_of
from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.prices import price
from budgetseg.descriptors.registry import BUILT_IN
from budgetseg.engine.loop import LATE
from budgetseg.policy.episode import Episode
from budgetseg.policy.state import world_of
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.spaces.regions.worker import Worker
from budgetseg.supervoxels import segment
from budgetseg.timing.clock import Clock, CostClock, ManualClock, WallClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Action, Batch, Float32
from tests.models.made import random_model

NAMES = ("colour", "hog", "hof")
HOG = 1
LONG_S = 20.0
"""Real seconds after which a thread that should go on is taken to be stuck."""


class Odd(Descriptor):
    """In the place of hog, and answers as it likes."""

    name = "hog"

    def __init__(self, answer: Callable[[int], Any]) -> None:
        self.length, self._answer = BUILT_IN["hog"]().length, answer

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        return 1.0

    def compute(self, scene: Scene, region: int, inputs: list[Any]) -> Float32:  # noqa: ARG002
        answer: Float32 = self._answer(self.length)
        return answer


@pytest.fixture(scope="module")
def scene() -> Scene:
    video, _ = render(1, 4, (96, 64))
    return Scene.of(video.frames, segment(video.frames, 40, "fast", 1))


@pytest.fixture(scope="module")
def classifiers() -> SubsetClassifiers:
    h = random_model({name: BUILT_IN[name]().length for name in NAMES}, CLASSES).classifiers
    favour = np.random.default_rng(1).normal(size=h.favour.shape).astype(np.float32)
    return replace(h, favour=favour)


def descriptors_with(answer: Callable[[int], Any] | None) -> list[Descriptor]:
    built_in = [BUILT_IN[name]() for name in NAMES]
    return built_in if answer is None else [built_in[0], Odd(answer), built_in[2]]


def worker_of(
    scene: Scene,
    h: SubsetClassifiers,
    answer: Callable[[int], Any] | None = None,
    guarded: bool = False,
    clock: Clock | None = None,
) -> tuple[Worker, Episode]:
    """A worker with a second of patience, and an episode without a bound."""
    descriptors, clock = descriptors_with(answer), clock or ManualClock()
    live = LiveDescriptors(scene, descriptors, Prices(), timer=clock.now_s)
    world = world_of(scene.supervoxels.graph, price(scene, descriptors, Prices()))
    worker = Worker(live, h, clock, RegionSettings(patience_s=1.0), ["hog"] if guarded else ())
    return worker, Episode.begin(world, h.n_labels, np.inf)


def batch_of(*actions: tuple[int, int]) -> Batch:
    return Batch.of([Action(*action) for action in actions], [0.0] * len(actions))


def why_not(worker: Worker, episode: Episode, action: tuple[int, int]) -> str:
    """What keeps a descriptor from being had."""
    return worker(episode, batch_of(action)).missing[0]


@pytest.mark.parametrize("opinions", [(), ("colour",), ("colour", "hog")], ids=len)
@pytest.mark.parametrize("guarded", [False, True], ids=["trusted", "guarded"])
def test_probabilities_are_those_of_a_table(
    scene: Scene, classifiers: SubsetClassifiers, opinions: tuple[str, ...], guarded: bool
) -> None:
    h = replace(classifiers, opinions=opinions)
    values, _ = measure(scene, descriptors_with(None))
    worker, episode = worker_of(scene, h, guarded=guarded)
    rng, place = np.random.default_rng(0), place_of(scene.supervoxels.graph)
    n = len(scene.supervoxels)
    pairs = list(product(range(n), range(len(NAMES))))
    for region, d in rng.permutation(pairs).tolist():
        episode.start(Action(region, d))
        batch = batch_of((region, d))
        outcome = worker(episode, batch)
        assert not outcome.missing
        episode.receive_all(batch, outcome.values, outcome.spent_s)
        expected = h.predict(values, place, episode.state.subsets)
        assert np.allclose(outcome.values[0], expected[region], atol=1e-5)
    assert (episode.state.subsets == h.n_subsets - 1).all()
    assert np.allclose(worker.inputs, h.scaled(values), rtol=1e-4, atol=1e-5)


def test_a_batch_is_answered_as_its_parts_are(scene: Scene, classifiers: SubsetClassifiers) -> None:
    together, episode = worker_of(scene, classifiers, clock=WallClock())
    alone, _ = worker_of(scene, classifiers)
    choices = [(5, 0), (3, HOG), (0, 0), (1, 2), (4, 2), (2, 0)]
    outcome = together(episode, batch_of(*choices))
    each = [alone(episode, batch_of(choice)) for choice in choices]
    assert np.array_equal(outcome.values, np.concatenate([one.values for one in each]))
    assert np.array_equal(together.inputs, alone.inputs)
    assert together.n_asked == alone.n_asked == len(choices)
    assert (outcome.shared_s <= outcome.spent_s).all()
    assert (outcome.shared_s > 0).tolist() == [False, True, False, True, True, False]


def test_what_cannot_be_had_of_a_batch_leaves_the_rest(scene: Scene, classifiers: SubsetClassifiers) -> None:
    worker, episode = worker_of(scene, classifiers, broken)
    worker.live.late = lambda: True  # there is no time for tracks
    outcome = worker(episode, batch_of((5, 0), (3, HOG), (1, 2), (0, 0)))
    assert outcome.missing == {1: "failed (KeyError: 'no such frame')", 2: LATE}
    assert np.allclose(outcome.values[[0, 3]].sum(axis=1), 1)


def test_one_that_is_not_finite_is_missing_alone(scene: Scene, classifiers: SubsetClassifiers) -> None:
    good = np.zeros(BUILT_IN["hog"]().length, np.float32)
    bad = np.full_like(good, np.nan)
    answers = iter([good, bad, good])
    worker, episode = worker_of(scene, classifiers, lambda _: next(answers))
    assert worker(episode, batch_of((0, HOG), (1, HOG), (2, HOG))).missing == {1: "is not finite"}


def test_what_it_cost_is_what_the_call_took_by_the_clock(scene: Scene, classifiers: SubsetClassifiers) -> None:
    clock = ManualClock()

    def slow(length: int) -> Float32:
        clock.advance(0.5)
        return np.zeros(length, np.float32)

    worker, episode = worker_of(scene, classifiers, slow, clock=clock)
    outcome = worker(episode, batch_of((0, HOG), (1, HOG), (2, 0)))
    assert outcome.spent_s.tolist() == [0.5, 0.5, 0.0]
    assert outcome.shared_s.tolist() == [0.0, 0.0, 0.0]
    assert clock.now_s() == 1.0


def test_a_simulated_clock_is_charged_what_was_planned(scene: Scene, classifiers: SubsetClassifiers) -> None:
    clock = CostClock()
    worker, episode = worker_of(scene, classifiers, clock=clock)
    planned_s = [0.25, 0.5, 0.125]
    outcome = worker(episode, Batch.of([Action(0, HOG), Action(1, HOG), Action(2, 0)], planned_s))
    assert outcome.spent_s.tolist() == planned_s
    assert outcome.shared_s.tolist() == [0.0, 0.0, 0.0]
    assert clock.now_s() == 0.875


def with_one(value: float) -> Callable[[int], Float32]:
    def answer(length: int) -> Float32:
        vector = np.zeros(length, np.float32)
        vector[-1] = value
        return vector

    return answer


def broken(_: int) -> Float32:
    raise KeyError("no such frame")


FAILURES: dict[str, tuple[Callable[[int], Any], str]] = {
    "raises": (broken, r"failed \(KeyError: 'no such frame'\)"),
    "nan": (with_one(np.nan), "is not finite"),
    "infinite": (with_one(-np.inf), "is not finite"),
    "longer": (lambda length: np.zeros(length + 1, np.float32), r"is \(\d+,\), not \(\d+,\)"),
    "shorter": (lambda length: np.zeros(length - 1, np.float32), r"is \(\d+,\), not \(\d+,\)"),
    "two rows": (lambda length: np.zeros((2, length), np.float32), r"is \(2, \d+\), not \(\d+,\)"),
    "nothing": (lambda _: None, r"is \(\), not \(\d+,\)"),
    "words": (lambda length: ["blue"] * length, "failed"),
}


@pytest.mark.parametrize(("answer", "line"), FAILURES.values(), ids=FAILURES)
@pytest.mark.parametrize("guarded", [False, True], ids=["trusted", "guarded"])
def test_a_descriptor_that_fails_is_dropped_with_a_reason(
    scene: Scene, classifiers: SubsetClassifiers, answer: Callable[[int], Any], line: str, guarded: bool
) -> None:
    worker, episode = worker_of(scene, classifiers, answer, guarded)
    assert re.search(line, why_not(worker, episode, (0, HOG)))


def test_a_list_of_the_right_length_is_as_good_as_an_array(scene: Scene, classifiers: SubsetClassifiers) -> None:
    listed, episode = worker_of(scene, classifiers, lambda length: [0.5] * length)
    plain, _ = worker_of(scene, classifiers, lambda length: np.full(length, 0.5, np.float32))
    assert np.array_equal(listed(episode, batch_of((3, HOG))).values, plain(episode, batch_of((3, HOG))).values)


class Hanging:
    """An answer that takes two seconds by the clock, and then does not come before it is released."""

    def __init__(self) -> None:
        self.clock = ManualClock()
        self.released = threading.Event()
        self.n_asked = 0

    def __call__(self, length: int) -> Float32:
        self.n_asked += 1
        self.clock.advance(2.0)
        self.released.wait(LONG_S)
        return np.zeros(length, np.float32)


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    """Threads that were left behind end with the test."""
    answer = Hanging()
    yield answer
    answer.released.set()


def test_a_descriptor_that_hangs_is_left_behind(scene: Scene, classifiers: SubsetClassifiers, hanging: Hanging) -> None:
    worker, episode = worker_of(scene, classifiers, hanging, guarded=True, clock=hanging.clock)
    assert why_not(worker, episode, (0, HOG)) == "did not return within 1.00 s"
    assert np.isfinite(worker(episode, batch_of((0, 0))).values).all()  # the others go on meanwhile


def test_one_that_hangs_is_waited_for_once_in_a_batch(
    scene: Scene, classifiers: SubsetClassifiers, hanging: Hanging
) -> None:
    worker, episode = worker_of(scene, classifiers, hanging, guarded=True, clock=hanging.clock)
    outcome = worker(episode, batch_of((10, 0), *((region, HOG) for region in range(10))))
    assert hanging.n_asked == 1
    assert list(outcome.missing) == list(range(1, 11))
    assert np.isfinite(outcome.values[0]).all()


def test_nobody_waits_for_it_beyond_the_budget(scene: Scene, classifiers: SubsetClassifiers, hanging: Hanging) -> None:
    worker, episode = worker_of(scene, classifiers, hanging, guarded=True, clock=hanging.clock)
    episode.left_s = 0.125
    assert why_not(worker, episode, (0, HOG)) == "did not return within 0.12 s"


def test_one_that_takes_long_but_less_than_the_patience_is_waited_for(
    scene: Scene, classifiers: SubsetClassifiers
) -> None:
    clock = ManualClock()

    def slow(length: int) -> Float32:
        clock.advance(0.9)
        return np.zeros(length, np.float32)

    worker, episode = worker_of(scene, classifiers, slow, guarded=True, clock=clock)
    outcome = worker(episode, batch_of((0, HOG)))
    assert not outcome.missing
    assert outcome.spent_s[0] == pytest.approx(0.9)


def test_where_time_is_up_within_a_batch_those_before_are_there(scene: Scene, classifiers: SubsetClassifiers) -> None:
    worker, episode = worker_of(scene, classifiers, clock=WallClock())
    worker(episode, batch_of((0, 2)))  # its flow and tracks are there then
    worker.live.late = lambda: True
    outcome = worker(episode, batch_of((0, 2), (1, 2), (2, 2)))
    assert outcome.missing == {1: LATE, 2: LATE}
    assert np.allclose(outcome.values[0].sum(), 1)
    assert outcome.spent_s[0] > 0


def test_nothing_is_learned_from_one_that_was_left_behind(
    scene: Scene, classifiers: SubsetClassifiers, hanging: Hanging
) -> None:
    before = set(threading.enumerate())
    worker, episode = worker_of(scene, classifiers, hanging, guarded=True, clock=hanging.clock)
    assert re.search("did not return", why_not(worker, episode, (0, HOG)))
    (left,) = set(threading.enumerate()) - before
    assert worker.live.left_behind == {left.ident}
    hanging.released.set()
    left.join(LONG_S)
    assert not worker.live.left_behind
    assert "hog" not in worker.live.prices


def test_one_that_never_returns_does_not_keep_the_program_from_ending(
    scene: Scene, classifiers: SubsetClassifiers
) -> None:
    threads: list[threading.Thread] = []

    def answer(length: int) -> Float32:
        threads.append(threading.current_thread())
        return np.zeros(length, np.float32)

    worker, episode = worker_of(scene, classifiers, answer, guarded=True)
    worker(episode, batch_of((0, HOG)))
    assert [thread.daemon for thread in threads] == [True]
