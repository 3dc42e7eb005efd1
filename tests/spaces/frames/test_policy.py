"""Which network is asked about which frame: what was planned, the frames between, and nothing twice."""

from collections.abc import Callable

import numpy as np
import pytest

from budgetseg.engine.loop import LATE, Outcome
from budgetseg.engine.plan import Plan
from budgetseg.spaces.frames.state import FrameState, Prediction
from budgetseg.types import Action, Batch
from tests.spaces.frames.worlds import NETWORKS, SECONDS, open_state, shades, slides, space_of, street

N = 24
SMALL, LARGE = range(2)
FRAMES = street(N)
FAILED = "failed (RuntimeError: no more)"

Answer = Callable[[Action], str | None]
"""Why there is no prediction; None where there is one."""


def read_state(names: tuple[str, ...] = NETWORKS) -> FrameState:
    """A window all of whose frames were read, before anything was asked."""
    state = open_state(space_of(FRAMES, names=names), slides(FRAMES))
    assert state.prepare(np.inf, np.inf)
    return state


def asked(
    state: FrameState, left_s: float, most: int = 1000, answer: Answer = lambda _: None, spends: bool = True
) -> list[Action]:
    """What is chosen until nothing is, one after the other; predictions take what they are known to."""
    found: list[Action] = []
    while len(found) < most:
        batch = state.choose(left_s)
        if batch.n_actions == 0:
            break
        (action,) = batch.actions
        found.append(action)
        left_s -= float(batch.planned_s[0]) if spends else 0.0
        why = answer(action)
        values = Prediction.of(shades(FRAMES[action.place])) if why is None else None
        state.add(batch, Outcome(values, batch.planned_s, np.zeros(1), {} if why is None else {0: why}))
    return found


def test_without_a_bound_the_dearest_network_sees_every_frame_once() -> None:
    found = asked(read_state(), np.inf)
    assert sorted(found) == [Action(t, LARGE) for t in range(N)]


def test_key_frames_are_spread_and_come_before_the_frames_between() -> None:
    state = read_state()
    found = asked(state, 0.4)
    assert {action.source for action in found} <= {SMALL, LARGE}
    assert len(found) == len(set(found))
    places = sorted({action.place for action in found})
    gaps = np.diff([-1, *places, N])
    assert gaps.max() <= 2.5 * N / len(places)


def test_first_both_networks_see_one_frame_and_one_of_them_the_next_key_frame() -> None:
    state = read_state()
    first, second, third = asked(state, 0.6, most=3)
    assert first.place == second.place
    assert {first.source, second.source} == {SMALL, LARGE}
    keys = {action.place for action in asked(state, 0.5)}
    assert all(abs(third.place - first.place) <= abs(key - first.place) for key in keys - {first.place})


def test_where_a_second_network_would_take_much_of_the_time_no_frame_is_seen_twice() -> None:
    found = asked(read_state(), 0.12)
    assert len({action.place for action in found}) == len(found)


def test_where_everything_will_be_done_nothing_is_tried_before() -> None:
    found = asked(read_state(), np.inf)
    assert {action.source for action in found} == {LARGE}


def test_a_network_that_turns_out_no_better_is_left_for_last() -> None:
    state = read_state()  # both networks say the same
    found = asked(state, 0.6)
    last_small = max(k for k, action in enumerate(found) if action.source == SMALL)
    n_large_before = sum(action.source == LARGE for action in found[:last_small])
    assert {action.place for action in found if action.source == SMALL} == set(range(N))
    assert n_large_before <= 2


