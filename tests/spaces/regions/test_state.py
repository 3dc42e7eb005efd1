"""One window by supervoxels: what is read, cut and computed, and labels that follow from its trace."""

import gc
import json
import weakref
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from budgetseg.classifiers.samples import place_of
from budgetseg.descriptors.core import Scene
from budgetseg.descriptors.measure import measure
from budgetseg.descriptors.registry import BUILT_IN
from budgetseg.descriptors.table import VideoTable
from budgetseg.engine.loop import LATE, Outcome
from budgetseg.engine.plan import Plan
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import Earlier, replay
from budgetseg.engine.trace import WindowTrace
from budgetseg.errors import UsageError
from budgetseg.evaluation.experiment import label_table
from budgetseg.spaces.regions.evidence import RegionEvidence, WindowMemory
from budgetseg.spaces.regions.ladder import LADDER
from budgetseg.spaces.regions.settings import RegionSettings
from budgetseg.spaces.regions.space import Regions
from budgetseg.spaces.regions.state import RegionState
from budgetseg.timing.clock import CostClock, ManualClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Action, Batch, Budget, Float32, UInt8
from tests.spaces.clocks import ChargedClock
from tests.spaces.regions.worlds import (
    N_FRAMES,
    N_PIXELS,
    NAMES,
    PRIOR_CLASS,
    SHAPE,
    Odd,
    Outputs,
    Seen,
    counts,
    label,
    lines_of,
    model_of,
    open_state,
    rates_of,
    request_of,
    space_of,
    street,
    video_of,
)

FRAMES = street()
MODEL = model_of()
N = 400
COLOUR, HOG = range(2)
UNLIMITED = request_of(np.inf)


def labelled(request: Request = UNLIMITED, space: Regions | None = None, frames: UInt8 = FRAMES) -> list[Result]:
    """Results of a run by the clock of its prices."""
    return label(space or space_of(MODEL), video_of(frames), request)


def evidence_of(result: Result) -> list[RegionEvidence]:
    """What was known of each window."""
    found = [own for own in result.evidence if isinstance(own, RegionEvidence)]
    assert len(found) == len(result.windows)
    return found


def space_with(rates: dict[str, float], **how: Any) -> Regions:
    """A space with other rates of some stages."""
    return space_of(MODEL, prices=Prices(rates_of() | rates, lines_of(), frozen=True), **how)


def unbounded(result: Result, frames: UInt8 = FRAMES) -> UInt8:
    """What the CRF makes of every descriptor of every supervoxel, window by window."""
    parts, first = [], 0
    for own in evidence_of(result):
        n = len(own.supervoxels)
        scene = Scene.of(frames[first : first + own.n_frames], own.supervoxels)
        values, costs = measure(scene, [BUILT_IN[name]() for name in NAMES])
        truth = np.zeros((n, MODEL.classifiers.n_labels), np.int64)
        table = VideoTable("street", own.n_frames, own.supervoxels.graph, truth, values, costs, {})
        labels = label_table(MODEL, table, np.full(n, MODEL.classifiers.n_subsets - 1, np.int32))
        parts.append(labels[own.supervoxels.ids].astype(np.uint8))
        first += own.n_frames
    return np.concatenate(parts)


# Without a bound


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("scope", ["total", "descriptors"])
@pytest.mark.parametrize("window", [None, 6])
def test_without_a_bound_labels_are_those_of_the_unbounded_crf(scope: str, window: int | None, threads: int) -> None:
    space = space_of(MODEL, threads=threads)
    request = request_of(np.inf, scope=scope, window=window)
    (result,) = label(space, video_of(FRAMES), request, ManualClock())  # not simulated: all threads work
    assert np.array_equal(result.labels, unbounded(result))
    assert len(np.unique(result.labels)) > 1
    assert not result.ledger.work_left
    assert not result.ledger.notes
    n_places = sum(own.n_places for own in result.windows)
    assert counts(result) == dict.fromkeys(NAMES, n_places)
    for own in result.windows:
        pairs = {(event.place, event.source) for event in own.events}
        assert len(pairs) == len(own.events) == len(NAMES) * own.n_places


