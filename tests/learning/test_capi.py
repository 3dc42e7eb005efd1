"""CAPI: the classifier finds what rollouts show, and what was gained is kept."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from budgetseg.learning.capi import CapiRecipe, Round, _towards, classify, iterate
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.rollouts import RolloutRecipe, Visited
from budgetseg.policy.episode import Selection
from budgetseg.policy.linear import LinearPolicy, plan_policy, random_policy
from budgetseg.simulate import Arena
from budgetseg.types import Float32, Float64, Int64
from tests.learning.toys import NAMES, toy_arena

PENALTY = 0.1
QUICK = CapiRecipe((0.1, 0.3), n_rounds=3, rollouts=RolloutRecipe(8, 1))


def draw_features(n: int, seed: int, n_features: int = 6) -> Float32:
    """A constant, and figures of very different sizes."""
    rng = np.random.default_rng(seed)
    figures = rng.normal(size=(n, n_features)) * 10.0 ** np.linspace(-1, 2, n_features) + rng.normal(size=n_features)
    return np.concatenate([np.ones((n, 1)), figures], axis=1).astype(np.float32)


def best_of(weights: Float32 | None, visited: Visited) -> Int64:
    """Best allowed actions by these weights."""
    assert weights is not None
    return np.asarray(np.where(np.isnan(visited.scores), -np.inf, visited.features @ weights.T).argmax(axis=1))


@pytest.mark.parametrize("n_actions", [2, 5])
def test_a_rule_that_is_linear_is_found(n_actions: int) -> None:
    rule = np.random.default_rng(0).normal(size=(n_actions, 7)) / draw_features(1000, 0).std(axis=0).clip(1)
    seen, unseen = (Visited(own, own @ rule.T) for own in (draw_features(2000, 1), draw_features(2000, 2)))
    found = classify(seen, 1.0)
    assert np.mean(best_of(found, unseen) == unseen.scores.argmax(axis=1)) > 0.95


def random_scores(n: int, n_actions: int, never: int, seed: int) -> Float64:
    """Some actions are not allowed, one is allowed and never best."""
    rng = np.random.default_rng(seed)
    scores = rng.normal(size=(n, n_actions))
    scores[rng.random(scores.shape) < 0.3] = np.nan
    scores[:, 0] = rng.normal(size=n)
    scores[:, never] = np.nanmin(scores, axis=1) - 1
    return scores


@pytest.mark.parametrize("never", [1, 4])
def test_an_action_that_was_never_best_is_not_chosen(never: int) -> None:
    for seed in range(5):
        visited = Visited(draw_features(300, seed), random_scores(300, 5, never, seed))
        assert never not in best_of(classify(visited, PENALTY), visited)


def test_where_one_action_was_always_best_it_is_chosen() -> None:
    scores = random_scores(50, 5, 1, 0)
    scores[:, 3] = 9
    visited = Visited(draw_features(50, 0), scores)
    assert (best_of(classify(visited, PENALTY), visited) == 3).all()


@pytest.mark.parametrize("best", [0, 1])
def test_states_weigh_as_much_as_their_actions_differ(best: int) -> None:
    few, many = np.eye(2)[best], np.eye(2)[1 - best]
    visited = Visited(np.ones((6, 1), np.float32), np.array([8 * few] + [many] * 5))
    assert (best_of(classify(visited, PENALTY), visited) == best).all()


def test_ties_count_nothing() -> None:
    features, scores = draw_features(200, 0), random_scores(200, 4, 3, 0)
    found = classify(Visited(features, scores), PENALTY)
    ties = np.where(np.isnan(random_scores(50, 4, 3, 1)), np.nan, 0.7)
    more = classify(Visited(np.concatenate([features, draw_features(50, 1)]), np.concatenate([scores, ties])), PENALTY)
    assert found is not None
    assert more is not None
    assert np.array_equal(found, more)
    assert classify(Visited(draw_features(50, 1), ties), PENALTY) is None
    assert classify(Visited(draw_features(0, 1), np.empty((0, 4))), PENALTY) is None


def test_a_small_step_changes_what_was_nearly_undecided_and_a_whole_one_everything() -> None:
    rng = np.random.default_rng(0)
    visited = Visited(draw_features(500, 0), rng.normal(size=(500, 4)))
    old = LinearPolicy(rng.normal(size=(4, 7)).astype(np.float32), noise=0.5)
    target = (1e4 * rng.normal(size=(4, 7))).astype(np.float32)  # however large its weights are
    same = []
    for step in (1.0, 0.3, 0.1, 0.0):
        new = _towards(old, target, visited, step)
        assert new.noise == 0
        same.append(np.mean(best_of(new.weights, visited) == best_of(old.weights, visited)))
    assert same == sorted(same)
    assert same[-1] == 1
    assert 0.8 < same[-2] < 1
    assert np.array_equal(_towards(old, target, visited, 1.0).weights, target)


def toy_arenas(seeds: range) -> list[Arena]:
    """Colour tells almost everything and texture nothing; motion what is left."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng(seed)
        labels, knows = rng.integers(0, 3, 30).tolist(), rng.choice([1, 4], 30, p=[0.8, 0.2]).tolist()
        found.append(toy_arena(labels, knows, (1, 2, 3, 3), rng.integers(1, 50, 30).tolist(), f"toy {seed}"))
    return found


