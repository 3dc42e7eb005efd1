"""Baseline3 learns what enumeration finds, or it is not trained."""

import json
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.baselines.baseline3 import run_baseline3
from budgetseg.classifiers.fit import ClassifierRecipe
from budgetseg.crf.learning import CrfRecipe
from budgetseg.descriptors.describe import Description
from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.descriptors.table import read_table
from budgetseg.learning import qlearning
from budgetseg.learning.plans import BUDGETS, Learned
from budgetseg.learning.qlearning import (
    Outcomes,
    best_sequence,
    learn_baseline3,
    learn_values,
    n_scores,
    score_policy,
    score_subsets,
    shortfall,
)
from budgetseg.learning.train import TrainRecipe, read_fitted, train_model
from budgetseg.models.bundle import load_model
from budgetseg.policy.baseline3 import N_LEVELS, Baseline3Policy
from budgetseg.simulate import Arena, reward, worth_of
from budgetseg.types import Float64
from tests.learning.scenes import write_scenes
from tests.learning.streets import priced
from tests.simulate.arenas import MODEL, NAMES, random_arena, table_with_needs

AMONG = ("hof", "colour", "dcnn")
BALANCE = 0.5
TABLES = (*BUDGETS, 0.3, 0.49, 0.6, 0.73, 0.98)
"""Budgets of the tables, and others."""


@pytest.fixture(scope="module", params=["shared", "unshared"])
def arenas(request: pytest.FixtureRequest) -> list[Arena]:
    return [random_arena(n, seed, request.param) for seed, n in enumerate((50, 20, 30))]


@pytest.fixture(scope="module")
def outcomes(arenas: list[Arena]) -> Outcomes:
    return Outcomes.of(arenas, AMONG, score_subsets(arenas, NAMES, BALANCE, 2))


def policy_of(arenas: list[Arena], outcomes: Outcomes) -> Baseline3Policy:
    return Baseline3Policy(AMONG, arenas[0].pricing, learn_values(outcomes))


def test_outcomes_are_those_of_running_the_descriptors(arenas: list[Arena], outcomes: Outcomes) -> None:
    worth = worth_of(np.concatenate([arena.truth for arena in arenas]), BALANCE)
    for v, subset in product(range(3), range(8)):
        wanted = np.array([1.0 if subset >> d & 1 else -1.0 for d in range(3)] + [0.0], np.float32)
        policy = Baseline3Policy(AMONG, arenas[v].pricing, np.tile(wanted, (8, N_LEVELS, 1)))
        end = run_baseline3(arenas[v], policy, np.inf)
        assert outcomes.scores[v, subset] == pytest.approx(reward(arenas[v], end).score(worth))
        assert outcomes.costs[v, subset] == pytest.approx(end.scalars.spent_s / arenas[v].full_s(AMONG))


@pytest.mark.parametrize("fraction", [0.05, 0.2, 0.5, 0.9])
def test_a_policy_scores_what_running_it_scores(arenas: list[Arena], outcomes: Outcomes, fraction: float) -> None:
    policy = policy_of(arenas, outcomes)
    worth = worth_of(np.concatenate([arena.truth for arena in arenas]), BALANCE)
    ends = [(arena, run_baseline3(arena, policy, fraction * arena.full_s(AMONG))) for arena in arenas]
    expected = sum(reward(arena, end).score(worth) for arena, end in ends)
    assert score_policy(policy, outcomes, fraction) == pytest.approx(expected)


@pytest.mark.parametrize("fraction", [0.1, 0.5, 1.0])
def test_no_set_that_fits_in_all_videos_scores_more_than_the_best_list(outcomes: Outcomes, fraction: float) -> None:
    fits = (outcomes.costs <= fraction).all(axis=0)
    assert best_sequence(outcomes, fraction) >= outcomes.scores.sum(axis=0)[fits].max()