def test_the_trace_the_ledger_and_the_state_agree() -> None:
    (result,) = labelled(request_of(0.02, scope="descriptors"))
    (own,), events = evidence_of(result), result.windows[0].events
    subsets = np.zeros(N, np.int32)
    for event in events:
        subsets[event.place] |= 1 << event.source
    assert 0 < len(events) < len(NAMES) * N
    assert np.array_equal(subsets, own.subsets)
    assert sum(counts(result).values()) == len(events)
    assert result.ledger.sources_s == pytest.approx(sum(event.spent_s for event in events))
    times = [event.at_s for event in events]
    assert times == sorted(times)
    assert 0 < result.ledger.cache_misses <= N_FRAMES


# Less time


def test_where_time_is_short_frames_are_left_out_and_their_labels_carried_over() -> None:
    (result,) = labelled(request_of(0.05))
    stride = result.plan.stride
    assert stride > 1
    assert result.ledger.notes == ["the budget is short: fewer frames"]
    assert result.labels.shape == SHAPE
    for t in range(N_FRAMES):
        assert np.array_equal(result.labels[t], result.labels[t - t % stride])
    assert "carrying" in result.ledger.stages
    assert list(result.windows[0].read) == list(range(0, N_FRAMES, stride))


def test_where_time_is_short_small_frames_are_worked_on() -> None:
    frames = street(4, (480, 360))
    space = space_with({"supervoxels fast 1": 1e-3})  # 19 s a frame, 11 at half size
    (result,) = labelled(Request((Budget(100.0),)), space, frames)
    assert (result.plan.size, result.plan.stride) == ((180, 240), 1)
    assert result.ledger.notes == [f"the budget is short: {name}" for name in LADDER[:2]]
    assert result.labels.shape == (4, 360, 480)
    assert np.array_equal(result.labels[:, ::2, ::2], result.labels[:, 1::2, 1::2])


def test_at_the_end_of_the_ladder_colour_alone_is_computed() -> None:
    space = space_with({"supervoxels fast 1": 0.5 / N_PIXELS})
    (result,) = labelled(request_of(0.53), space)
    assert result.plan.colour_only
    assert list(counts(result)) == ["colour"]
    assert result.ledger.notes[-1] == "the budget is short: colour alone"
    assert result.labels.shape == SHAPE


def test_a_budget_of_nearly_nothing_gives_the_prior() -> None:
    (result,) = labelled(request_of(1e-6))
    assert (result.labels == MODEL.classifiers.prior.argmax()).all()
    assert result.ledger.notes == [PRIOR_CLASS]
    assert not result.ledger.stages
    assert not result.ledger.sources
    assert not result.windows
    assert result.ledger.work_left
    assert np.allclose(result.confidence, MODEL.classifiers.prior.max())


def test_the_largest_budget_decides_what_is_given_up() -> None:
    space = space_with({"supervoxels fast 1": 0.1 / N_PIXELS})  # 1.6 s in all
    early, middle, last = labelled(request_of(0.5, 2.0, 5.0), space)
    assert last.plan.stride == 1
    assert early.ledger.notes == [PRIOR_CLASS]
    assert (early.labels == MODEL.classifiers.prior.argmax()).all()
    assert not middle.ledger.notes
    assert len(np.unique(last.labels)) > 1


def test_later_budgets_have_computed_at_least_as_much() -> None:
    results = labelled(request_of(0.1, 0.12, 1.0))
    n_computed = [sum(counts(result).values()) for result in results]
    assert 0 < n_computed[0] < n_computed[1] <= n_computed[2] == len(NAMES) * N
    spent = [result.ledger.spent_s for result in results]
    assert spent == sorted(spent)
    assert np.array_equal(results[-1].labels, labelled()[0].labels)


# Descriptors


def test_nothing_is_spent_beyond_the_budget_of_descriptors() -> None:
    for seconds in (0.002, 0.01, 0.02):
        (result,) = labelled(request_of(seconds, scope="descriptors"))
        assert 0.8 * seconds < result.ledger.spent_s <= seconds
        assert result.ledger.work_left
        assert result.ledger.next_s > 0
        assert result.plan.stride == 1  # nothing else is bounded


