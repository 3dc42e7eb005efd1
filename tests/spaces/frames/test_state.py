"""One window by frames: what is read, asked and learned, and labels that follow from its trace."""

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest

from budgetseg.engine.loop import LATE, Outcome
from budgetseg.engine.result import Result
from budgetseg.engine.run import Earlier, replay
from budgetseg.engine.trace import WindowTrace
from budgetseg.errors import ModelError
from budgetseg.propagate.settings import Propagation
from budgetseg.propagate.timeline import Distances
from budgetseg.spaces.frames.costs import COPY, FLOW
from budgetseg.spaces.frames.evidence import FrameEvidence
from budgetseg.spaces.frames.settings import FrameSettings
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.state import FrameState, Prediction
from budgetseg.timing.clock import CostClock, ManualClock
from budgetseg.timing.prices import Prices
from budgetseg.types import Action, Batch, Budget, Float32, UInt8
from budgetseg.video import VideoSource
from tests.spaces.clocks import Machine, quiet_prices
from tests.spaces.frames.worlds import (
    CELLS,
    CLASSES,
    PRIOR,
    SECONDS,
    SIZE,
    TableNetwork,
    counts,
    film,
    label,
    open_state,
    rates_of,
    request_of,
    shades,
    slides,
    space_of,
    street,
    with_network,
    work_takes_time,
)

N = 24
FRAMES = street(N)
SHAPE = (N, *SIZE[::-1])
SMALL, LARGE = range(2)


EVEN = FrameSettings(distances=Distances(usual=1e9, cut=1e9), flow_share=1.0)
"""Frames lie evenly, whatever changes: plans are the same before and after flow was found."""


def prepared(
    end_s: float,
    video: VideoSource | None = None,
    prices: Prices | None = None,
    settings: FrameSettings | None = None,
) -> FrameState:
    """A window that was made ready by the clock of its prices."""
    space = replace(space_of(FRAMES, prices=prices), settings=settings or FrameSettings())
    state = open_state(space, video or slides(FRAMES), CostClock())
    assert state.prepare(end_s, end_s)
    return state


# Reading


@pytest.mark.parametrize("of", [slides, film])
def test_where_there_is_time_all_frames_are_read_and_flow_is_found_between_them(
    of: Callable[[UInt8], VideoSource],
) -> None:
    state = prepared(np.inf, of(FRAMES))
    assert state.footage.numbers() == list(range(N))
    assert state.plan.carry == FLOW
    assert len(state.footage.steps()) == N - 1
    assert all(np.array_equal(state.footage.frames[t], FRAMES[t]) for t in range(N))


def test_where_time_is_short_every_so_many_frames_are_read_and_the_last() -> None:
    state = prepared(0.04)
    read, stride = state.footage.numbers(), state.plan.stride
    assert stride > 1
    assert read == sorted({*range(0, N, stride), N - 1})


def test_frames_in_memory_are_read_so_that_every_beginning_is_spread() -> None:
    state = prepared(np.inf)
    first = sorted(state.footage.read[:6])
    assert max(b - a for a, b in pairwise([*first, N])) <= 8


def test_a_film_is_read_in_order_and_none_of_its_frames_is_left_out_by_plan() -> None:
    assert prepared(0.06, film(FRAMES)).footage.read == list(range(N))


@pytest.mark.parametrize("window", [None, 10])
def test_a_film_with_fewer_frames_than_it_promises_has_labels_for_those_that_it_has(window: int | None) -> None:
    video = film(FRAMES, n_promised=N + 7)
    (result,) = label(space_of(FRAMES), video, request_of(np.inf, window=window), CostClock())
    assert result.labels.shape == SHAPE
    assert counts(result) == {"large": N}


def test_another_budget_reads_the_frames_between() -> None:
    state = prepared(0.04)
    n_before = len(state.footage.frames)
    state.prepare(np.inf, np.inf)
    assert n_before < len(state.footage.frames) == N
    assert len(state.footage.read) == len(set(state.footage.read)) == N


