"""Rollouts: actions of a state are compared under the same circumstances, and the run they branch off goes on."""

from typing import Any

import numpy as np
import pytest

from budgetseg.learning import rollouts
from budgetseg.learning.judge import Judge, Player, Trial
from budgetseg.learning.rollouts import RolloutRecipe, Visited, join_visited, roll_out
from budgetseg.policy.episode import Selection
from budgetseg.policy.features import n_features
from budgetseg.policy.linear import LinearPolicy, random_policy
from budgetseg.policy.view import allowed_actions, features_of
from budgetseg.simulate import act, advance, play, reward
from budgetseg.simulate.simulate import play_out
from tests.learning.toys import NAMES, toy_arena
from tests.simulate.arenas import NAMES as EVERY
from tests.simulate.arenas import random_arena

ALL = 10**6
ORDERS = ("random", "unsure", "wanted")


def any_policy(seed: int, extended: bool = True, noise: float = 0.0) -> LinearPolicy:
    rng, shape = np.random.default_rng(seed), (6, n_features(5, 3, extended))
    return LinearPolicy(rng.normal(size=shape).astype(np.float32), extended, noise)


def states_of(judge: Judge, player: Player, trial: Trial, start_from: Any = None) -> Visited:
    """Every state of a run in which there is a choice, and where each action leads with the seed of the run."""
    arena = judge.arenas[trial.arena]
    budget_s = trial.fraction * judge.full_s[trial.arena]
    episode = arena.begin(budget_s, judge.names, player.selection, trial.seed)
    features, scores = [], []
    while (choice := advance(episode, arena.probabilities, player.policy, 0)) is not None:
        allowed = allowed_actions(episode, choice[0])
        if allowed.sum() > 1:
            features.append(features_of(episode, choice[0], player.policy.extended))
            scores.append(np.full(len(allowed), np.nan))
            for action in np.flatnonzero(allowed):
                branch = episode.copy()
                act(branch, arena.probabilities, choice[0], int(action))
                play(branch, arena.probabilities, player.policy)
                scores[-1][action] = reward(arena, branch.state, start_from).score(judge.worth)
        act(episode, arena.probabilities, *choice)
    return Visited(np.array(features), np.array(scores))


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("noise", [0.0, 1.0])
def test_taking_decisions_one_by_one_is_playing(order: str, noise: float) -> None:
    for seed in range(3):
        arena, policy = random_arena(30, seed), any_policy(seed, noise=noise)
        played = arena.begin(0.3 * arena.full_s(EVERY), EVERY, Selection(order), seed)
        stepped, counted, n = played.copy(), played.copy(), 0
        play(played, arena.probabilities, policy)
        while (choice := advance(stepped, arena.probabilities, policy, 0)) is not None:
            act(stepped, arena.probabilities, *choice)
            n += 1
        assert play_out(counted, arena.probabilities, policy) == n
        for episode in (stepped, counted):
            for name in played.state._fields:
                assert np.array_equal(getattr(episode.state, name), getattr(played.state, name)), name


@pytest.mark.parametrize("n", [1, 7, 20])
@pytest.mark.parametrize("order", ORDERS)
def test_decisions_may_be_taken_several_at_once(n: int, order: str) -> None:
    arena, policy = random_arena(30), any_policy(0)
    one = arena.begin(0.3 * arena.full_s(EVERY), EVERY, Selection(order))
    other = one.copy()
    for _ in range(n):
        choice = advance(one, arena.probabilities, policy, 0)
        assert choice is not None
        act(one, arena.probabilities, *choice)
    assert advance(other, arena.probabilities, policy, n) == advance(one, arena.probabilities, policy, 0)
    for name in one.state._fields:
        assert np.array_equal(getattr(one.state, name), getattr(other.state, name)), name


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("extended", [True, False])
def test_states_are_those_of_the_players_own_run(order: str, extended: bool) -> None:
    judge = Judge([random_arena(25, seed) for seed in range(2)], EVERY, 0.5)
    player = Player(any_policy(1, extended, noise=0.5), Selection(order))
    for trial in judge.trials((0.05, 0.4), 1):
        found, every = roll_out(judge, player, [trial], RolloutRecipe(ALL, 1)), states_of(judge, player, trial)
        assert np.array_equal(found.features, every.features)
        assert np.array_equal(np.isnan(found.scores), np.isnan(every.scores))
        assert found.n_rollouts == np.isfinite(every.scores).sum()


