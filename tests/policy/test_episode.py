"""An episode from Python, against the compiled steps that it stands for."""

import numpy as np
import pytest

from budgetseg.errors import UsageError
from budgetseg.policy import steps
from budgetseg.policy.episode import Episode, Selection
from budgetseg.policy.linear import choose
from budgetseg.policy.state import BUSY, CANDIDATE, FINISHED
from budgetseg.policy.steps import ORDERS
from budgetseg.types import Action
from tests.policy.worlds import EVERYTHING, any_policy, made_video


def same(one: Episode, other: Episode) -> bool:
    return all(
        np.array_equal(np.asarray(mine), np.asarray(yours)) for mine, yours in zip(one.state, other.state, strict=True)
    )


@pytest.mark.parametrize("order", ORDERS)
def test_an_episode_does_what_the_steps_do(order: str) -> None:
    video, rng = made_video(5), np.random.default_rng(5)
    policy = any_policy(video, 5, extended=True, noise=1.0)
    episode = video.begin(video.full_s, Selection(order, 0.2))
    direct = episode.copy()
    world, state = direct.world, direct.state
    for _ in range(40):
        region = episode.select()
        assert region == steps.select(world, state)
        if region is None:
            break
        d = int(rng.integers(3))
        seconds = steps.cost_of(world, state, region, d)
        assert episode.cost_s(region, d) == seconds
        if rng.random() < 0.3 or state.subsets[region] >> d & 1:
            episode.finish(region)
            steps.finish(world, state, region)
        else:
            probabilities = video.probabilities[region, state.subsets[region] | 1 << d]
            episode.start(Action(region, d))
            episode.receive(Action(region, d), probabilities, seconds)
            steps.begin(world, state, region, d)
            steps.receive(world, state, region, d, probabilities, seconds)
        assert same(episode, direct)
        copy = direct.copy()
        expected = choose(copy.world, copy.state, policy.scorer)
        assert policy(episode.copy()).actions == ([] if expected[0] < 0 else [expected])


def test_a_copy_goes_its_own_way() -> None:
    video = made_video(6)
    episode = video.begin(0.5 * video.full_s)
    policy = any_policy(video, 1, extended=True)
    kept, twin = episode.copy(), episode.copy()
    first = video.run(episode, policy)
    assert same(kept, twin)
    assert not same(kept, episode)
    assert [choice for choice, _ in video.run(twin, policy)] == [choice for choice, _ in first]
    assert same(twin, episode)


@pytest.mark.parametrize(("start", "n"), [(0.0, 1), (0.1, 2), (0.5, 8), (1.0, 15)])
def test_a_share_of_the_supervoxels_are_candidates_from_the_beginning(start: float, n: int) -> None:
    episode = made_video(0).begin(1.0, Selection(start=start))
    assert (episode.state.status == CANDIDATE).sum() == n


def test_an_unknown_order_is_refused() -> None:
    with pytest.raises(UsageError, match="no order of selection 'small'; choose from random, sure"):
        Selection("small")


def test_money_and_counts_are_those_of_the_state() -> None:
    video = made_video(0)
    episode = video.begin(9.0)
    region = episode.select()
    assert region is not None
    cost_s = episode.cost_s(region, 1)
    video.compute(episode, region, 1)
    assert (episode.spent_s, episode.left_s) == (cost_s, 9.0 - cost_s)
    assert (episode.n_decisions, episode.n_computed) == (1, 1)
    assert episode.full_s == pytest.approx(video.full_s)
    episode.left_s = 2.0
    assert episode.left_s == 2.0


def test_a_slow_machine_makes_everything_dearer() -> None:
    episode = made_video(0).begin(9.0)
    before_s = episode.cost_s(3, 1)
    episode.slowdown = 2.5
    assert episode.slowdown == 2.5
    assert episode.cost_s(3, 1) == pytest.approx(2.5 * before_s)


def test_resources_are_paid_for_once() -> None:
    video = made_video(0)
    episode, costs = video.begin(EVERYTHING), video.costs
    episode.start(Action(4, 2))
    for region, d in np.ndindex(costs.private_s.shape):
        cell = region * 3 + d
        needed = set(costs.needed[costs.first[cell] : costs.first[cell + 1]].tolist())
        made = set(costs.needed[costs.first[14] : costs.first[15]].tolist())
        expected_s = costs.private_s[region, d] + sum(costs.resource_s[r] for r in needed - made)
        assert episode.cost_s(region, d) == pytest.approx(expected_s)


def test_a_descriptor_that_cannot_be_had_finishes_its_supervoxel() -> None:
    video = made_video(0)
    episode = video.begin(EVERYTHING)
    video.compute(episode, 3, 0)
    episode.start(Action(3, 1))
    episode.give_up(3)
    assert episode.state.status[3] == FINISHED
    assert episode.state.broadcast[3]
    assert episode.state.subsets[3] == 0b001


def test_what_is_withdrawn_is_not_selected_until_it_is_back() -> None:
    video = made_video(0, n=2)
    episode = video.begin(EVERYTHING, Selection(start=0.0))
    first = episode.select()
    assert first is not None
    episode.withdraw(1 - first)  # not even a candidate
    episode.withdraw(first)
    assert (episode.state.status == BUSY).all()
    assert episode.select() is None
    episode.receive(Action(first, 0), video.probabilities[first, 1], 0.1)
    assert episode.select() == first


def test_an_episode_may_go_on_from_what_is_known() -> None:
    video = made_video(7)
    earlier = video.begin(0.4 * video.full_s)
    policy = any_policy(video, 2, extended=True)
    video.run(earlier, policy)
    later = video.begin(EVERYTHING)
    later.recall(earlier.state.subsets, earlier.state.probabilities)
    assert later.n_computed == earlier.n_computed
    recorded = video.run(later, policy)
    assert len(recorded) + earlier.n_computed == 15 * 3
    assert (later.state.subsets == 0b111).all()