@pytest.mark.parametrize("first_s", [0.05, 0.06, 0.08])
def test_no_flow_is_found_in_vain_at_another_budget(first_s: float) -> None:
    """Flow over a gap is of no use once a frame between was read: plans count all new pairs."""
    for more_s in np.arange(0.02, 0.14, 0.004):
        state = prepared(first_s, settings=EVEN)
        clock, stages = state._account.clock, state._account.ledger.stages
        n_before = stages["flow"].count if "flow" in stages else 0
        state.prepare(clock.now_s() + more_s, clock.now_s() + more_s)
        n_after = stages["flow"].count if "flow" in stages else 0
        assert state.plan.carry == FLOW or n_after == n_before


def test_where_finding_flow_took_so_long_that_there_is_no_time_to_fuse_labels_are_copied(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    machine = Machine(SECONDS, {"flow": 7.2})
    work_takes_time(monkeypatch, machine)
    space = space_of(FRAMES, machine)
    surprised = replace(space, settings=replace(space.settings, probes=0))
    state = open_state(surprised, slides(FRAMES, machine), machine.clock)
    assert state.prepare(0.12, 0.12)
    assert machine.done["flow"] == len(state.footage.read) - 1
    assert state.plan.carry == COPY


def test_while_nothing_is_predicted_the_end_is_one_prediction_copied_to_all_frames() -> None:
    state = prepared(np.inf)
    assert state.plan.carry == FLOW
    assert state.finish_s() == pytest.approx(SECONDS["pixels"] + (N - 1) * SECONDS["copies"])
    state.add(batch_of(5, SMALL), Outcome(Prediction.of(shades(FRAMES[5])), np.zeros(1), np.zeros(1)))
    assert state.finish_s() > N * SECONDS["pixels"]


def test_a_frame_that_was_not_read_moves_like_its_neighbours_and_beyond_the_ends_nothing_moves() -> None:
    state = open_state(space_of(FRAMES), slides(FRAMES))
    state.footage.frames = {t: FRAMES[t] for t in (4, 8, 10)}
    state.footage.find_flow(np.inf)
    steps = state.footage.steps()
    assert len(steps) == N - 1
    assert all(not steps[t].any() for t in (*range(4), *range(10, N - 1)))
    for t in (5, 6, 7):
        assert steps[t] is steps[4]
    assert steps[8] is steps[9]
    assert steps[4].any()


def test_distances_follow_from_the_rate_until_frames_were_compared() -> None:
    state = open_state(space_of(FRAMES), slides(FRAMES, rate=1.0))
    assert state.footage.step() == pytest.approx(state._space.settings.distances.by_rate(1.0))
    state.prepare(np.inf, np.inf)
    assert state.footage.step() < 1.5  # a street at 25 frames a second, whatever the file says


def test_frames_of_a_street_lie_far_from_each_other_where_most_were_left_out() -> None:
    frames = street(96)[::32]
    state = open_state(space_of(frames), slides(frames))
    state.prepare(np.inf, np.inf)
    assert state.timeline().step > 3


def test_after_a_cut_labels_come_from_the_shot_alone() -> None:
    frames = np.concatenate([street(12), 255 - street(12, seed=5)])
    state = open_state(space_of(frames), slides(frames))
    state.prepare(np.inf, np.inf)
    assert state.timeline().cuts == [12]
    for t in (2, 20):
        state.add(batch_of(t, SMALL), Outcome(Prediction.of(shades(frames[t])), np.zeros(1), np.zeros(1)))
    found = state.fusion_neighbours(state.timeline())
    assert found == [[(SMALL, 2)]] * 12 + [[(SMALL, 20)]] * 12


def test_grey_is_that_of_cells() -> None:
    assert prepared(np.inf).footage.grey(3).shape == CELLS


# Actions


def batch_of(place: int, network: int, planned_s: float = 0.0) -> Batch:
    return Batch.of([Action(place, network)], [planned_s])


def test_an_action_gives_the_prediction_of_a_network_for_a_frame() -> None:
    state = prepared(np.inf)
    outcome = state.do(batch_of(5, LARGE))
    assert not outcome.missing
    assert np.array_equal(outcome.values.top, (shades(FRAMES[5]) * state._space.class_weights).argmax(axis=2))
    state.add(batch_of(5, LARGE), outcome)
    assert list(state.predictions[LARGE]) == [5]
    assert not state.may_do(Action(5, LARGE))
    assert state.may_do(Action(5, SMALL))


class Odd(TableNetwork):
    """Gives what is no probability."""

    def __call__(self, frame: UInt8) -> Float32:
        return super().__call__(frame) * np.float32(np.nan)


@pytest.mark.parametrize(
    ("network", "line"),
    [
        (TableNetwork(FRAMES, fails_at=0), "large failed (RuntimeError: no more); dropped"),
        (Odd(FRAMES), "large failed (ArithmeticError: it gives NaN or infinity); dropped"),
    ],
)
def test_a_network_that_fails_is_dropped_with_a_note_and_the_other_labels(network: TableNetwork, line: str) -> None:
    space = with_network(space_of(FRAMES), large=network)
    (result,) = label(space, slides(FRAMES), request_of(np.inf), CostClock())
    assert result.ledger.notes == [line]
    assert counts(result) == {"small": N}
    assert len(network.asked) == 1
    assert not result.ledger.work_left


def test_where_every_network_fails_the_run_ends_with_a_line_and_without_labels() -> None:
    with pytest.raises(
        ModelError, match=r"'small' failed \(RuntimeError: no more\) on '.*', and no frame was predicted"
    ):
        label(space_of(FRAMES, fails_at=0), slides(FRAMES), request_of(1.0), CostClock())


def test_the_price_of_a_network_follows_what_it_took() -> None:
    prices = quiet_prices(rates_of())
    state = open_state(space_of(FRAMES, prices=prices), slides(FRAMES))
    state.prepare(np.inf, np.inf)
    answer = Prediction.of(shades(FRAMES[0]))
    for t in range(10):
        state.add(batch_of(t, SMALL), Outcome(answer, np.array([0.03]), np.zeros(1)))
    assert state.price_s(Action(0, SMALL)) == pytest.approx(0.03, rel=0.05)
    assert state.price_s(Action(0, LARGE)) == SECONDS["large"]


@pytest.mark.parametrize(("spent_s", "is_dearer"), [(0.005, False), (0.04, True)])
def test_one_that_was_cut_off_costs_at_least_what_it_took(spent_s: float, is_dearer: bool) -> None:
    prices = quiet_prices(rates_of())
    state = open_state(space_of(FRAMES, prices=prices), slides(FRAMES))
    state.prepare(np.inf, np.inf)
    state.add(batch_of(0, SMALL), Outcome(None, np.array([spent_s]), np.zeros(1), {0: LATE}))
    assert (state.price_s(Action(0, SMALL)) > SECONDS["small"]) == is_dearer
    assert state.price_s(Action(0, SMALL)) < 0.04


def test_nothing_is_learned_from_one_that_failed() -> None:
    prices = quiet_prices(rates_of())
    state = open_state(space_of(FRAMES, prices=prices), slides(FRAMES))
    state.prepare(np.inf, np.inf)
    state.add(batch_of(0, SMALL), Outcome(None, np.array([3.0]), np.zeros(1), {0: "failed"}))
    assert state.price_s(Action(0, SMALL)) == SECONDS["small"]


# What is left


def test_the_cheapest_network_that_is_left_is_the_next_with_its_margin() -> None:
    state = prepared(np.inf)
    assert state.next_s() == pytest.approx(state.margins.action * SECONDS["small"])


def test_nothing_is_left_when_the_dearest_network_has_seen_every_frame() -> None:
    state = prepared(np.inf)
    answer = Prediction.of(shades(FRAMES[0]))
    for t in range(N):
        assert state.next_s() > 0
        state.add(batch_of(t, LARGE), Outcome(answer, np.zeros(1), np.zeros(1)))
    assert state.next_s() == 0


def test_everything_is_reading_flow_the_dearest_network_on_all_frames_and_labels_along_edges() -> None:
    state = open_state(space_of(FRAMES), slides(FRAMES))
    least_s = N * (SECONDS["decode"] + SECONDS["large"] + SECONDS["pixels"] + SECONDS["edges"])
    n_fused = 2 * Propagation.reach + 1
    most_s = least_s + N * (SECONDS["looking"] + SECONDS["flow"] + n_fused * SECONDS["fusing"])
    assert least_s < state.full_s("total") <= most_s + 1e-9


def test_a_share_is_of_what_everything_would_cost() -> None:
    space, video = space_of(FRAMES), slides(FRAMES)
    full_s = open_state(space, video).full_s("total")
    request = replace(request_of(1.0), budgets=(Budget(0.4, is_share=True),))
    (result,) = label(space, video, request, CostClock())
    assert result.ledger.budget_s == pytest.approx(0.4 * full_s)
    assert 0.85 * 0.4 * full_s < result.ledger.spent_s <= 0.4 * full_s


# Runs


def labelled(
    *seconds: float, window: int | None = None, space: Frames | None = None, frames: UInt8 = FRAMES
) -> list[Result]:
    """Results of a run by the clock of its prices."""
    return label(space or space_of(frames), slides(frames), request_of(*seconds, window=window), CostClock())


def test_less_time_means_fewer_key_frames_then_the_small_network_then_the_prior() -> None:
    asked = [counts(labelled(seconds)[0]) for seconds in (10.0, 0.5, 0.08, 0.001)]
    assert asked[0] == {"large": N}
    assert 0 < asked[1]["large"] < N
    assert asked[2].keys() == {"small"}
    assert asked[3] == {}
    (last,) = labelled(0.001)
    assert last.ledger.notes[-1] == "no time for a prediction: all is the most frequent class"
    assert (last.labels == PRIOR).all()
    assert last.ledger.work_left


@pytest.mark.parametrize("seconds", [0.03, 0.1, 0.3, 1.0])
def test_under_a_simulated_clock_the_budget_is_used_and_kept(seconds: float) -> None:
    (result,) = labelled(seconds)
    ledger = result.ledger
    assert ledger.overrun_s == 0
    assert ledger.work_left
    assert seconds - ledger.spent_s < ledger.next_s + 0.05 * seconds  # what is left over is too short for the next
    assert not ledger.notes


def test_the_same_run_twice_under_a_simulated_clock_is_the_same() -> None:
    first, second = (labelled(0.3)[0] for _ in range(2))
    assert first.windows[0].events == second.windows[0].events
    assert np.array_equal(first.labels, second.labels)


def test_several_budgets_come_of_one_run_and_each_keeps_what_the_one_before_has_asked() -> None:
    results = labelled(0.1, 0.3, 2.5)
    first, second, third = (result.ledger for result in results)
    assert first.spent_s <= 0.1 < second.spent_s <= 0.3 < third.spent_s <= 2.5
    ends = [finish.n_events for finish in results[0].windows[0].finishes]
    assert ends == sorted(ends)
    assert ends[-1] == len(results[0].windows[0].events) == sum(counts(results[-1]).values())
    assert counts(results[-1])["large"] == N
    assert len({(event.place, event.source) for event in results[0].windows[0].events}) == ends[-1]


def test_more_time_is_closer_to_the_network_on_every_frame() -> None:
    space, frames = space_of(street(40), names=("small",)), street(40)
    whole = labelled(np.inf, space=space, frames=frames)[0].labels
    shares = [float(np.mean(labelled(s, space=space, frames=frames)[0].labels == whole)) for s in (0.05, 0.15, 0.5)]
    assert shares == sorted(shares)
    assert shares[0] < shares[-1]
    assert shares[-1] > 0.99


@pytest.mark.parametrize("n_frames", [1, 2, 3])
@pytest.mark.parametrize("seconds", [0.02, 1.0, np.inf])
def test_the_shortest_videos_get_labels_too(n_frames: int, seconds: float) -> None:
    (result,) = labelled(seconds, frames=street(n_frames))
    assert result.labels.shape == result.confidence.shape == (n_frames, *SIZE[::-1])
    assert result.labels.max() < 3
    assert counts(result)


def test_long_videos_are_labelled_in_windows_that_share_the_budget_by_frames() -> None:
    (result,) = labelled(2.0, window=10, frames=street(30))
    assert [window.n_frames for window in result.windows] == [10, 10, 10]
    assert result.ledger.spent_s <= 2.0
    spent_s = [sum(event.spent_s for event in window.events) for window in result.windows]
    assert max(spent_s) <= 1.25 * min(spent_s)
    whole = labelled(np.inf, frames=street(30))[0]
    assert np.mean(result.labels == whole.labels) > 0.9


def test_a_run_that_is_stopped_has_labels_for_all_pixels_and_says_so() -> None:
    asked = iter([False] * 4)
    (result,) = label(
        space_of(FRAMES),
        slides(FRAMES),
        request_of(np.inf, window=8),
        CostClock(),
        stopped=lambda: next(asked, True),
    )
    assert result.labels.shape == SHAPE
    assert 0 < sum(counts(result).values()) < 6
    assert all(len(np.unique(labels)) > 1 for labels in result.labels)
    assert result.ledger.notes[-1] == "stopped: labels are made from what was known by then"


def test_any_number_of_threads_finds_the_same_labels_without_a_bound() -> None:
    one = label(space_of(FRAMES), slides(FRAMES), request_of(np.inf), ManualClock())[0]
    three = label(space_of(FRAMES, threads=3), slides(FRAMES), request_of(np.inf), ManualClock())[0]
    assert sorted(event.place for event in three.windows[0].events) == list(range(N))
    assert np.array_equal(one.labels, three.labels)
    assert np.array_equal(one.confidence, three.confidence)


# Replaying and going on


def stored(windows: Sequence[WindowTrace]) -> list[WindowTrace]:
    """Traces as they come back from a file."""
    return [WindowTrace.from_dict(json.loads(json.dumps(window.as_dict()))) for window in windows]


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("window", [None, 7])
@pytest.mark.parametrize("seconds", [(0.3,), (0.05, 0.2, 1.0), (0.004, 0.4)], ids=str)
def test_a_trace_gives_the_same_labels_again_on_any_number_of_threads(
    seconds: tuple[float, ...], window: int | None, threads: int
) -> None:
    results, request = labelled(*seconds, window=window), request_of(*seconds, window=window)
    earlier = Earlier(results[-1].plan, stored(results[-1].windows))
    again = replay(space_of(FRAMES, threads=threads), slides(FRAMES), request, CLASSES, earlier, N)
    for before, after in zip(results, again, strict=True):
        assert np.array_equal(before.labels, after.labels)
        assert np.array_equal(before.confidence, after.confidence)


def test_a_replay_asks_what_was_asked_and_nothing_else() -> None:
    (first,) = labelled(0.3)
    space = space_of(FRAMES)
    earlier = Earlier(first.plan, first.windows)
    replay(space, slides(FRAMES), request_of(0.3), CLASSES, earlier, N)
    for k, network in enumerate(space.networks_in_order):
        assert isinstance(network, TableNetwork)
        assert network.asked == [event.place for event in first.windows[0].events if event.source == k]


def test_a_run_is_gone_on_from_beside_the_budget() -> None:
    (first,) = labelled(0.3)
    space = space_of(FRAMES)
    earlier = Earlier(first.plan, first.windows)
    (second,) = label(space, slides(FRAMES), request_of(0.3), CostClock(), earlier=earlier)
    n_before = len(first.windows[0].events)
    assert second.windows[0].events[:n_before] == first.windows[0].events
    assert len(second.windows[0].events) > n_before
    assert second.ledger.spent_s <= 0.3
    assert second.ledger.notes == ["actions of the earlier run were repeated, outside the budget"]
    again = replay(space_of(FRAMES), slides(FRAMES), request_of(0.3), CLASSES, Earlier(second.plan, second.windows), N)
    assert np.array_equal(again[0].labels, second.labels)


def test_where_it_is_asked_for_results_tell_where_labels_come_from_and_that_takes_no_time() -> None:
    video = slides(FRAMES)
    plain = label(space_of(FRAMES), video, request_of(0.4), CostClock())[0]
    (result,) = label(space_of(FRAMES), video, request_of(0.4, explain=True), CostClock())
    assert result.ledger.spent_s == plain.ledger.spent_s
    assert np.array_equal(result.labels, plain.labels)
    (evidence,) = result.evidence
    assert isinstance(evidence, FrameEvidence)
    assert evidence.key_frames is not None
    assert evidence.key_frames.shape == (N, *CELLS)
    assert set(np.unique(evidence.key_frames)) <= {event.place for event in result.windows[0].events}


def test_where_labels_are_copied_the_trace_says_so() -> None:
    (result,) = labelled(0.025)
    (finish,) = result.windows[0].finishes
    assert finish.carry == COPY
    assert finish.n_read == len(result.windows[0].read)
