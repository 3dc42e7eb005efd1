"""What a learner sees is what the policy sees."""

import numpy as np
import pytest

from budgetseg.policy import plan_policy
from budgetseg.policy.episode import Episode, Selection
from budgetseg.policy.state import copy_state
from budgetseg.policy.view import allowed_actions, features_of
from tests.policy.worlds import EVERYTHING, Made, any_policy, made_video


def half_way(video: Made, seed: int, enabled: int = -1) -> Episode:
    """A run that has bought a third of everything, with as much left."""
    episode = video.begin(video.full_s / 3, Selection("unsure", 0.3, reopen=False), seed, enabled)
    video.run(episode, any_policy(video, seed, extended=False, noise=1.0))
    episode.left_s = video.full_s / 3
    return episode


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("enabled", [0b111, 0b101])
def test_what_is_enabled_missing_and_affordable_is_allowed_and_so_is_finishing(seed: int, enabled: int) -> None:
    video, seen = made_video(seed), set[bool]()
    episode = half_way(video, seed, enabled)
    for left_s in (EVERYTHING, 1.5, 0.3, 0.0):
        episode.left_s = left_s
        for region in range(15):
            has = int(episode.state.subsets[region])
            costs_s = [episode.cost_s(region, d) for d in range(3)]
            expected = [bool(enabled >> d & 1 and not has >> d & 1 and costs_s[d] <= left_s) for d in range(3)]
            assert allowed_actions(episode, region).tolist() == [*expected, True]
            seen.update(expected)
    assert seen == {False, True}


def test_what_was_reopened_may_be_finished_only_when_nothing_fits() -> None:
    video = made_video(0, n=2)
    episode = video.begin(EVERYTHING)
    for own in range(2):
        episode.finish(own)
    region = episode.select()
    assert region is not None
    assert allowed_actions(episode, region).tolist() == [True, True, True, False]
    episode.left_s = 0.0
    assert allowed_actions(episode, region).tolist() == [False, False, False, True]


@pytest.mark.parametrize("extended", [True, False])
def test_a_policy_does_what_its_weights_say_of_the_features(extended: bool) -> None:
    for seed in range(5):
        video = made_video(seed)
        policy, episode = any_policy(video, seed, extended), half_way(video, seed)
        for region in range(15):
            scores = policy.weights @ features_of(episode, region, extended)
            best = np.where(allowed_actions(episode, region), scores, -np.inf).argmax()
            assert policy.action(episode, region) == best


def test_looking_changes_nothing() -> None:
    video = made_video(0)
    episode = half_way(video, 0)
    before = copy_state(episode.state)
    allowed_actions(episode, 3)
    features_of(episode, 3, extended=True)
    for name in set(before._fields) - {"costs_s", "costs", "shares", "outdated"}:  # costs are noted down
        assert np.array_equal(getattr(before, name), getattr(episode.state, name)), name


def test_features_tell_what_is_there() -> None:
    video = made_video(0)
    episode = video.begin(EVERYTHING)
    assert features_of(episode, 5, extended=False)[:4].tolist() == [1, 0, 0, 0]
    video.compute(episode, 5, 1)
    assert features_of(episode, 5, extended=False)[:4].tolist() == [1, 0, 1, 0]
    assert len(features_of(episode, 5, extended=True)) == any_policy(video, 0, True).weights.shape[1]
    assert plan_policy([1], 3, 4).action(episode, 5) == 3