def test_scores_are_those_of_the_run_to_the_end() -> None:
    judge = Judge([random_arena(25, seed) for seed in range(2)], EVERY, 0.5)
    player = Player(any_policy(1), Selection("wanted"))  # nothing is random
    for trial in judge.trials((0.05, 0.4), 1):
        own = judge.run(player, trial).labels
        found, every = roll_out(judge, player, [trial], RolloutRecipe(ALL)), states_of(judge, player, trial, own)
        assert np.array_equal(found.scores, every.scores, equal_nan=True)


def test_scores_by_hand() -> None:
    arena = toy_arena([1, 2], [4, 1], sizes=[30, 70])  # motion tells the small one, colour the large one
    never = np.zeros((5, n_features(4, 3, False)), np.float32)
    never[:4, 0] = -1
    player = Player(LinearPolicy(never), Selection("large", reopen=False))  # who finishes everybody at once
    found = roll_out(Judge([arena], NAMES, 0.0), player, [Trial(0, 0.25, 0)], RolloutRecipe())
    assert found.scores == pytest.approx(np.array([[0.7, 0, 0, 0, 0], [0, 0, 0.3, 0, 0]]))


@pytest.mark.parametrize("order", ["random", "unsure"])
def test_an_action_without_effect_scores_exactly_as_another_one(order: str) -> None:
    rng = np.random.default_rng(0)
    # Texture and the second kind of motion are free and tell nothing; the random policy does not ask for them.
    arena = toy_arena(
        rng.integers(0, 3, 40).tolist(),
        rng.choice([1, 4, 5], 40).tolist(),
        (1, 0, 1, 0),
        rng.integers(1, 99, 40).tolist(),
    )
    policy = random_policy(4, 3)
    policy.weights[[1, 3], 0] = -1e6
    judge = Judge([arena], NAMES, 0.5)
    found = roll_out(
        judge, Player(policy, Selection(order, reopen=False)), judge.trials((0.3,), 3), RolloutRecipe(20, 3)
    )
    assert len(found.scores) > 50
    both = np.isfinite(found.scores[:, [1, 3]]).all(axis=1)
    assert np.array_equal(found.scores[both, 1], found.scores[both, 3])
    assert both.sum() > 30
    assert (found.scores[:, 0] != found.scores[:, 1]).any()
    again = [
        roll_out(judge, Player(policy, Selection(order, reopen=False)), [t], RolloutRecipe(20, 3))
        for t in judge.trials((0.3,), 3)
    ]
    assert np.array_equal(join_visited(again).scores, found.scores, equal_nan=True)
    assert len(np.unique(found.scores[:20, 1])) > 5  # other states, other draws


@pytest.mark.parametrize("order", ORDERS)
def test_as_many_states_are_tried_as_are_asked_for_all_along_the_way(order: str) -> None:
    judge = Judge([random_arena(60, 0)], EVERY, 0.5)
    player = Player(any_policy(1), Selection(order))
    found = roll_out(judge, player, [Trial(0, 0.5, 0)], RolloutRecipe(20, 1))
    left = found.features[:, 1 + 5 + 3 + 8 + 8]  # time left, a logarithm
    assert 12 <= len(found.scores) <= 20  # where only one action is allowed there is nothing to try
    assert (np.diff(left) <= 0).all()
    assert left[-1] < left[0] - 1


def test_where_nothing_is_random_every_action_is_tried_once(monkeypatch: pytest.MonkeyPatch) -> None:
    calls = list[int]()

    def count(*words: Any) -> None:
        calls.append(1)
        play(*words)

    monkeypatch.setattr(rollouts, "play", count)
    judge = Judge([random_arena(30, 0)], EVERY, 0.5)
    for order, draws in (("wanted", 1), ("random", 3)):
        calls.clear()
        found = roll_out(judge, Player(any_policy(1), Selection(order)), [Trial(0, 0.3, 0)], RolloutRecipe(5, 3))
        assert len(calls) == draws * found.n_rollouts > 0


def test_a_budget_that_nothing_fits_in_has_no_states() -> None:
    judge, player = Judge([random_arena(30, 0)], EVERY, 0.5), Player(any_policy(1), Selection())
    found = roll_out(judge, player, [Trial(0, 1e-9, 0)], RolloutRecipe())
    assert found.features.shape == (0, n_features(5, 3, True))
    assert found.scores.shape == (0, 6)
    assert join_visited([found, found]).n_rollouts == 0


def test_cores_change_nothing() -> None:
    arenas = [random_arena(25, seed) for seed in range(4)]
    found = []
    for cores in (1, 2):
        judge = Judge(arenas, EVERY, 0.5, cores)
        found.append(roll_out(judge, Player(any_policy(0), Selection()), judge.trials((0.2,), 2), RolloutRecipe(6, 2)))
    assert np.array_equal(found[0].features, found[1].features)
    assert np.array_equal(found[0].scores, found[1].scores, equal_nan=True)
