"""What learning is for, on rendered streets that nobody learned from: policies that know what to compute, and where."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import pytest

from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.evaluation.methods import methods_named
from budgetseg.learning.capi import CapiRecipe, iterate
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import Learned
from budgetseg.learning.policies import PolicyRecipe, learn_policies
from budgetseg.learning.qlearning import learn_baseline3
from budgetseg.learning.rollouts import RolloutRecipe
from budgetseg.models.bundle import Model
from budgetseg.policy.learned import SELECTIONS
from budgetseg.policy.linear import random_policy
from budgetseg.policy.state import State
from budgetseg.simulate import Arena, reward, worth_of
from budgetseg.simulate.simulate import NOT_ASKED
from budgetseg.types import Bool, Float32, Int32
from tests.learning.streets import MOVING, NAMES, STILL, TEST, TRAIN, learn_streets, street_table

pytestmark = pytest.mark.timeout(900)  # all of it is in the first test's setup

BALANCE = 0.5
BUDGETS = (0.02, 0.05, 0.1, 0.2)
CAPI = CapiRecipe(BUDGETS, n_rounds=2, rollouts=RolloutRecipe(12, 1))
RECIPE = PolicyRecipe(BALANCE, CAPI)
ONE = replace(RECIPE, methods=("budget-wanted",), costs=("shared",))


@dataclass(frozen=True, eq=False)
class Streets:
    """What was learned from some streets, and others as it sees them."""

    learned: Learned
    model: Model
    test: dict[str, list[Arena]]

    def score(self, method: str, costs: str, fraction: float, seeds: Sequence[int] = range(3)) -> float:
        """Of a method in streets that nobody learned from, half accuracy and half average over classes."""
        arenas = self.test[costs]
        worth = worth_of(np.concatenate([arena.truth for arena in arenas]), BALANCE)
        ends = [reward(arena, self.end(method, arena, fraction, seed)) for arena in arenas for seed in seeds]
        return sum(end.score(worth) for end in ends) / len(seeds)

    def end(self, method: str, arena: Arena, fraction: float, seed: int = 0) -> State:
        """Where a method ends up."""
        (own,) = methods_named([method], arena.model, arena.pricing)
        assert own.run is not None
        return own.run(arena, own.descriptors, fraction * arena.full_s(own.descriptors), seed, NOT_ASKED)


@pytest.fixture(scope="module")
def streets(tmp_path_factory: pytest.TempPathFactory) -> Streets:
    folder, learned = tmp_path_factory.mktemp("streets"), learn_streets(TRAIN)
    policies = learn_policies(learned, replace(RECIPE, costs=("unshared",)), folder, 2)
    policies += learn_policies(learned, ONE, folder, 2)
    baseline3 = learn_baseline3(learned, BALANCE, folder / "wholes.json", 2)
    model, tables = (
        replace(learned.model, baseline3=baseline3, policies=policies),
        [street_table(seed) for seed in TEST],
    )
    test = {costs: [Arena.of(model, table, costs) for table in tables] for costs in ("shared", "unshared")}
    return Streets(learned, model, test)


RANDOM = Player(random_policy(len(HAND_MADE), len(NAMES)), SELECTIONS["budget-rndrnk"])


def test_capi_alone_improves_on_random_decisions(streets: Streets) -> None:
    train = Judge(streets.learned.arenas("unshared"), HAND_MADE, BALANCE, 2)
    found = iterate(train, train, RANDOM, replace(CAPI, n_rounds=5, rollouts=RolloutRecipe(24, 1)), 0)
    test = Judge(streets.test["unshared"], HAND_MADE, BALANCE, 2)
    before, after = test.scores([RANDOM, found], test.trials(BUDGETS, 2))
    assert after > before + 0.03


@pytest.mark.parametrize(
    ("method", "costs", "fraction"),
    [*((method, "unshared", 0.1) for method in SELECTIONS), ("budget-wanted", "shared", 0.05)],
)
def test_learned_policies_beat_the_papers_baselines_in_their_stronger_form(
    streets: Streets, method: str, costs: str, fraction: float
) -> None:
    baselines = [streets.score(name, costs, fraction) for name in ("baseline1-rest", "baseline2", "baseline3-rest")]
    assert streets.score(method, costs, fraction) > max(baselines) + 0.003


def has(subsets: Int32, names: Sequence[str]) -> Bool:
    """Who has any of these descriptors."""
    return np.asarray(subsets & sum(1 << HAND_MADE.index(name) for name in names) > 0)


def test_motion_is_bought_for_those_that_only_motion_tells_apart(streets: Streets) -> None:
    arenas = streets.test["unshared"]
    moves = np.concatenate([np.isin(arena.truth.argmax(axis=1), (MOVING, STILL)) for arena in arenas])
    for fraction in (0.05, 0.1):
        subsets = np.concatenate([streets.end("budget-wanted", arena, fraction).subsets for arena in arenas])
        motion = has(subsets, ("hof", "mbh"))
        assert motion[moves].mean() > 0.1
        assert motion[moves].mean() > 1.3 * motion[~moves].mean()


def test_same_seed_same_rounds_and_policy_however_many_cores(streets: Streets, tmp_path: Path) -> None:
    quick, weights, reported = replace(ONE, capi=replace(CAPI, n_rounds=1)), list[Float32](), list[list[str]]()
    for cores, seed in ((1, 0), (2, 0), (3, 1)):
        lines, folder = list[str](), tmp_path / str(cores)
        (own,) = learn_policies(streets.learned, replace(quick, seed=seed), folder, cores, tell=lines.append)
        weights.append(own.policy.weights)
        reported.append(lines)
    assert np.array_equal(weights[0], weights[1])
    assert reported[0] == reported[1] != reported[2]
