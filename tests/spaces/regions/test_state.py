"""One window of a video: what is put back, what is dropped, and what is left of it in memory."""

import weakref
from collections.abc import Callable

import numpy as np
import pytest

from budgetseg.datasets.synthetic import CLASSES, render
from budgetseg.descriptors.core import Descriptor, Scene, Value
from budgetseg.descriptors.registry import BUILT_IN
from budgetseg.engine.loop import LATE, Outcome, spend
from budgetseg.engine.memory import no_collection
from budgetseg.engine.request import Request
from budgetseg.engine.window import Window
from budgetseg.policy import random_policy
from budgetseg.policy.episode import Selection
from budgetseg.spaces.regions.space import Regions
from budgetseg.spaces.regions.state import RegionState
from budgetseg.timing.clock import ManualClock
from budgetseg.timing.ledger import Account, Ledger
from budgetseg.timing.prices import Prices
from budgetseg.types import Batch, Budget, Float32, UInt8
from budgetseg.video.arrays import ArrayClip
from budgetseg.video.core import Span
from budgetseg.video.read import VideoSource
from tests.models.made import random_model

SIZE = (96, 64)
N_FRAMES = 4
REQUEST = Request((Budget(np.inf),), density=10)


class Broken(Descriptor):
    """In the place of hog, and fails for the second supervoxel."""

    name, length = "hog", BUILT_IN["hog"]().length

    def work(self, scene: Scene, region: int) -> float:  # noqa: ARG002
        return 1.0

    def compute(self, scene: Scene, region: int, inputs: list[Value]) -> Float32:  # noqa: ARG002
        if region == 1:
            raise RuntimeError("no more")
        return np.zeros(self.length, np.float32)


def street() -> UInt8:
    return render(1, N_FRAMES, SIZE)[0].frames


def state_of(descriptors: list[Descriptor], clock: ManualClock, pixels: UInt8) -> RegionState:
    """A window that is ready for actions; the policy takes any."""
    model = random_model({own.name: own.length for own in descriptors}, CLASSES)
    h = model.classifiers
    policy = random_policy(len(descriptors), h.n_labels)
    space = Regions(h, model.crf, descriptors, Prices(frozen=True), lambda _: (policy, Selection()))
    video = VideoSource(ArrayClip(pixels), Span(), SIZE)
    plan = space.plan(video, REQUEST)
    window = Window(0, range(N_FRAMES), space.reader(video, plan), is_last=True)
    state = space.open(window, video, REQUEST, plan, Account(clock, space.prices, Ledger(None)))
    assert state.prepare(np.inf, np.inf)
    return state


def choose(state: RegionState, left_s: float) -> Batch:
    return state.choose(left_s)


def spend_all(
    state: RegionState, clock: ManualClock, record: Callable[..., None] = lambda *_: None, threads: int = 1
) -> None:
    spend(state, choose, clock, lambda: np.inf, record, threads)


def test_what_there_was_no_time_for_can_be_done_when_there_is_more_time() -> None:
    clock = ManualClock()
    state = state_of([BUILT_IN["hog"]()], clock, street())
    batch = state.choose(1.0)
    clock.advance(2.0)
    outcome = state.do(batch)
    assert set(outcome.missing.values()) == {LATE}
    state.add(batch, outcome)
    spend_all(state, clock)
    assert (state.episode.state.subsets == 1).all()
    assert state.next_s() == 0


def test_without_a_descriptor_that_fails_all_others_are_computed() -> None:
    clock, reasons = ManualClock(), set[str]()

    def record(_: Batch, outcome: Outcome, __: float) -> None:
        reasons.update(outcome.missing.values())

    state = state_of([BUILT_IN["colour"](), Broken()], clock, street())
    spend_all(state, clock, record)
    assert reasons == {"failed (RuntimeError: no more)"}
    assert (state.episode.state.subsets & 1).all()


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("names", [("colour",), ("colour", "hog", "hof")])
def test_frames_are_released_with_the_window_though_nothing_collects_garbage(
    names: tuple[str, ...], threads: int
) -> None:
    clock, out = ManualClock(), np.empty((N_FRAMES, SIZE[1], SIZE[0]), np.uint8)
    with no_collection():
        state = state_of([BUILT_IN[name]() for name in names], clock, street())
        spend_all(state, clock, threads=threads)
        finish, evidence = state.finish(np.inf, out)
        assert state.scene is not None
        frames = weakref.ref(state.scene.frames)
        memory = state.memory()
        del state
        assert frames() is None
    assert memory is not None
    assert finish.n_moves is None
    assert evidence.confidence(SIZE[::-1]).shape == out.shape