def test_a_batch_that_takes_longer_than_planned_is_the_most_that_is_spent_beyond() -> None:
    clock = ChargedClock()
    space = space_of(model_of(("colour", "network")), [BUILT_IN["colour"](), Seen(Outputs(clock, slower=2.0))])
    (result,) = label(space, video_of(FRAMES), request_of(0.05, scope="descriptors"), clock)
    batches_s = defaultdict[float, float](float)
    for event in result.windows[0].events:
        batches_s[event.at_s] += event.spent_s
    assert result.ledger.sources_s <= 0.05 + max(batches_s.values())


def test_shares_are_of_what_all_descriptors_would_cost() -> None:
    request = Request((Budget(0.1, is_share=True), Budget(0.5, is_share=True)), "descriptors", 25.0)
    first, second = labelled(request)
    assert 0 < sum(counts(first).values()) < sum(counts(second).values()) < len(NAMES) * N
    assert second.ledger.budget_s == pytest.approx(5 * (first.ledger.budget_s or 0))
    full_s = labelled()[0].ledger.sources_s
    assert first.ledger.budget_s == pytest.approx(0.1 * full_s)


def test_a_share_of_everything_counts_reading_and_the_end_too() -> None:
    request = Request((Budget(0.8, is_share=True),), density=25.0)
    (result,) = labelled(request)
    whole = labelled()[0].ledger
    assert result.ledger.budget_s == pytest.approx(0.8 * whole.spent_s, rel=0.02)
    assert result.ledger.spent_s <= (result.ledger.budget_s or 0)


# Plug-ins


def broken() -> Float32:
    raise RuntimeError("out of ideas")


def with_odd(answer: Callable[[], Any], n_good: int = 20, threads: int = 1) -> Regions:
    descriptors = [BUILT_IN["colour"](), Odd(answer, n_good)]
    return space_of(MODEL, descriptors, guarded=["hog"], threads=threads)


FAILURES: dict[str, tuple[Callable[[], Any], str]] = {
    "raises": (broken, "hog failed (RuntimeError: out of ideas); dropped"),
    "nan": (lambda: np.full(BUILT_IN["hog"]().length, np.nan, np.float32), "hog is not finite; dropped"),
    "short": (lambda: np.zeros(2, np.float32), "hog is (2,), not (64,); dropped"),
}


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("answer", "line"), FAILURES.values(), ids=FAILURES)
def test_a_plug_in_that_fails_is_dropped_and_the_rest_is_computed(
    answer: Callable[[], Any], line: str, threads: int
) -> None:
    (result,) = label(with_odd(answer, threads=threads), video_of(FRAMES), UNLIMITED, ManualClock())
    assert result.ledger.notes == [line]
    (own,) = evidence_of(result)
    assert np.sum(own.subsets >> HOG & 1) == counts(result)["hog"]
    assert 19 <= counts(result)["hog"] <= 20
    assert (own.subsets >> COLOUR & 1 == 1).all()
    assert np.isfinite(own.probabilities).all()
    assert (result.labels < MODEL.classifiers.n_labels).all()
    assert not result.ledger.work_left


class Mute(Odd):
    """Does not say what it needs, or how much work it is."""

    def __init__(self, silent_on: str) -> None:
        super().__init__(broken)
        self._silent_on = silent_on

    def needs(self, scene: Scene, region: int) -> Any:
        return broken() if self._silent_on == "needs" else super().needs(scene, region)

    def work(self, scene: Scene, region: int) -> float:
        return float(broken()[0]) if self._silent_on == "work" else super().work(scene, region)


@pytest.mark.parametrize("silent_on", ["needs", "work"])
def test_a_plug_in_that_cannot_say_what_it_needs_is_dropped_before_it_is_asked(silent_on: str) -> None:
    mute = Mute(silent_on)
    space = space_of(MODEL, [BUILT_IN["colour"](), mute], guarded=["hog"])
    (result,) = labelled(space=space)
    assert result.ledger.notes == ["hog failed (RuntimeError: out of ideas); dropped"]
    assert counts(result) == {"colour": N}
    assert mute.n_left == 20
    assert not result.ledger.work_left


def test_what_was_computed_before_a_drop_does_not_pass_for_the_rest() -> None:
    """There is work left as long as any supervoxel lacks a descriptor that may be computed."""
    (result,) = labelled(request_of(0.01, scope="descriptors"), with_odd(broken))
    (own,) = evidence_of(result)
    assert result.ledger.notes
    assert np.sum(own.subsets >> COLOUR & 1 == 0) > 0
    assert result.ledger.work_left


