"""What is computed live is what a table would say, and a descriptor that fails is told apart from the run."""

import re
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
import pytest
from budgetseg.descriptors.costs import CostModel

from budgetseg.classifiers.samples import place_of
from budgetseg.classifiers.subsets import SubsetClassifiers
from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.descriptors.core import Descriptor, Scene
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.prices import price
from budgetseg.descriptors.registry import BUILT_IN
from budgetseg.inference import live as live_module
from budgetseg.policy.episode import Episode
from budgetseg.policy.state import world_of
from budgetseg.spaces.regions.worker import LATE, LiveSource
from budgetseg.supervoxels import segment
from budgetseg.types import Action, Batch, Float32
from tests.models.made import random_model

NAMES = ("colour", "hog", "hof")
HOG = 1


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


def source_of(
    scene: Scene, h: SubsetClassifiers, answer: Callable[[int], Any] | None = None, guarded: bool = False
) -> tuple[LiveSource, Episode]:
    descriptors = descriptors_with(answer)
    live = LiveDescriptors(scene, descriptors, CostModel())
    world = world_of(scene.supervoxels.graph, price(scene, descriptors, CostModel()))
    return LiveSource(live, h, ["hog"] if guarded else ()), Episode.begin(world, h.n_labels, np.inf)


def batch_of(*choices: Action) -> Batch:
    regions, descriptors = np.array(choices, np.int64).reshape(-1, 2).T.copy()
    return Batch(regions, descriptors, np.zeros(len(choices)))


def why_not(source: LiveSource, episode: Episode, choice: Action) -> str:
    """What keeps a descriptor from being had."""
    return source(episode, batch_of(choice)).missing[0]


@pytest.mark.parametrize("opinions", [(), ("colour",), ("colour", "hog")], ids=len)
@pytest.mark.parametrize("guarded", [False, True], ids=["trusted", "guarded"])
def test_h_says_the_same_as_of_a_table(
    scene: Scene, classifiers: SubsetClassifiers, opinions: tuple[str, ...], guarded: bool
) -> None:
    h = replace(classifiers, opinions=opinions)
    values, _ = measure(scene, descriptors_with(None))
    source, episode = source_of(scene, h, guarded=guarded)
    rng, place = np.random.default_rng(0), place_of(scene.supervoxels.graph)
    n = len(scene.supervoxels)
    pairs = list(product(range(n), range(len(NAMES))))
    for region, d in rng.permutation(pairs).tolist():
        episode.start((region, d))
        batch = batch_of((region, d))
        outcome = source(episode, batch)
        assert not outcome.missing
        episode.receive_all(batch, outcome.said, outcome.spent_s)
        expected = h.predict(values, place, episode.state.subsets)
        assert np.allclose(outcome.said[0], expected[region], atol=1e-5)
    assert (episode.state.subsets == h.n_subsets - 1).all()
    assert np.allclose(source.inputs, h.scaled(values), rtol=1e-4, atol=1e-5)


def test_a_batch_is_answered_as_its_parts_are(scene: Scene, classifiers: SubsetClassifiers) -> None:
    together, episode = source_of(scene, classifiers)
    alone, _ = source_of(scene, classifiers)
    choices = [(5, 0), (3, HOG), (0, 0), (1, 2), (4, 2), (2, 0)]
    outcome = together(episode, batch_of(*choices))
    each = [alone(episode, batch_of(choice)) for choice in choices]
    assert np.array_equal(outcome.said, np.concatenate([one.said for one in each]))
    assert np.array_equal(together.inputs, alone.inputs)
    assert together.n_asked == alone.n_asked == len(choices)
    assert (outcome.shared_s <= outcome.spent_s).all()
    assert (outcome.shared_s > 0).tolist() == [False, True, False, True, True, False]


def test_what_cannot_be_had_of_a_batch_leaves_the_rest(scene: Scene, classifiers: SubsetClassifiers) -> None:
    source, episode = source_of(scene, classifiers, broken)
    source.live.late = lambda: True  # there is no time for tracks
    outcome = source(episode, batch_of((5, 0), (3, HOG), (1, 2), (0, 0)))
    assert outcome.missing == {1: "failed (KeyError: 'no such frame')", 2: LATE}
    assert np.allclose(outcome.said[[0, 3]].sum(axis=1), 1)


def test_one_that_is_not_finite_is_missing_alone(scene: Scene, classifiers: SubsetClassifiers) -> None:
    good = np.zeros(BUILT_IN["hog"]().length, np.float32)
    bad = np.full_like(good, np.nan)
    answers = iter([good, bad, good])
    source, episode = source_of(scene, classifiers, lambda _: next(answers))
    assert source(episode, batch_of((0, HOG), (1, HOG), (2, HOG))).missing == {1: "is not finite"}