@pytest.mark.parametrize("n", [2, 4, 8])
def test_every_beginning_is_spread(n: int) -> None:
    places = sorted(action.place for action in asked(read_state(), np.inf, most=n))
    assert np.diff([-N // (2 * n), *places, N + N // (2 * n)]).max() <= 2 * N / n + 1


def test_frames_that_were_not_read_are_asked_about_where_time_is_left_and_cost_their_reading() -> None:
    state = open_state(space_of(FRAMES, names=("small",)), slides(FRAMES))
    state.footage.read_again(range(0, N, 2))
    assert state.price_s(Action(2, SMALL)) == SECONDS["small"]
    assert state.price_s(Action(1, SMALL)) == pytest.approx(SECONDS["small"] + SECONDS["decode"])
    places = [action.place for action in asked(state, np.inf)]
    assert set(places[: N // 2]) == set(range(0, N, 2))
    assert set(places[N // 2 :]) == set(range(1, N, 2))


def test_an_action_is_planned_with_the_price_of_its_network() -> None:
    batch = read_state().choose(10.0)
    (action,) = batch.actions
    assert batch.planned_s.tolist() == [SECONDS[NETWORKS[action.source]]]


def test_nothing_is_asked_that_does_not_fit_with_its_margin() -> None:
    state = read_state()
    asked(state, np.inf, most=2)
    assert asked(state, 1.05 * SECONDS["small"]) == []
    assert len(asked(state, 1.15 * SECONDS["small"])) == 1


def test_what_is_left_over_goes_to_a_cheaper_network_on_frames_that_none_has_seen() -> None:
    state = read_state()
    first = asked(state, 10.0, most=4)
    assert {action.source for action in first} == {LARGE}
    rest = asked(state, 0.045, spends=True)
    assert {action.source for action in rest} == {SMALL}
    assert len(rest) == 4
    assert {action.place for action in rest}.isdisjoint(action.place for action in first)


@pytest.mark.parametrize("names", [("small",), NETWORKS])
def test_where_nothing_is_known_and_nothing_fits_the_cheapest_network_is_tried_once(names: tuple[str, ...]) -> None:
    found = asked(read_state(names), 0.5 * SECONDS["small"], spends=False)
    assert [action.source for action in found] == [SMALL]


def test_where_the_first_network_fails_before_anything_is_known_the_next_is_tried_though_it_does_not_fit() -> None:
    found = asked(
        read_state(),
        0.5 * SECONDS["small"],
        spends=False,
        answer=lambda action: FAILED if action.source == SMALL else None,
    )
    assert [action.source for action in found] == [SMALL, LARGE]


def test_where_no_second_is_left_nothing_is_tried() -> None:
    assert asked(read_state(), 0.0) == []
    assert asked(read_state(), -1.0) == []


def test_when_the_first_predictions_have_shown_their_price_the_plan_is_made_again() -> None:
    state = read_state()
    state.choose(0.5)
    before = state.plan
    assert before.network == "large"
    state.add(
        Batch.of([Action(12, LARGE)], [SECONDS["large"]]),
        Outcome(Prediction.of(shades(FRAMES[12])), np.array([0.05]), np.zeros(1)),
    )
    state.choose(0.06)
    assert state.plan.n_keys != before.n_keys


def test_another_budget_is_planned_anew_and_asks_nothing_again() -> None:
    state = read_state()
    first = asked(state, 0.1)
    state.prepare(np.inf, np.inf)
    second = asked(state, np.inf)
    assert set(first).isdisjoint(second)
    assert {action.place for action in second if action.source == LARGE} | {
        action.place for action in first if action.source == LARGE
    } == set(range(N))


def test_a_later_budget_looks_at_its_plan_again_once_networks_were_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    state = read_state()
    n_known = len(asked(state, 0.2))
    plan_keys, planned_at = state.plan_keys, list[int]()

    def noted(left_s: float) -> Plan:
        planned_at.append(state.n_predictions)
        return plan_keys(left_s)

    monkeypatch.setattr(state, "plan_keys", noted)
    assert n_known > len(NETWORKS) + 1
    assert state.prepare(np.inf, np.inf)
    asked(state, 0.6)
    assert planned_at[:2] == [n_known, n_known + len(NETWORKS) + 1]


@pytest.mark.parametrize("after", [0, 3])
def test_where_a_network_fails_those_that_are_left_go_on(after: int) -> None:
    state, n_large = read_state(), 0

    def answer(action: Action) -> str | None:
        nonlocal n_large
        n_large += action.source == LARGE
        return FAILED if n_large > after and action.source == LARGE else None

    found = asked(state, np.inf, answer=answer)
    assert sum(action.source == LARGE for action in found) == after + 1
    assert sum(action.source == SMALL for action in found) >= N - after
    assert state.networks_left() == [SMALL]


def test_where_all_networks_fail_nothing_more_is_asked() -> None:
    state = read_state()
    found = asked(state, np.inf, answer=lambda _: FAILED)
    assert sorted(action.source for action in found) == [SMALL, LARGE]
    assert state.networks_left() == []
    assert state.n_under_way == 0


def test_a_prediction_that_was_late_may_be_asked_for_at_another_budget() -> None:
    state = read_state()
    batch = state.choose(10.0)
    (action,) = batch.actions
    assert not state.may_do(action)
    state.add(batch, Outcome(None, np.array([0.2]), np.zeros(1), {0: LATE}))
    assert state.may_do(action)
    assert state.n_under_way == 0