# Time is up


def prepared(space: Regions | None = None) -> RegionState:
    """A window with its supervoxels, before anything was computed."""
    state = open_state(space or space_of(MODEL), video_of(FRAMES), UNLIMITED)
    assert state.prepare(np.inf, np.inf)
    return state


def late(n: int) -> Outcome:
    """Nothing, for which there was no time."""
    values = np.full((n, MODEL.classifiers.n_labels), np.nan, np.float32)
    return Outcome(values, np.zeros(n), np.zeros(n), dict.fromkeys(range(n), LATE))


def test_what_was_late_may_be_computed_at_another_budget() -> None:
    state = prepared()
    batch = state.choose(np.inf)
    n = batch.n_actions
    state.add(batch, late(n))
    assert not state.episode.state.subsets.any()
    assert not state._account.ledger.notes
    again = {action for _ in range(50) for action in state.choose(np.inf).actions}
    assert set(batch.actions) <= again


def test_resources_that_were_not_made_in_time_cost_again() -> None:
    state = prepared()
    place = 0
    before_s = state.episode.cost_s(place, HOG)
    state.episode.start(Action(place, HOG))
    assert state.episode.cost_s(place, HOG) < before_s  # they count as there
    batch = Batch.of([Action(place, HOG)], [before_s])
    state.add(batch, late(1))
    assert state.episode.cost_s(place, HOG) == pytest.approx(before_s)


def test_the_next_action_is_the_cheapest_that_is_left_with_its_margin() -> None:
    state = prepared()
    expected_s = min(state.episode.cost_s(place, COLOUR) for place in range(N))
    assert state.next_s() == pytest.approx(state._space.margins.action * expected_s)
    (result,) = labelled()
    assert result.ledger.next_s == 0


def test_on_a_machine_that_is_slower_now_actions_and_the_end_are_predicted_to_take_longer() -> None:
    state = prepared()
    next_s, finish_s = state.next_s(), state.finish_s()
    state._space.prices.slowdown.factor = 2.0
    assert state.next_s() == pytest.approx(2 * next_s)
    assert state.finish_s() == pytest.approx(2 * finish_s)


def test_the_end_is_predicted_from_the_last_descriptor_to_all_pixels() -> None:
    clock = CostClock()
    state = open_state(space_of(MODEL), video_of(FRAMES), UNLIMITED, clock)
    assert state.finish_s() == 0  # there is nothing to label
    state.prepare(np.inf, np.inf)
    predicted_s, began_s = state.finish_s(), clock.now_s()
    state.finish(np.inf, np.empty(SHAPE, np.uint8))
    assert clock.now_s() - began_s == pytest.approx(predicted_s)


def test_a_run_that_is_stopped_has_labels_for_all_pixels_and_says_so() -> None:
    asked = iter([False] * 6)
    (result,) = label(
        space_of(MODEL),
        video_of(FRAMES),
        request_of(np.inf, scope="descriptors", window=5),
        CostClock(),
        stopped=lambda: next(asked, True),
    )
    assert result.labels.shape == SHAPE
    assert 0 < sum(counts(result).values()) < 6 * RegionSettings().batch
    n_first = result.windows[0].n_frames
    assert (result.labels[n_first:] == result.labels[n_first - 1]).all()
    assert result.ledger.notes == [
        f"no time for {len(result.labels) - n_first} frames: labels there are those of the nearest frame that has some",
        "stopped: labels are made from what was known by then",
    ]


# Replaying and going on


def stored(windows: Sequence[WindowTrace]) -> list[WindowTrace]:
    """Traces as they come back from a file."""
    return [WindowTrace.from_dict(json.loads(json.dumps(window.as_dict()))) for window in windows]


@pytest.mark.parametrize("window", [None, 6])
@pytest.mark.parametrize("seconds", [(0.1,), (0.03, 0.1, 0.2), (0.001, 0.08)], ids=str)
def test_a_trace_gives_the_same_labels_again(seconds: tuple[float, ...], window: int | None) -> None:
    request = request_of(*seconds, window=window)
    results = labelled(request)
    earlier = Earlier(results[-1].plan, stored(results[-1].windows))
    again = replay(space_of(MODEL), video_of(FRAMES), request, results[0].classes, earlier, N_FRAMES)
    for before, after in zip(results, again, strict=True):
        assert np.array_equal(before.labels, after.labels)
        assert np.array_equal(before.confidence, after.confidence)