def test_what_it_cost_is_what_the_call_took(scene: Scene, classifiers: SubsetClassifiers) -> None:
    def slow(length: int) -> Float32:
        time.sleep(0.05)
        return np.zeros(length, np.float32)

    source, episode = source_of(scene, classifiers, slow)
    started = time.perf_counter()
    outcome = source(episode, batch_of((0, HOG), (1, HOG), (2, 0)))
    took_s = time.perf_counter() - started
    assert 0.05 <= outcome.spent_s[0] == outcome.spent_s[1]
    assert outcome.spent_s[2] < 0.05
    assert 0.1 <= outcome.spent_s.sum() <= took_s


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
    source, episode = source_of(scene, classifiers, answer, guarded)
    assert re.search(line, why_not(source, episode, (0, HOG)))


def test_a_list_of_the_right_length_is_as_good_as_an_array(scene: Scene, classifiers: SubsetClassifiers) -> None:
    listed, episode = source_of(scene, classifiers, lambda length: [0.5] * length)
    plain, _ = source_of(scene, classifiers, lambda length: np.full(length, 0.5, np.float32))
    assert np.array_equal(listed(episode, batch_of((3, HOG))).said, plain(episode, batch_of((3, HOG))).said)


def hang(length: int) -> Float32:
    time.sleep(1.0)
    return np.zeros(length, np.float32)


def test_a_descriptor_that_hangs_is_left_behind(
    scene: Scene, classifiers: SubsetClassifiers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "PATIENCE_S", 0.1)
    source, episode = source_of(scene, classifiers, hang, guarded=True)
    started = time.perf_counter()
    assert re.search(r"did not return within 0\.10 s", why_not(source, episode, (0, HOG)))
    assert time.perf_counter() - started < 0.5
    assert np.isfinite(source(episode, batch_of((0, 0))).said).all()  # the others go on meanwhile


def test_one_that_hangs_is_waited_for_once_in_a_batch(
    scene: Scene, classifiers: SubsetClassifiers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "PATIENCE_S", 0.1)
    source, episode = source_of(scene, classifiers, hang, guarded=True)
    started = time.perf_counter()
    outcome = source(episode, batch_of((5, 0), *((region, HOG) for region in range(10))))
    assert time.perf_counter() - started < 0.5
    assert list(outcome.missing) == list(range(1, 11))
    assert np.isfinite(outcome.said[0]).all()


def test_where_time_is_up_within_a_batch_those_before_are_there(scene: Scene, classifiers: SubsetClassifiers) -> None:
    source, episode = source_of(scene, classifiers)
    source(episode, batch_of((0, 2)))  # its flow and tracks are there then
    source.live.late = lambda: True
    outcome = source(episode, batch_of((0, 2), (1, 2), (2, 2)))
    assert outcome.missing == {1: LATE, 2: LATE}
    assert np.allclose(outcome.said[0].sum(), 1)
    assert outcome.spent_s[0] > 0


def test_nothing_is_learned_from_one_that_was_left_behind(
    scene: Scene, classifiers: SubsetClassifiers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(live_module, "PATIENCE_S", 0.05)
    returned = threading.Event()

    def late(length: int) -> Float32:
        time.sleep(0.2)
        returned.set()
        return np.zeros(length, np.float32)

    source, episode = source_of(scene, classifiers, late, guarded=True)
    assert re.search("did not return", why_not(source, episode, (0, HOG)))
    assert source.live.left_behind
    assert returned.wait(5)
    for _ in range(100):
        if not source.live.left_behind:
            break
        time.sleep(0.01)
    assert not source.live.left_behind
    assert "hog" not in source.live.costs


def test_one_that_never_returns_does_not_keep_the_program_from_ending(
    scene: Scene, classifiers: SubsetClassifiers
) -> None:
    threads: list[threading.Thread] = []

    def answer(length: int) -> Float32:
        threads.append(threading.current_thread())
        return np.zeros(length, np.float32)

    source, episode = source_of(scene, classifiers, answer, guarded=True)
    source(episode, batch_of((0, HOG)))
    assert [thread.daemon for thread in threads] == [True]


def test_nobody_waits_for_it_beyond_the_budget(scene: Scene, classifiers: SubsetClassifiers) -> None:
    source, episode = source_of(scene, classifiers, hang, guarded=True)
    episode.left_s = 0.1
    started = time.perf_counter()
    assert re.search("did not return", why_not(source, episode, (0, HOG)))
    assert time.perf_counter() - started < 0.5
