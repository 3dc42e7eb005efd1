"""Scores of players, told by hand and by running them."""

import numpy as np
import pytest

from budgetseg.evaluation.accuracy import accuracy_of, confusion_of
from budgetseg.learning.judge import Judge, Player, Trial
from budgetseg.policy.episode import Selection
from budgetseg.policy.linear import plan_policy, random_policy
from budgetseg.simulate import play, reward
from tests.learning.toys import NAMES, toy_arena
from tests.simulate.arenas import NAMES as EVERY
from tests.simulate.arenas import random_arena

LARGE_FIRST = Selection("large", reopen=False)
COLOUR, HOF = (Player(plan_policy([d], 4, 3), LARGE_FIRST) for d in (0, 2))
FIRST = toy_arena([0, 1, 2, 1], [1, 1, 1, 4], sizes=[10, 40, 20, 30])
SECOND = toy_arena([1, 1], [4, 1], sizes=[50, 50], name="other")


def test_scores_by_hand() -> None:
    judge = Judge([FIRST, SECOND], NAMES, 0.0)
    assert judge.full_s == [16, 8]
    # Colour is right about all of the first video but the last 30 pixels, and about half of the second.
    assert judge.scores([COLOUR], judge.trials((1.0,), 1)) == pytest.approx([120 / 200])
    # A quarter of the full cost is colour for everyone, an eighth for two of the four: the largest, 40 and 30 pixels.
    # The first class is right anyway, where nothing is known.
    assert judge.scores([COLOUR], [Trial(0, 0.25, 0)]) == pytest.approx([70 / 100])
    assert judge.scores([COLOUR], [Trial(0, 0.125, 0)]) == pytest.approx([50 / 100])
    assert judge.scores([COLOUR, HOF], [Trial(0, 1.0, 0), Trial(0, 0.0, 0)]) == pytest.approx([80 / 200, 50 / 200])


@pytest.mark.parametrize("cores", [1, 2])
def test_scores_by_video_are_what_each_adds_to_all(cores: int) -> None:
    judge = Judge([FIRST, SECOND], NAMES, 0.0, cores)
    assert judge.by_video(COLOUR, judge.trials((1.0,), 2)) == pytest.approx([2 * 70 / 200, 2 * 50 / 200])
    assert judge.by_video(COLOUR, [Trial(0, 0.125, 0), Trial(0, 1.0, 0)]) == pytest.approx([120 / 200, 0])


def test_classes_count_the_same_if_they_are_to() -> None:
    judge = Judge([FIRST, SECOND], NAMES, 1.0)
    assert judge.worth @ np.array([10, 170, 20]) == pytest.approx(1)
    expected = np.mean([10 / 10, 90 / 170, 20 / 20])
    assert judge.scores([COLOUR], judge.trials((1.0,), 3)) == pytest.approx([expected])
    # In the second video alone there is one class, of which half is right.
    assert judge.scores([COLOUR], [Trial(1, 1.0, 0)]) == pytest.approx([0.5])
    assert judge.score(COLOUR, Trial(1, 1.0, 0)) == pytest.approx(50 / 170 / 3)


@pytest.mark.parametrize("balance", [0.0, 1.0])
def test_over_all_videos_the_score_is_their_accuracy(balance: float) -> None:
    arenas = [random_arena(n, seed) for seed, n in enumerate((20, 35))]
    judge, player = Judge(arenas, EVERY[:4], balance), Player(random_policy(5, 3), Selection())
    confusion = np.zeros((3, 3), np.int64)
    for arena in arenas:
        episode = arena.begin(0.2 * arena.full_s(EVERY[:4]), EVERY[:4], Selection(), 5)
        play(episode, arena.probabilities, player.policy)
        confusion += confusion_of(arena.truth, reward(arena, episode.state).labels)
    accuracy, trials = accuracy_of(confusion), judge.trials((0.2,), 1, first_seed=5)
    expected = accuracy.class_average if balance else accuracy.overall
    assert judge.scores([player], trials) == pytest.approx([expected])
    assert judge.right(player, trials).tolist() == np.diag(confusion).tolist()


def test_trials_are_every_video_with_every_budget() -> None:
    trials = Judge([FIRST, SECOND], NAMES, 0.0).trials((0.1, 0.5), 2, first_seed=3)
    assert len(set(trials)) == len(trials) == 8
    assert {(trial.arena, trial.fraction, trial.seed) for trial in trials} == {
        (k, fraction, seed) for k in (0, 1) for fraction in (0.1, 0.5) for seed in (3, 4)
    }


def test_small_budgets_are_judged_in_long_clips_alone() -> None:
    judge = Judge([FIRST], NAMES, 0.0, long=[SECOND])
    trials = {(trial.arena, trial.fraction) for trial in judge.trials((0.02, 0.05, 0.1), 1)}
    assert trials == {(1, 0.02), (1, 0.05), (0, 0.1)}
    rng = np.random.default_rng(0)
    for _ in range(20):
        drawn = judge.draw((0.02, 0.1), rng)
        assert [(trial.arena, trial.fraction) for trial in drawn] == [(1, 0.02), (0, 0.1)]


def test_a_trial_of_every_budget_is_drawn_in_any_video() -> None:
    judge = Judge([toy_arena([0] * n, [1] * n) for n in (4, 5, 6, 7)], NAMES, 0.0)
    seen, seeds = set[tuple[int, float]](), set[int]()
    for seed in range(60):
        drawn = judge.draw((0.1, 0.5), np.random.default_rng(seed))
        assert [trial.fraction for trial in drawn] == [0.1, 0.5]
        assert drawn == judge.draw((0.1, 0.5), np.random.default_rng(seed))
        seen.update((trial.arena, trial.fraction) for trial in drawn)
        seeds.update(trial.seed for trial in drawn)
    assert len(seen) == 8
    assert len(seeds) == 120


def test_cores_change_nothing_and_nobody_has_no_scores() -> None:
    arenas = [random_arena(25, seed) for seed in range(4)]
    players = [Player(random_policy(5, 3), Selection(order)) for order in ("random", "unsure")]
    one, two = (Judge(arenas, EVERY, 0.3, cores) for cores in (1, 2))
    trials = one.trials((0.1, 0.6), 2)
    assert np.array_equal(one.scores(players, trials), two.scores(players, trials))
    assert one.scores([], trials).shape == (0,)
