"""Policies of a model: learned once, found again, and for what they are said to be."""

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.learning import policies
from budgetseg.learning.capi import CapiRecipe, iterate
from budgetseg.learning.gains import Gains, find_gains
from budgetseg.learning.judge import Judge, Player
from budgetseg.learning.plans import BUDGETS, Learned
from budgetseg.learning.policies import Clips, PolicyRecipe, judges_of, learn_policies, n_policies
from budgetseg.learning.rollouts import RolloutRecipe
from budgetseg.learning.start import Start, first_policy
from budgetseg.policy.features import feature_names
from budgetseg.policy.learned import SELECTIONS, LearnedPolicy
from budgetseg.policy.settings import PolicySettings
from budgetseg.policy.view import features_of
from budgetseg.simulate import Arena
from tests.simulate.arenas import MODEL, NAMES, random_arena, table_with_needs

HAND_MADE = NAMES[:4]
CAPI = CapiRecipe((0.1, 0.5), n_rounds=1, rollouts=RolloutRecipe(2, 1))
RECIPE = PolicyRecipe(0.3, CAPI)

Found = tuple[Path, tuple[LearnedPolicy, ...], list[str]]


@pytest.fixture(scope="module")
def learned() -> Learned:
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), (35, 32)).astype(np.float32)
    return Learned(MODEL, [table_with_needs(20, 0), table_with_needs(15, 1)], probabilities)


@pytest.fixture(scope="module")
def found(learned: Learned, tmp_path_factory: pytest.TempPathFactory) -> Found:
    """The folder, not to be changed, the policies in it, and what was told."""
    folder, reported, lines = tmp_path_factory.mktemp("policies"), list[int](), list[str]()
    every = learn_policies(learned, RECIPE, folder, 2, reported.append, lines.append)
    assert sum(reported) == len(reported) == len(every) == n_policies(NAMES, RECIPE) == 10
    return folder, every, lines


def assert_same(one: LearnedPolicy, other: LearnedPolicy) -> None:
    assert (one.method, one.among, one.costs, one.expected) == (other.method, other.among, other.costs, other.expected)
    assert one.uses == other.uses
    assert np.array_equal(one.policy.weights, other.policy.weights)


def test_there_is_one_for_every_method_set_of_descriptors_and_kind_of_costs(found: Found) -> None:
    assert [(own.costs, own.method, own.among) for own in found[1]] == [
        (costs, method, among)
        for costs in ("shared", "unshared")
        for method in SELECTIONS
        for among in (HAND_MADE, NAMES)
        if (method, among) != ("budget-rndrnk", NAMES)  # as in the paper
    ]
    for own in found[1]:
        own.check(len(NAMES), 3)
        assert own.policy.extended
        assert own.policy.noise == 0
    few = replace(RECIPE, methods=("budget-wanted",), costs=("shared",))
    assert n_policies(NAMES, few) == 2
    assert n_policies(HAND_MADE, few) == 1


def test_each_has_a_line_a_round_rows_and_a_curve(found: Found) -> None:
    folder, every, lines = found
    names = [f"{own.method}-{'+'.join(own.among)}-{own.costs}" for own in every]
    assert sorted(path.name for path in folder.iterdir()) == sorted(names)
    assert [line.split(": ")[0] for line in lines] == names
    for name in names:
        rows = json.loads((folder / name / "rounds.json").read_text())
        assert [row["learner"] for row in rows] == ["capi"]
        assert (folder / name / "rounds.png").stat().st_size > 1000


def test_a_policy_does_not_ask_for_what_it_was_not_learned_with_before_all_else_is_there(found: Found) -> None:
    own = next(one for one in found[1] if one.method == "budget-wanted" and one.among == HAND_MADE)
    arena = random_arena(20)
    episode = arena.begin(np.inf, NAMES, own.at(1.0)[1])
    scores = [own.policy.weights @ features_of(episode, i, extended=True) for i in range(20)]
    assert all(one[4] < one[:4].min() - 10 for one in scores)


def test_what_each_computes_is_said_for_every_budget(found: Found) -> None:
    for own in found[1]:
        assert [one.budget_fraction for one in own.uses] == list(BUDGETS)