def test_a_trace_of_another_video_is_refused() -> None:
    request = request_of(0.1)
    (result,) = labelled(request)
    (window,) = result.windows
    earlier = Earlier(result.plan, [replace(window, n_places=window.n_places + 100_000)])
    with pytest.raises(UsageError, match="the trace does not fit the video"):
        replay(space_of(MODEL), video_of(FRAMES), request, result.classes, earlier, N_FRAMES)


@pytest.mark.parametrize("window", [None, 6])
def test_what_is_remembered_is_neither_cut_nor_computed_again(window: int | None) -> None:
    request = request_of(0.1, window=window)
    (first,) = labelled(request)
    earlier = Earlier(first.plan, first.windows, first.memory)
    (second,) = label(
        space_of(MODEL), video_of(FRAMES), request_of(np.inf, window=window), CostClock(), earlier=earlier
    )
    for before, after in zip(first.windows, second.windows, strict=True):
        new = after.events[len(before.events) :]
        assert after.events[: len(before.events)] == before.events
        assert {event[:2] for event in before.events}.isdisjoint(event[:2] for event in new)
    assert "supervoxels" not in second.ledger.stages
    assert not second.ledger.work_left
    if first.plan.stride == 1:
        assert np.array_equal(second.labels, unbounded(second))


def test_a_run_without_a_memory_is_done_again_beside_the_budget() -> None:
    (first,) = labelled(request_of(0.12))
    space, clock = space_of(MODEL), CostClock()
    (second,) = label(
        space, video_of(FRAMES), request_of(0.03), clock, earlier=Earlier(first.plan, stored(first.windows))
    )
    n_before = len(first.windows[0].events)
    assert [event[:2] for event in second.windows[0].events[:n_before]] == [
        event[:2] for event in first.windows[0].events
    ]
    assert second.ledger.spent_s <= 0.03
    assert "actions of the earlier run were repeated, outside the budget" in second.ledger.notes


def test_a_memory_holds_what_a_later_run_needs() -> None:
    (result,) = labelled(request_of(0.1))
    (memory,) = result.memory
    assert isinstance(memory, WindowMemory)
    h, n = MODEL.classifiers, result.windows[0].n_places
    assert memory.inputs.shape == (n, sum(h.lengths[1:]))
    known = memory.subsets > 0
    assert known.any()
    assert np.allclose(memory.probabilities[known].sum(axis=1), 1, atol=1e-5)
    assert len(place_of(memory.supervoxels.graph)) == n


# Windows and memory


def test_windows_share_the_budget() -> None:
    (result,) = labelled(request_of(0.15, window=4))
    assert [own.n_frames for own in result.windows] == [4, 4, 4, 4]
    assert result.ledger.stages["supervoxels"].count == 4
    n_computed = [len(own.events) for own in result.windows]
    assert min(n_computed) > 0
    assert result.ledger.spent_s <= 0.15


def test_a_window_is_prepared_once_however_many_budgets_there_are() -> None:
    results = labelled(request_of(0.1, 0.15, 0.3))
    assert results[-1].ledger.stages["supervoxels"].count == 1
    assert results[-1].ledger.stages["decode"].count == 1


def test_a_state_is_forgotten_without_a_search_for_cycles() -> None:
    """While a clock runs there is none, and every window holds its frames."""
    state = prepared(space_of(MODEL, threads=2))
    state.choose(1.0)
    gone = weakref.ref(state)
    gc.disable()
    try:
        del state
        assert gone() is None
    finally:
        gc.enable()


def test_a_plan_that_works_on_fewer_frames_stays_for_the_windows_after_it() -> None:
    plan = Plan(N_FRAMES, SHAPE[1:], stride=4, density=25.0)
    state = open_state(space_of(MODEL), video_of(FRAMES), UNLIMITED, plan=plan)
    assert state.prepare(np.inf, np.inf)
    assert state.scene is not None
    assert state.scene.n_frames == 4
    assert state.trace() == ((0, 4, 8, 12), SHAPE[1:], 100)
