"""What a policy sees, told from scratch."""

import numpy as np
import pytest

from budgetseg.policy.episode import Episode, Selection
from budgetseg.policy.features import EXTRAS, feature_names, fill_features, n_features
from budgetseg.policy.steps import price
from budgetseg.types import Float32
from tests.graphs import graph_of
from tests.policy.plain import PlainRun
from tests.policy.worlds import EVERYTHING, Made, any_policy, made_video


def features(episode: Episode, region: int, extended: bool = True) -> Float32:
    n_descriptors, n_labels = episode.world.n_descriptors, episode.state.probabilities.shape[1]
    out = np.full(n_features(n_descriptors, n_labels, extended), np.nan, np.float32)
    price(episode.world, episode.state, region)
    fill_features(episode.world, episode.state, region, extended, out)
    return out


def named(episode: Episode, region: int) -> dict[str, float]:
    names = feature_names(("a", "b", "c"), ("w", "x", "y", "z"), extended=True)
    return dict(zip(names, features(episode, region).tolist(), strict=True))


@pytest.mark.parametrize("extended", [True, False])
def test_every_feature_has_a_name(extended: bool) -> None:
    names = feature_names(("a", "b", "c"), ("w", "x", "y", "z"), extended)
    assert len(names) == len(set(names)) == n_features(3, 4, extended)


@pytest.mark.parametrize("reopen", [True, False])
def test_of_every_supervoxel_at_any_time_they_are_what_a_plain_run_tells(reopen: bool) -> None:
    for seed in range(4):
        video = made_video(seed, n=10)
        policy = any_policy(video, seed, extended=True)
        episode = video.begin(0.7 * video.full_s, Selection("random", 0.3, reopen), seed)
        plain = PlainRun(video, episode, policy, shared=True)
        while not plain.is_over() and (region := plain.select()) is not None:
            for other in range(10):
                assert np.allclose(features(episode, other), plain.features(other), rtol=1e-4, atol=1e-5)
                assert np.array_equal(features(episode, other, False), features(episode, other)[: 1 + 3 + 4 + 8])
            assert episode.select() == region
            action = plain.action(region)
            plain.act(region, action)
            if action == 3:
                episode.finish(region)
            else:
                video.compute(episode, region, action)


def cross() -> Made:
    """Number 0 with a neighbour on each side: above and before, below and after, left and after, right and before."""
    places = [[5, 5, 5], [4, 2, 5], [6, 9, 6], [5, 5, 3], [4, 6, 7]]
    video = made_video(0, n=5)
    return Made(graph_of([[0, 1], [0, 2], [0, 3], [0, 4]], places), video.costs, video.probabilities)


def test_finished_neighbours_are_counted_where_they_are() -> None:
    episode = cross().begin(EVERYTHING)
    for finished in range(1, 5):
        episode.finish(finished)
    bins = ["up before", "down after", "left after", "right before"]
    seen = named(episode, 0)
    assert {name for name, value in seen.items() if value and name.endswith(("before", "after"))} == set(bins)
    assert named(episode, 1)["down after"] == 0  # number 0 is not finished


def test_nearer_neighbours_say_more() -> None:
    video = cross()
    episode = video.begin(EVERYTHING)
    for region in (1, 3):  # at distances √10 and 2
        video.compute(episode, region, 0)
        episode.finish(region)
    weights = np.array([1 / np.sqrt(10), 1 / 2])
    expected = weights @ video.probabilities[[1, 3], 1] / weights.sum()
    seen = named(episode, 0)
    assert np.allclose([seen[f"near {label}"] for label in "wxyz"], expected, atol=1e-6)
    assert seen["any neighbour"] == 1


def test_without_evidence_there_are_zeros() -> None:
    episode = made_video(1).begin(1.0)
    seen = named(episode, 3)
    silent = [f"near {label}" for label in "wxyz"]
    silent += [
        "has a",
        "own confidence",
        "anything computed",
        "neighbours' confidence",
        "any neighbour",
        "disagreement",
    ]
    assert all(seen[name] == 0 for name in silent)
    assert seen["1"] == 1
    assert seen["time for each"] == seen["time left"]


def test_disagreement_is_that_with_the_neighbours() -> None:
    video = cross()
    video.probabilities[0, 1], video.probabilities[1, 1] = [1, 0, 0, 0], [0, 0, 1, 0]
    episode = video.begin(EVERYTHING)
    for region in (0, 1):
        video.compute(episode, region, 0)
    episode.finish(1)
    seen = named(episode, 0)
    assert seen["disagreement"] == seen["own confidence"] == seen["neighbours' confidence"] == 1


@pytest.mark.parametrize("budget_s", [0.0, 1e-12, 1.0, 1e12, EVERYTHING])
def test_they_are_finite_whatever_the_budget(budget_s: float) -> None:
    episode = made_video(1).begin(budget_s)
    assert np.isfinite(features(episode, 2)).all()
    episode.state.scalars.left_s = -1.0
    assert np.isfinite(features(episode, 2)).all()


def test_more_than_everything_costs_looks_like_all_of_it() -> None:
    video = made_video(1)
    every, more = (features(video.begin(budget_s), 2) for budget_s in (video.full_s, EVERYTHING))
    assert np.allclose(every, more)
    assert every[-6 - len(EXTRAS) :][EXTRAS.index("time left")] == pytest.approx(0, abs=1e-6)


def test_the_last_of_the_time_is_not_told_apart() -> None:
    """Or the last descriptors would cost most of the decisions."""
    video = made_video(1)
    some, less, hardly = (features(video.begin(share * video.full_s), 2) for share in (0.003, 0.0019, 1e-5))
    assert np.array_equal(less, hardly)
    assert not np.array_equal(some, less)


def test_a_slow_machine_with_as_much_more_time_is_the_same() -> None:
    video = made_video(1)
    usual, slow = video.begin(0.3 * video.full_s), video.begin(0.6 * video.full_s)
    slow.slowdown = 2.0
    assert np.allclose(features(usual, 2), features(slow, 2), atol=1e-6)