def test_what_is_expected_is_what_its_runs_score_and_never_falls(learned: Learned, found: Found) -> None:
    own = found[1][0]
    assert [one.budget_fraction for one in own.expected] == list(BUDGETS)
    judge = Judge(learned.arenas(own.costs), own.among, RECIPE.balance)
    pixels = sum(arena.truth.sum(axis=0) for arena in judge.arenas)
    least = np.zeros(2)
    for one in own.expected:
        right = judge.right(Player(*own.at(one.budget_fraction)), judge.trials((one.budget_fraction,), 1))
        least = np.maximum(least, [np.mean(right / pixels), right.sum() / pixels.sum()])
        assert one[1:] == pytest.approx(tuple(least))


def counting(monkeypatch: pytest.MonkeyPatch) -> list[Player]:
    """Those that CAPI began with from now on."""
    begun = list[Player]()

    def count(*words: Any) -> Player:
        begun.append(words[2])
        return iterate(*words)

    monkeypatch.setattr(policies, "iterate", count)
    return begun


def test_a_policy_that_is_there_is_not_learned_again(
    learned: Learned, found: Found, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, expected, _ = found
    work = shutil.copytree(folder, tmp_path / "policies")
    begun, reported = counting(monkeypatch), list[int]()
    for one, other in zip(learn_policies(learned, RECIPE, work, 1, reported.append), expected, strict=True):
        assert_same(one, other)
    assert not begun
    assert sum(reported) == 10
    (one,) = learn_policies(learned, replace(RECIPE, methods=("budget-rndrnk",), costs=("unshared",)), work, 1)
    assert_same(one, expected[5])
    assert not begun
    gone, empty, foreign = sorted(work.iterdir())[:3]
    shutil.rmtree(gone)
    (empty / "policy.safetensors").write_bytes(b"")
    (foreign / "policy.json").write_text("[]")
    for one, other in zip(learn_policies(learned, RECIPE, work, 1), expected, strict=True):
        assert_same(one, other)  # the same bits, with one core as with two
    assert len(begun) == 3


def test_policies_are_learned_again_where_something_else_was_learned(
    learned: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = replace(RECIPE, methods=("budget-wanted",), costs=("shared",))
    work, begun = tmp_path / "policies", counting(monkeypatch)
    learn_policies(learned, one, work, 1)
    assert len(begun) == 2
    learn_policies(learned, one, work, 1)
    assert len(begun) == 2
    for recipe in (
        replace(one, seed=1),
        replace(one, balance=0.4),
        replace(one, capi=replace(CAPI, penalty=1.0)),
        replace(one, start=Start(size=2.0)),
        replace(one, clips=Clips(few=7)),
        replace(one, least_gain=1e-3),
        replace(one, n_subsets=3),
    ):
        begun.clear()
        learn_policies(learned, recipe, work, 1)
        assert len(begun) == 2
    begun.clear()
    for name, other in (("EXTRAS", ("something else",)), ("SETTINGS", PolicySettings(least_left=0.1))):
        with monkeypatch.context() as patch:
            patch.setattr(policies, name, other)  # the same weights would mean another policy, or be others
            learn_policies(learned, one, work, 1)
        assert len(begun) == 2
        begun.clear()
    learn_policies(replace(learned, out_of_fold=learned.out_of_fold[::-1]), one, work, 1)
    assert len(begun) == 2


def test_another_seed_gives_another_policy(learned: Learned, found: Found, tmp_path: Path) -> None:
    one = replace(RECIPE, methods=("budget-rndrnk",), costs=("shared",))
    again = [learn_policies(learned, replace(one, seed=seed), tmp_path / str(seed), 1)[0] for seed in (0, 1)]
    assert_same(again[0], found[1][0])
    assert not np.array_equal(again[0].policy.weights, again[1].policy.weights)


def test_methods_and_costs_that_there_are_not_are_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^no policies for 'best'; choose from budget-rndrnk, budget-nhbrnk, budget-wa"
    ):
        replace(RECIPE, methods=("budget-wanted", "best"))
    with pytest.raises(UsageError, match=r"^no policies for 'free'; choose from shared, unshared$"):
        replace(RECIPE, costs=("free",))


def test_seconds_are_for_the_learner() -> None:
    limited = RECIPE.within(30.0)
    assert limited.capi.limit_s == 30.0
    assert replace(limited, capi=CAPI) == RECIPE


def clips_for(judge: Judge, fraction: float) -> list[Arena]:
    """That a judge has for a budget."""
    return [judge.arenas[trial.arena] for trial in judge.trials((fraction,), 1)]


def test_every_fourth_stretch_is_held_out_where_there_are_enough() -> None:
    arenas = [replace(random_arena(n), name=f"video {n}") for n in (60, 30, 90)]
    judges = judges_of(arenas, NAMES, 0.3, clips=Clips(short=10, long=30))
    for fraction, size in ((0.05, 30), (0.06, 10)):
        own, others = (clips_for(judge, fraction) for judge in judges)
        assert {len(clip) for clip in (*own, *others)} == {size}
        assert (sum(map(len, own)), sum(map(len, others))) == (150, 30)
        assert not {stretch_of(clip) for clip in own} & {stretch_of(clip) for clip in others}


def stretch_of(clip: Arena) -> str:
    """The long clip that it is, or is part of."""
    return " ".join(clip.name.split()[:3])


def test_a_few_stretches_are_for_everything() -> None:
    train, held_out = judges_of([random_arena(10 + k) for k in range(5)], NAMES, 0.3)
    assert train is held_out
    assert [len(arena) for arena in train.arenas] == [10, 11, 12, 13, 14] * 2
    train, held_out = judges_of([random_arena(10 + k) for k in range(6)], NAMES, 0.3)
    assert [len(judge.arenas) for judge in (train, held_out)] == [10, 2]


def wanted(changes: dict[str, float], among: tuple[str, ...] = NAMES) -> list[float]:
    """How much more each descriptor is wanted than none, if these features are more than 0."""
    names = feature_names(NAMES, MODEL.classes.names, extended=True)
    features = np.zeros(len(names))
    features[0] = 1
    for name, value in changes.items():
        features[names.index(name)] = value
    gains = find_gains(Judge([random_arena()], among, 0.3))
    scores = first_policy(MODEL, gains, "wanted").weights @ features
    return list((scores[:-1] - scores[-1]).tolist())


def test_at_first_the_large_the_doubtful_and_the_cheap_are_wanted_most() -> None:
    for feature in ("size", "own doubt", "neighbours' doubt", "time for each"):
        assert np.greater(wanted({feature: 1.0}), wanted({})).all()
    for d, name in enumerate(NAMES):
        for cost in ("cost", "share"):
            apart = np.subtract(wanted({f"{cost} of {name}": 1.0}), wanted({}))
            assert apart[d] < 0
            assert not np.delete(apart, d).any()
    assert min(wanted({}, HAND_MADE)[:4]) > 0 > wanted({}, HAND_MADE)[4] + 40


def test_at_first_what_adds_much_is_wanted_more_and_less_where_another_says_the_same() -> None:
    gains = find_gains(Judge([random_arena()], NAMES, 0.3))
    for d in range(len(NAMES)):
        bit, alike = 1 << d, NAMES[d - 1]
        both = np.array([subset >> d & 1 and subset >> NAMES.index(alike) & 1 for subset in range(32)], bool)
        worse = replace(gains, scores=np.where(both, -1.0, gains.scores))  # it harms where the other is there
        there = {f"has {alike}": 1.0}
        assert change(worse, d, there) < change(gains, d, there)
        better = replace(gains, scores=np.where(np.arange(32) & bit > 0, gains.scores + 1.0, gains.scores))
        assert change(better, d, {}) > change(gains, d, {})


def change(gains: Gains, d: int, features: dict[str, float]) -> float:
    """How much descriptor d is wanted at first with these features."""
    names = feature_names(NAMES, MODEL.classes.names, extended=True)
    weights = first_policy(MODEL, gains, "wanted").weights[d]
    return float(weights[0] + sum(value * weights[names.index(name)] for name, value in features.items()))


def test_gains_are_found_once_for_all_methods_and_costs(
    learned: Learned, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = list[tuple[str, ...]]()

    def count(judge: Judge, least: float) -> Gains:
        found.append(judge.names)
        return find_gains(judge, least)

    monkeypatch.setattr(policies, "find_gains", count)
    learn_policies(learned, RECIPE, tmp_path / "policies", 2)
    assert found == [HAND_MADE, NAMES]


def test_who_is_selected_in_turn_is_left_for_others_sooner() -> None:
    gains = find_gains(Judge([random_arena()], NAMES, 0.3))
    constants = {order: first_policy(MODEL, gains, order).weights[:-1, 0] for order in ("wanted", "unsure", "random")}
    assert (constants["wanted"] > constants["unsure"] + 5).all()
    assert np.array_equal(constants["unsure"], constants["random"])
