"""The compiled loop takes the decisions of the plain one."""

import numpy as np
import pytest

from budgetseg.policy.episode import Episode, Selection
from budgetseg.policy.features import n_features
from budgetseg.policy.linear import LinearPolicy, plan_policy, random_policy
from budgetseg.policy.steps import ORDERS
from budgetseg.simulate import Arena, act, play
from budgetseg.simulate.simulate import no_times
from budgetseg.simulate.table import TableState, play_plain
from budgetseg.timing.clock import CostClock
from budgetseg.types import Action, Batch
from tests.simulate.arenas import NAMES, random_arena

D, L = len(NAMES), 3


def learned(extended: bool, seed: int) -> LinearPolicy:
    rng = np.random.default_rng(seed)
    return LinearPolicy(rng.normal(size=(D + 1, n_features(D, L, extended))).astype(np.float32), extended)


POLICIES = {
    "plan": plan_policy([0, 2], D, L),
    "random": random_policy(D, L),
    "paper": learned(False, 0),
    "extended": learned(True, 1),
}


def plain_run(episode: Episode, policy: LinearPolicy, arena: Arena) -> list[Action]:
    return [action for action, _ in play_plain(episode, arena.probabilities, policy)]


@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize(("start", "reopen"), [(1.0, True), (0.1, False)])
@pytest.mark.parametrize("costs", ["shared", "unshared"])
def test_decisions_and_costs_are_those_of_the_plain_loop(
    policy: str, order: str, start: float, reopen: bool, costs: str
) -> None:
    for seed, fraction in enumerate((0.0, 0.05, 0.4, np.inf)):
        arena = random_arena(40, seed, costs)
        budget_s = fraction * arena.full_s(NAMES)
        ours = arena.begin(budget_s, NAMES, Selection(order, start, reopen), seed)
        plain, times_s = ours.copy(), no_times(ours)
        play(ours, arena.probabilities, POLICIES[policy], times_s)
        choices = plain_run(plain, POLICIES[policy], arena)
        for name in ours.state._fields:
            assert np.array_equal(getattr(ours.state, name), getattr(plain.state, name)), name
        when = times_s.ravel()
        found = [divmod(int(cell), D) for cell in np.argsort(when) if np.isfinite(when[cell])]
        assert found == choices
        assert ours.spent_s <= budget_s
        assert when[np.isfinite(when)].max(initial=0) == ours.spent_s


def test_what_h_says_is_that_of_all_that_was_computed() -> None:
    arena = random_arena()
    episode = arena.begin(0.5 * arena.full_s(NAMES), NAMES)
    play(episode, arena.probabilities, POLICIES["random"])
    state = episode.state
    known = state.subsets > 0
    assert known.any()
    assert np.array_equal(state.probabilities[known], arena.probabilities[np.flatnonzero(known), state.subsets[known]])


@pytest.mark.parametrize("action", range(D + 1))
def test_an_action_is_what_the_loop_would_have_done(action: int) -> None:
    arena = random_arena()
    ours = arena.begin(2.0, NAMES)
    plain = ours.copy()
    region = ours.select()
    assert region is not None
    act(ours, arena.probabilities, region, action)
    assert plain.select() == region
    if action == D:
        plain.finish(region)
    else:
        table = TableState(plain, arena.probabilities, CostClock())
        batch = Batch.of([Action(region, action)], [plain.start(Action(region, action))])
        table.add(batch, table.do(batch))
    for name in ours.state._fields:
        assert np.array_equal(getattr(ours.state, name), getattr(plain.state, name)), name