def test_in_one_video_it_learns_the_best_set_for_every_budget() -> None:
    rng = np.random.default_rng(0)
    for _ in range(3):
        costs = rng.uniform(0.1, 0.5, 3)
        sets = np.arange(8)[:, None] >> np.arange(3) & 1
        outcomes = Outcomes((sets @ (costs / costs.sum()))[None], rng.random((1, 8)))
        policy = Baseline3Policy(AMONG, "shared", learn_values(outcomes))
        middles = (np.arange(100) + 0.5) / 100
        gaps = [shortfall(policy, outcomes, fraction) for fraction in middles]
        for fraction in middles:  # a list is no better than the set that it ends with
            fitting = outcomes.scores[0, outcomes.costs[0] <= fraction]
            assert best_sequence(outcomes, fraction) == pytest.approx(fitting.max())
        assert np.mean(np.array(gaps) > 0.005) < 0.1  # where a cost lies within a hundredth


def test_same_seed_same_values(outcomes: Outcomes) -> None:
    first, again, other = (learn_values(outcomes, 2000, seed) for seed in (0, 0, 1))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.fixture(scope="module")
def street(tmp_path_factory: pytest.TempPathFactory) -> Learned:
    """What was learned from some rendered streets."""
    folder = tmp_path_factory.mktemp("street")
    plan = Description("folder", write_scenes(folder / "scenes"), ("train",), HAND_MADE, per_frame=12)
    recipe = TrainRecipe(ClassifierRecipe((1e-3,)), CrfRecipe(n_rounds=3), plans=None, policies=None)
    train_model(plan, folder / "model", folder / "work", recipe, 2)
    measured = [read_table(place) for place in sorted((folder / "work" / "table" / "train").iterdir())]
    tables = [replace(table, costs=priced(table.costs, table.graph)) for table in measured]  # however busy it is here
    return Learned(load_model(folder / "model"), tables, read_fitted(folder / "work" / "classifiers").out_of_fold)


def test_on_rendered_streets_it_is_within_half_a_point_of_the_best_found_by_enumeration(
    street: Learned, tmp_path: Path
) -> None:
    policies = learn_baseline3(street, BALANCE, tmp_path / "wholes.json", 2)
    assert [(policy.among, policy.costs) for policy in policies] == [(HAND_MADE, "shared"), (HAND_MADE, "unshared")]
    for policy in policies:
        arenas = street.arenas(policy.costs)
        outcomes = Outcomes.of(arenas, HAND_MADE, score_subsets(arenas, HAND_MADE, BALANCE, 2))
        assert max(shortfall(policy, outcomes, fraction) for fraction in TABLES) <= 0.005
        assert score_policy(policy, outcomes, 0.9) > score_policy(policy, outcomes, 0.001)


@pytest.fixture(scope="module")
def learned() -> Learned:
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), (35, 32)).astype(np.float32)
    return Learned(MODEL, [table_with_needs(20, 0), table_with_needs(15, 1)], probabilities)


def test_scores_are_kept_and_others_are_not_used(
    learned: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, reported = tmp_path / "wholes.json", list[int]()
    first = learn_baseline3(learned, BALANCE, store, 1, reported.append)
    assert sum(reported) == n_scores(learned) == 2 * 32
    assert [(own.among, own.costs) for own in first] == [
        (names, costs) for costs in ("shared", "unshared") for names in (NAMES[:4], NAMES)
    ]
    stored, again, reported = store.read_text(), list[int](), list[int]()

    def count(*words: Any) -> Float64:
        again.append(1)
        return score_subsets(*words)

    monkeypatch.setattr(qlearning, "score_subsets", count)
    second = learn_baseline3(learned, BALANCE, store, 1, reported.append)
    assert sum(reported) == n_scores(learned)
    assert not again
    assert all(np.array_equal(one.values, other.values) for one, other in zip(first, second, strict=True))
    learn_baseline3(learned, 0.0, store)
    assert again == [1]
    for text in ("", "[]", json.dumps(json.loads(stored) | {"of": "x"})):
        store.write_text(text)
        learn_baseline3(learned, BALANCE, store)
        assert store.read_text() == stored
    assert again == [1] * 4
