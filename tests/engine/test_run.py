"""A run labels every pixel, keeps its accounts, and can be done again, gone on with and explained."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from threading import current_thread

import numpy as np
import pytest

from budgetseg.datasets.synthetic import CLASSES
from budgetseg.engine import run as module
from budgetseg.engine.memory import LabelMemory, room_for
from budgetseg.engine.request import Request
from budgetseg.engine.result import Result
from budgetseg.engine.run import Earlier, replay, run
from budgetseg.engine.space import Space
from budgetseg.engine.trace import Event, WindowTrace
from budgetseg.errors import UsageError, VideoError
from budgetseg.spaces.frames import painter
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.spaces.regions.closing import Closing
from budgetseg.spaces.regions.evidence import RegionEvidence
from budgetseg.timing.clock import Clock, CostClock, ManualClock
from budgetseg.timing.ledger import Ledger
from budgetseg.types import Budget, UInt8
from budgetseg.video import VideoSource
from tests.engine.worlds import N_FRAMES, SHAPE, Shades, frames_space, regions_space, slides, street

Make = Callable[..., Space]

STOPPED = "stopped: labels are made from what was known by then"

BOTH = pytest.mark.parametrize("make", [frames_space, regions_space])
ENOUGH = {frames_space: (0.03, 0.1, 0.5), regions_space: (0.016, 0.021, 0.5)}
"""Budgets in seconds: a few actions, more of them, and most or all."""


def seconds(*amounts: float, scope: str = "total", window: int | None = None, explain: bool = False) -> Request:
    return Request(tuple(map(Budget, amounts)), scope, window=window, explain=explain)


def label(
    space: Space, request: Request, clock: Clock | None = None, earlier: Earlier | None = None, n_frames: int = N_FRAMES
) -> list[Result]:
    return run(space, street(n_frames), request, CLASSES, clock or CostClock(), earlier=earlier)


def earlier_of(results: Sequence[Result]) -> Earlier:
    last = results[-1]
    return Earlier(last.plan, last.windows, last.memory if last.space == "regions" else ())


def again(space: Space, request: Request, results: Sequence[Result]) -> list[Result]:
    last = results[-1]
    return replay(space, street(), request, CLASSES, Earlier(last.plan, last.windows), len(last.labels))


def check_same(results: Sequence[Result], others: Sequence[Result]) -> None:
    for result, other in zip(results, others, strict=True):
        assert np.array_equal(result.labels, other.labels)
        assert np.array_equal(result.confidence, other.confidence)


def events_of(result: Result) -> list[Event]:
    return [event for window in result.windows for event in window.events]


def n_actions(ledger: Ledger) -> int:
    return sum(entry.count for entry in ledger.sources.values())


def stages_s(ledger: Ledger) -> float:
    return sum(entry.spent_s for entry in ledger.stages.values())


def after(n: int) -> Callable[[], bool]:
    """Whether the thread that labels has asked more than n times; what others ask depends on how fast they are."""
    answers = iter([False] * n)
    labels = current_thread()
    state = [False]

    def is_over() -> bool:
        if current_thread() is labels:
            state[0] = next(answers, True)
        return state[0]

    return is_over


# Budgets


@BOTH
@pytest.mark.parametrize("window", [None, 5])
def test_every_budget_has_labels_and_later_ones_have_done_at_least_as_much(make: Make, window: int | None) -> None:
    budgets = ENOUGH[make]
    results = label(make(), seconds(*budgets, window=window))
    ledgers = [result.ledger for result in results]
    assert [result.labels.shape for result in results] == [SHAPE] * 3
    assert all((result.labels < len(CLASSES)).all() for result in results)
    counts = [n_actions(ledger) for ledger in ledgers]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == len(events_of(results[-1]))
    assert [ledger.budget_s for ledger in ledgers] == list(budgets)
    spent = [ledger.spent_s for ledger in ledgers]
    assert spent == sorted(spent)
    assert not np.array_equal(results[0].labels, results[-1].labels)


@BOTH
def test_labels_are_ready_when_each_budget_ends(make: Make) -> None:
    for result in label(make(), seconds(*ENOUGH[make])):
        assert 0 < result.ledger.spent_s <= (result.ledger.budget_s or 0)
        assert result.ledger.overrun_s == 0


@BOTH
@pytest.mark.parametrize("budget_s", [1e-6, 0.002, 0.006, 0.01, 0.02])
def test_whatever_the_budget_every_pixel_has_a_label(make: Make, budget_s: float) -> None:
    (result,) = label(make(), seconds(budget_s))
    assert result.labels.shape == result.confidence.shape == SHAPE
    assert (result.labels < len(CLASSES)).all()
    assert result.ledger.work_left or result.ledger.notes


@BOTH
def test_a_budget_of_nearly_nothing_gives_the_most_frequent_class(make: Make) -> None:
    space = make()
    (result,) = label(space, seconds(1e-6))
    assert (result.labels == space.prior.argmax()).all()
    assert (result.confidence == space.prior.max()).all()
    assert result.ledger.notes[-1] == "no time for a prediction: all is the most frequent class"
    assert not result.ledger.sources
    assert result.ledger.work_left


@BOTH
def test_a_budget_without_end_does_everything(make: Make) -> None:
    (result,) = label(make(), seconds(math.inf))
    assert not result.ledger.work_left
    assert not result.ledger.notes
    assert result.ledger.next_s == 0
    assert result.ledger.overrun_s == 0


@BOTH
@pytest.mark.parametrize("window", [None, 4])
def test_a_budget_in_seconds_may_stand_before_one_without_end(make: Make, window: int | None) -> None:
    some, everything = label(make(), seconds(ENOUGH[make][1], math.inf, window=window))
    assert 0 < some.ledger.spent_s <= ENOUGH[make][1]
    assert n_actions(some.ledger) < n_actions(everything.ledger)
    assert not everything.ledger.work_left


@BOTH
@pytest.mark.parametrize("window", [None, 5])
def test_shares_are_of_what_everything_would_cost(make: Make, window: int | None) -> None:
    request = Request((Budget(0.8, is_share=True), Budget(1.0, is_share=True)), window=window)
    most, all_of_it = (result.ledger for result in label(make(), request))
    assert most.budget_s == pytest.approx(0.8 * (all_of_it.budget_s or 0))
    assert most.spent_s <= (most.budget_s or 0)
    (whole,) = label(make(), seconds(math.inf, window=window))
    assert all_of_it.budget_s == pytest.approx(whole.ledger.spent_s, rel=0.35)


@pytest.mark.parametrize("window", [None, 5])
def test_the_scope_of_descriptors_counts_nothing_else(window: int | None) -> None:
    request = seconds(0.004, 0.008, scope="descriptors", window=window)
    few, more = (result.ledger for result in label(regions_space(), request))
    for ledger in (few, more):
        assert ledger.scope == "descriptors"
        assert ledger.spent_s == pytest.approx(ledger.sources_s)
        assert 0.7 * (ledger.budget_s or 0) < ledger.spent_s <= (ledger.budget_s or 0)
        assert stages_s(ledger) > 1.5 * ledger.spent_s
    assert n_actions(few) < n_actions(more)


@pytest.mark.parametrize("window", [None, 5])
def test_shares_of_descriptors_are_of_what_all_of_them_cost(window: int | None) -> None:
    request = Request((Budget(0.5, is_share=True), Budget(1.0, is_share=True)), "descriptors", window=window)
    half, full = (result.ledger for result in label(regions_space(), request))
    assert half.budget_s == pytest.approx(0.5 * (full.budget_s or 0))
    assert n_actions(half) < n_actions(full)
    (whole,) = label(regions_space(), seconds(math.inf, window=window))
    assert full.budget_s == pytest.approx(whole.ledger.sources_s)


def test_whole_frames_have_no_scope_of_descriptors() -> None:
    with pytest.raises(UsageError, match=r"^scope 'descriptors' needs regions; use --space regions$"):
        label(frames_space(), seconds(1.0, scope="descriptors"))


# Windows


@BOTH
def test_windows_have_about_one_length_and_share_the_budget(make: Make) -> None:
    space = make()
    (result,) = label(space, seconds(0.3, window=5))
    assert [window.n_frames for window in result.windows] == [4, 4, 4, 4]
    assert result.ledger.stages["decode"].count == 4
    assert result.ledger.spent_s <= 0.3
    assert all(window.events for window in result.windows)
    begun = [window.events[0].at_s for window in result.windows]
    assert begun == sorted(begun)


def test_a_budget_gets_no_more_in_late_windows_though_a_larger_one_leaves_much_to_them() -> None:
    few, *_ = label(regions_space(), seconds(0.02, 5.0, window=4))
    assert few.ledger.spent_s <= 0.02


@BOTH
def test_windows_give_the_memory_of_each_back_within_the_budget(make: Make) -> None:
    (result,) = label(make(), seconds(math.inf, window=5))
    assert result.ledger.stages["release"].count == 4


@BOTH
@pytest.mark.parametrize("window", [None, 6])
def test_a_video_that_is_shorter_than_promised_has_labels_for_the_frames_that_there_are(
    make: Make, window: int | None
) -> None:
    (result,) = run(make(), street(12, n_promised=18), seconds(math.inf, window=window), CLASSES, CostClock())
    (true,) = label(make(), seconds(math.inf, window=window), n_frames=12)
    assert np.array_equal(result.labels, true.labels)
    assert np.array_equal(result.confidence, true.confidence)
    assert [own.n_frames for own in result.windows] == [own.n_frames for own in true.windows]
    assert not result.ledger.notes
    assert not result.ledger.work_left


@BOTH
def test_a_video_without_any_frame_is_an_error(make: Make) -> None:
    with pytest.raises(VideoError, match=r"^'street' has no frame; check the file$"):
        run(make(), _empty(street()), seconds(1.0), CLASSES, CostClock())


def _empty(source: VideoSource) -> VideoSource:
    clip = replace(source.clip, pixels=street().clip.pixels[:0], n_promised=9)  # type: ignore[attr-defined,type-var]
    return replace(source, clip=clip)


# Stopping


@BOTH
def test_a_run_that_is_stopped_at_once_has_labels_for_all_pixels(make: Make) -> None:
    (result,) = run(make(), street(), seconds(math.inf), CLASSES, CostClock(), lambda: True)
    assert result.labels.shape == SHAPE
    assert n_actions(result.ledger) <= 8  # one batch, so that there are labels of the content


@pytest.mark.parametrize("n", [1, 3, 10, 30])
def test_frames_that_are_stopped_at_any_time_show_what_is_in_them(n: int) -> None:
    (result,) = run(frames_space(), street(), seconds(math.inf), CLASSES, CostClock(), after(n))
    assert n_actions(result.ledger) > 0
    assert all(len(np.unique(labels)) > 1 for labels in result.labels)
    assert result.ledger.work_left


@pytest.mark.parametrize(("budget_s", "n_asked"), [(0.015, 1), (0.03, 2), (0.06, 5)])
def test_where_no_window_can_pay_for_a_question_the_whole_budget_does(budget_s: float, n_asked: int) -> None:
    request = seconds(budget_s, window=2)
    (result,) = run(frames_space(), slides(), request, CLASSES, CostClock())
    assert len(result.windows) == 8
    asked = [window for window in result.windows if window.events]
    assert n_asked <= len(asked) < 8
    assert all(len(np.unique(labels)) > 1 for labels in result.labels)
    assert result.ledger.spent_s <= budget_s + 0.01  # a question too many would be cut off by another clock
    assert result.ledger.notes[-1].startswith("no time for ")


def test_where_windows_can_pay_for_more_a_glance_takes_a_small_share_of_the_budget() -> None:
    (result,) = run(frames_space(), slides(), seconds(0.6, window=2), CLASSES, CostClock())
    glances = [event for window in result.windows for event in window.events if event.at_s < 0.06]
    assert 1 <= len(glances) <= 6
    assert all(len(window.events) > 1 for window in result.windows)


def test_frames_of_a_window_that_was_not_reached_have_labels_of_their_window() -> None:
    (result,) = run(frames_space(), slides(), seconds(math.inf, window=4), CLASSES, CostClock(), after(20))
    (event,) = result.windows[-1].events
    assert result.windows[-1].read == ()
    assert (result.labels[12:] == result.labels[12 + event.place]).all()
    (small,) = label(frames_space(), seconds(math.inf, window=4))
    assert np.mean(result.labels[12 + event.place] == small.labels[12 + event.place]) > 0.7
    assert not np.array_equal(result.labels[12], result.labels[11])
    assert STOPPED in result.ledger.notes


@BOTH
def test_a_run_that_is_stopped_in_the_middle_leaves_the_rest_with_the_nearest_labels(make: Make) -> None:
    space = make()
    (result,) = run(space, street(), seconds(math.inf, window=4), CLASSES, CostClock(), after(9))
    assert n_actions(result.ledger) > 0
    assert result.labels.shape == SHAPE
    assert (result.labels[4:] == result.labels[3]).all()
    assert (result.confidence[4:] == space.prior.max()).all()
    assert len(np.unique(result.labels[:4])) > 1
    filled = "no time for 12 frames: labels there are those of the nearest frame that has some"
    assert result.ledger.notes == [filled, STOPPED]
    assert result.ledger.work_left


@BOTH
def test_what_a_stopped_run_has_filled_is_filled_again_by_its_replay(make: Make) -> None:
    request = seconds(math.inf, window=4)
    first = run(make(), street(), request, CLASSES, CostClock(), after(4))
    check_same(first, again(make(), request, first))


# Accounts


@BOTH
@pytest.mark.parametrize("window", [None, 5])
@pytest.mark.parametrize("k", [0, 1, 2])
def test_stages_add_up_to_what_was_spent(make: Make, window: int | None, k: int) -> None:
    budget_s = ENOUGH[make][k]
    clock = CostClock()
    (result,) = label(make(), seconds(budget_s, window=window), clock)
    ledger = result.ledger
    assert ledger.spent_s == pytest.approx(clock.now_s())
    assert stages_s(ledger) == pytest.approx(ledger.spent_s)
    assert ledger.stages[make().stage].spent_s == pytest.approx(ledger.sources_s)


@BOTH
def test_under_prices_that_are_true_what_was_planned_is_what_was_spent(make: Make) -> None:
    (result,) = label(make(), seconds(math.inf))
    for name, entry in (result.ledger.stages | result.ledger.sources).items():
        assert entry.planned_s == pytest.approx(entry.spent_s), name


@BOTH
def test_the_loop_has_a_stage_of_its_own_and_its_sources_are_counted(make: Make) -> None:
    space = make()
    (result,) = label(space, seconds(0.3))
    assert space.stage in result.ledger.stages
    for number, name in enumerate(space.sources):
        n = sum(event.source == number for event in events_of(result))
        assert n == (result.ledger.sources[name].count if name in result.ledger.sources else 0)
    assert result.ledger.sources_s == pytest.approx(sum(event.spent_s for event in events_of(result)))


@BOTH
def test_a_run_under_frozen_prices_repeats(make: Make) -> None:
    request = seconds(*ENOUGH[make], window=8)
    first, second = (label(make(), request) for _ in range(2))
    check_same(first, second)
    assert events_of(first[-1]) == events_of(second[-1])
    assert [result.ledger for result in first] == [result.ledger for result in second]


@pytest.mark.parametrize(
    ("make", "amount"),
    [
        (frames_space, 0.1),
        (frames_space, 0.4),
        (frames_space, math.inf),
        (regions_space, 0.018),
        (regions_space, math.inf),
    ],
)
def test_two_threads_label_as_one(make: Make, amount: float) -> None:
    one, two = (label(make(threads=threads), seconds(amount)) for threads in (1, 2))
    check_same(one, two)
    assert events_of(one[0]) == events_of(two[0])
    assert one[0].ledger.spent_s == two[0].ledger.spent_s


@BOTH
def test_large_memory_for_labels_is_made_ready_beside_the_budget(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = ManualClock()

    def slowly(n_frames: int, size: tuple[int, int], value: int, most_bytes: int) -> UInt8:
        clock.advance(0.5)
        return room_for(n_frames, size, value, most_bytes)

    monkeypatch.setattr(module, "room_for", slowly)
    monkeypatch.setattr(module, "LabelMemory", partial(LabelMemory, unpaid_bytes=1000))
    (result,) = label(make(), seconds(math.inf), clock)
    n_bytes = math.prod(SHAPE)
    assert result.ledger.notes == [f"memory for labels, {n_bytes / 1e9:.2g} GB, was allocated outside the budget"]
    assert result.ledger.spent_s == 0


# Doing it again


@BOTH
@pytest.mark.parametrize("window", [None, 5])
@pytest.mark.parametrize("n_budgets", [1, 3])
def test_a_replay_is_identical_to_the_pixel(make: Make, window: int | None, n_budgets: int) -> None:
    request = seconds(*ENOUGH[make][:n_budgets], window=window, explain=True)
    results = label(make(), request)
    others = again(make(), request, results)
    check_same(results, others)
    for result, other in zip(results, others, strict=True):
        for own, replayed in zip(result.evidence, other.evidence, strict=True):
            _check_evidence(own, replayed)


def _check_evidence(own: object, other: object) -> None:
    assert type(own) is type(other)
    if isinstance(own, FrameEvidence) and isinstance(other, FrameEvidence):
        names = ("cells", "key_frames", "networks")
    else:
        names = ("subsets", "probabilities", "labels")
    for name in names if own is not None else ():
        assert np.array_equal(getattr(own, name), getattr(other, name)), name


@BOTH
@pytest.mark.parametrize("budget_s", [0.004, 0.008, 0.015, 0.02])
def test_so_is_one_of_a_run_that_had_to_do_without_much(make: Make, budget_s: float) -> None:
    request = seconds(budget_s)
    results = label(make(rates={"decode .film": 1e-7}), request)
    check_same(results, again(make(), request, results))


@BOTH
def test_so_is_one_of_a_run_that_was_stopped(make: Make) -> None:
    request = seconds(math.inf, window=4)
    results = run(make(), street(), request, CLASSES, CostClock(), after(4))
    check_same(results, again(make(), request, results))


@BOTH
def test_so_is_one_of_a_run_on_two_threads(make: Make) -> None:
    request = seconds(0.3)
    results = label(make(threads=2), request)
    check_same(results, again(make(threads=1), request, results))


@BOTH
def test_budgets_that_are_over_before_there_are_labels_do_not_change_those_of_others(make: Make) -> None:
    request = seconds(1e-5, 0.3)
    results = label(make(), request)
    assert results[0].windows[0].finishes[0].prior
    assert (results[0].labels == make().prior.argmax()).all()
    check_same(results, again(make(), request, results))


@pytest.mark.parametrize("n_moves", [1, 2, 3])
def test_an_expansion_that_was_cut_short_is_cut_at_the_same_place(
    monkeypatch: pytest.MonkeyPatch, n_moves: int
) -> None:
    request, close = seconds(math.inf), Closing.__call__

    def close_early(self: Closing, state: object, inputs: object, account: object, _: object) -> object:
        asked = iter(range(1, 1000))
        return close(self, state, inputs, account, lambda: next(asked) >= n_moves)  # type: ignore[arg-type]

    with monkeypatch.context() as patch:
        patch.setattr(Closing, "__call__", close_early)
        results = label(regions_space(), request)
    assert results[0].windows[0].finishes[0].n_moves == n_moves
    check_same(results, again(regions_space(), request, results))


def test_frames_for_which_there_was_no_time_are_those_of_the_replay(monkeypatch: pytest.MonkeyPatch) -> None:
    clock, request = ManualClock(), seconds(0.1, explain=True)
    with monkeypatch.context() as patch:
        for name in ("paint", "paint_edges"):
            patch.setattr(painter, name, _slowed(getattr(painter, name), clock))
        results = label(frames_space(), request, clock)
    (finish,) = results[0].windows[0].finishes
    assert 0 < len(finish.late) < N_FRAMES
    check_same(results, others := again(frames_space(), request, results))
    _check_evidence(results[0].evidence[0], others[0].evidence[0])


def _slowed(paint: Callable[..., None], clock: ManualClock) -> Callable[..., None]:
    def slowly(*words: object) -> None:
        clock.advance(0.015)
        paint(*words)

    return slowly


def test_a_trace_that_does_not_fit_the_video_is_refused() -> None:
    results = label(regions_space(), seconds(math.inf))
    (window,) = results[0].windows
    wrong = replace(window, n_places=10**6)
    with pytest.raises(UsageError, match=r"^the trace does not fit the video; label it again$"):
        again(regions_space(), seconds(1.0), [replace(results[0], windows=[wrong])])


def test_a_network_that_fails_now_cannot_be_asked_again() -> None:
    results = label(frames_space(), seconds(math.inf))
    space = frames_space()
    broken = replace(space, networks={**space.networks, "large": Shades(fails_after=3)})
    with pytest.raises(UsageError, match=r"^large failed \(RuntimeError: no more\); this run cannot be repeated$"):
        again(broken, seconds(1.0), results)


# Going on


@BOTH
@pytest.mark.parametrize("window", [None, 5])
def test_a_run_goes_on_from_another_and_does_nothing_twice(make: Make, window: int | None) -> None:
    first = label(make(), seconds(ENOUGH[make][1], window=window))
    (more,) = label(make(), seconds(math.inf, window=window), earlier=earlier_of(first))
    before, done = events_of(first[-1]), events_of(more)
    assert 0 < len(before) < len(done)
    for own, other in zip(first[-1].windows, more.windows, strict=True):
        assert list(other.events[: len(own.events)]) == list(own.events)
    actions = [(k, event.place, event.source) for k, own in enumerate(more.windows) for event in own.events]
    assert len(actions) == len(set(actions))
    assert n_actions(more.ledger) == len(done) - len(before)


@BOTH
def test_going_on_leads_to_what_one_run_would_have_found(make: Make) -> None:
    first = label(make(), seconds(ENOUGH[make][1]))
    (more,) = label(make(), seconds(math.inf), earlier=earlier_of(first))
    (whole,) = label(make(), seconds(math.inf))
    assert {(event.place, event.source) for event in events_of(whole)} <= {
        (event.place, event.source) for event in events_of(more)
    }
    if make is regions_space:
        assert np.array_equal(more.labels, whole.labels)
    assert not np.array_equal(first[-1].labels, more.labels)


@BOTH
def test_what_the_earlier_run_had_paid_for_is_not_paid_again(make: Make) -> None:
    first = label(make(), seconds(ENOUGH[make][1]))
    clock = CostClock()
    (more,) = label(make(), seconds(0.02), clock, earlier_of(first))
    assert more.ledger.spent_s == clock.now_s() <= 0.02
    assert stages_s(more.ledger) == pytest.approx(more.ledger.spent_s)
    note = "actions of the earlier run were repeated, outside the budget"
    assert (note in more.ledger.notes) == (make is frames_space)


def test_supervoxels_of_an_earlier_run_are_not_cut_again(monkeypatch: pytest.MonkeyPatch) -> None:
    first = label(regions_space(), seconds(0.018))
    monkeypatch.setattr("budgetseg.spaces.regions.state.Segmenter", None)
    (more,) = label(regions_space(), seconds(math.inf), earlier=earlier_of(first))
    assert not more.ledger.work_left


@BOTH
def test_a_run_that_went_on_from_another_can_be_done_again(make: Make) -> None:
    first = label(make(), seconds(ENOUGH[make][0]))
    request = seconds(0.1, 0.2)
    results = label(make(), request, earlier=earlier_of(first))
    check_same(results, again(make(), request, results))


@BOTH
def test_a_run_that_was_stopped_is_gone_on_from_to_the_end_of_the_video(make: Make) -> None:
    request = seconds(math.inf, window=4)
    first = run(make(), street(), request, CLASSES, CostClock(), after(4))
    (more,) = label(make(), request, earlier=earlier_of(first))
    assert [window.n_frames for window in more.windows] == [4, 4, 4, 4]
    assert not more.ledger.work_left
    assert not more.ledger.notes or make is frames_space


def test_windows_are_no_longer_because_the_earlier_run_left_frames_out() -> None:
    request = seconds(math.inf, window=4)
    (first,) = run(frames_space(), street(), request, CLASSES, CostClock(), after(4))
    earlier = Earlier(replace(first.plan, stride=4), first.windows)
    (more,) = label(frames_space(), request, earlier=earlier)
    assert [window.n_frames for window in more.windows] == [4, 4, 4, 4]


# Explaining


def test_whole_frames_tell_key_frame_and_network_of_every_cell_on_request() -> None:
    (result,) = label(frames_space(), seconds(0.5, explain=True))
    (own,), (window,) = result.evidence, result.windows
    assert isinstance(own, FrameEvidence)
    assert own.key_frames is not None
    assert own.networks is not None
    assert own.key_frames.shape == own.networks.shape == own.cells.shape == (N_FRAMES, 16, 24)
    asked = {(event.place, event.source) for event in window.events}
    named = set(zip(own.key_frames.ravel().tolist(), own.networks.ravel().tolist(), strict=True))
    assert named <= asked
    assert len(named) > 4
    for place in (place for place, network in asked if network == 1):
        assert np.mean(own.key_frames[place] == place) > 0.9  # what the dearer network saw is its own evidence


def test_labels_that_were_copied_tell_the_frame_that_they_are_from() -> None:
    (result,) = label(frames_space(rates={"frames flow": 1e-3}), seconds(0.1, explain=True))
    (own,), (window,) = result.evidence, result.windows
    assert window.finishes[0].carry == "copy"
    assert isinstance(own, FrameEvidence)
    assert own.key_frames is not None
    asked = np.array(sorted({event.place for event in window.events}))
    for t, frames in enumerate(own.key_frames):
        assert np.abs(asked - t).min() == abs(int(frames.flat[0]) - t)
        assert len(np.unique(frames)) == 1


def test_explaining_takes_nothing_of_the_budget_and_changes_no_label() -> None:
    plain, explained = (label(frames_space(), seconds(0.3, explain=explain)) for explain in (False, True))
    check_same(plain, explained)
    assert plain[0].ledger.spent_s == explained[0].ledger.spent_s
    assert isinstance(plain[0].evidence[0], FrameEvidence)
    assert plain[0].evidence[0].key_frames is None


def test_regions_tell_descriptors_and_probabilities_of_every_supervoxel() -> None:
    (result,) = label(regions_space(), seconds(0.018))
    (own,), (window,) = result.evidence, result.windows
    assert isinstance(own, RegionEvidence)
    subsets = np.zeros(window.n_places, np.int32)
    np.bitwise_or.at(subsets, [event.place for event in window.events], [1 << event.source for event in window.events])
    assert np.array_equal(own.subsets, subsets)
    assert np.allclose(own.probabilities.sum(axis=1), 1, atol=1e-5)
    assert np.array_equal(own.labels[own.supervoxels.ids], result.labels)
    assert np.array_equal(own.certainty[own.supervoxels.ids], result.confidence)


@BOTH
def test_confidence_is_a_probability_at_every_pixel(make: Make) -> None:
    (result,) = label(make(), seconds(0.3, window=5))
    assert result.confidence.dtype == np.float32
    assert result.confidence.shape == SHAPE
    assert 0 < result.confidence.min() < result.confidence.max() <= 1


@BOTH
def test_confidence_is_that_of_the_prior_where_no_window_came(make: Make) -> None:
    (result,) = label(make(), seconds(0.3, window=8))
    few = replace(result, windows=result.windows[:1], evidence=result.evidence[:1])
    assert np.array_equal(few.confidence[:8], result.confidence[:8])
    assert (few.confidence[8:] == np.float32(result.least)).all()
    none = WindowTrace(8, (), SHAPE[1:], 0, (), ())
    late = replace(result, windows=[none, result.windows[1]], evidence=[None, result.evidence[1]])
    assert np.array_equal(late.confidence[8:], result.confidence[8:])
    assert (late.confidence[:8] == np.float32(result.least)).all()