@pytest.fixture(scope="module")
def judges() -> tuple[Judge, Judge]:
    return Judge(toy_arenas(range(6)), NAMES, 0.5), Judge(toy_arenas(range(6, 9)), NAMES, 0.5)


RANDOM = Player(random_policy(4, 3), Selection(reopen=False))


def test_it_improves_on_random_decisions(judges: tuple[Judge, Judge]) -> None:
    rounds = list[Round]()
    found = iterate(*judges, RANDOM, replace(QUICK, n_rounds=4), 0, rounds.append)
    other = Judge(toy_arenas(range(20, 30)), NAMES, 0.5)
    before, after = other.scores([RANDOM, found], other.trials((0.1, 0.3), 5))
    assert after > before + 0.1
    assert found.policy.noise == 0
    assert rounds[-1].player is found
    assert 0 < rounds[0].n_states <= 16
    assert [one.n_states for one in rounds] == sorted({one.n_states for one in rounds})  # they are kept
    assert all(one.actions.sum() == pytest.approx(1) for one in rounds)


@pytest.mark.parametrize(
    "start",
    [
        RANDOM,
        Player(plan_policy([0], 4, 3), Selection("unsure")),
        Player(plan_policy([0, 2], 4, 3), Selection("wanted")),
    ],
    ids=["random", "plan", "wanted"],
)
def test_the_player_found_is_never_worse_in_the_videos_held_out(judges: tuple[Judge, Judge], start: Player) -> None:
    train, held_out = judges
    trials = held_out.trials(QUICK.fractions, 1)
    for seed in range(3):
        rounds = list[Round]()
        found = iterate(train, held_out, start, QUICK, seed, rounds.append)
        before, after = held_out.scores([start, found], trials)
        assert after >= before
        scores = [before, *(one.score for one in rounds)]
        assert scores == sorted(scores)
        assert scores[-1] == after
        assert [one.gained for one in rounds] == [a < b for a, b in itertools.pairwise(scores)]


def test_same_seed_same_player_however_many_cores(judges: tuple[Judge, Judge]) -> None:
    found = []
    for cores in (1, 2, 1):
        train, held_out = (Judge(judge.arenas, NAMES, 0.5, cores) for judge in judges)
        found.append(iterate(train, held_out, RANDOM, QUICK, 3))
    assert found[0].policy.weights.any()
    for other in found[1:]:
        assert np.array_equal(found[0].policy.weights, other.policy.weights)
    another = iterate(*judges, RANDOM, QUICK, 4)
    assert not np.array_equal(found[0].policy.weights, another.policy.weights)


def test_it_stops_without_gains_without_time_and_without_rounds(judges: tuple[Judge, Judge]) -> None:
    perfect = Player(plan_policy([0, 2], 4, 3), Selection("large"))
    plenty = replace(QUICK, fractions=(1.0,), n_rounds=9, patience=2)
    rounds = list[Round]()
    assert iterate(*judges, perfect, plenty, 0, rounds.append) is perfect
    assert len(rounds) == 2
    assert iterate(*judges, RANDOM, replace(QUICK, limit_s=-1.0), 0, rounds.append) is RANDOM
    assert iterate(*judges, RANDOM, replace(QUICK, n_rounds=0), 0, rounds.append) is RANDOM
    assert len(rounds) == 2


def test_budgets_in_which_nothing_fits_teach_nothing(judges: tuple[Judge, Judge]) -> None:
    rounds = list[Round]()
    start = Player(plan_policy([0], 4, 3), Selection())
    assert iterate(*judges, start, replace(QUICK, fractions=(1e-6,)), 0, rounds.append) is start
    assert [(one.n_states, one.n_rollouts, one.gained) for one in rounds] == [(0, 0, False)] * 2
