"""The linear policy and the ones that need no learning."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chisquare

from budgetseg.descriptors.table import Costs
from budgetseg.policy import LinearPolicy, plan_policy, random_policy
from budgetseg.policy.episode import Episode, Selection
from budgetseg.policy.features import feature_names
from budgetseg.policy.view import allowed_actions, features_of
from tests.policy.worlds import EVERYTHING, Made, any_policy, made_video


def reordered(video: Made, order: Sequence[int]) -> Made:
    """The same video with its descriptors in another order."""
    costs, n = video.costs, len(video.graph)
    cells = (np.arange(n)[:, None] * 3 + np.array(order)).ravel()
    needed = [costs.needed[costs.first[cell] : costs.first[cell + 1]] for cell in cells]
    first = np.cumsum([0, *map(len, needed)])
    old = [sum(1 << order[k] for k in range(3) if subset >> k & 1) for subset in range(8)]
    own_s = np.ascontiguousarray(costs.private_s[:, order])
    return Made(
        video.graph,
        Costs(own_s, costs.resource_s, first, np.concatenate(needed), costs.kinds),
        np.ascontiguousarray(video.probabilities[:, old]),
    )


@pytest.mark.parametrize("extended", [True, False])
def test_the_best_score_wins(extended: bool) -> None:
    video = made_video(0)
    policy = any_policy(video, 0, extended)
    episode = video.begin(EVERYTHING)
    for best in range(4):
        weights = policy.weights.copy()
        weights[best, 0] = 1e4
        assert replace(policy, weights=weights).action(episode, 5) == best
    assert replace(policy, weights=np.zeros_like(policy.weights)).action(episode, 5) == 0  # the first of equals


def test_only_what_is_enabled_missing_and_affordable_is_chosen() -> None:
    video = made_video(0)
    eager = np.zeros_like(any_policy(video, 0, False).weights)
    eager[:3, 0] = [3, 2, 1]
    policy = replace(any_policy(video, 0, False), weights=eager)
    episode = video.begin(EVERYTHING, enabled=0b110)
    assert policy.action(episode, 5) == 1
    video.compute(episode, 5, 1)
    assert policy.action(episode, 5) == 2
    episode.left_s = episode.cost_s(5, 2)
    assert policy.action(episode, 5) == 2
    episode.left_s = np.nextafter(episode.left_s, 0)
    assert policy.action(episode, 5) == 3


def test_what_was_reopened_is_not_finished_as_long_as_anything_fits() -> None:
    video = made_video(0, n=2)
    policy = plan_policy([], 3, 4)
    episode = video.begin(EVERYTHING)
    assert policy.action(episode, 0) == 3
    for region in range(2):
        episode.finish(region)
    region = episode.select() or 0
    assert policy.action(episode, region) < 3


def test_a_random_policy_takes_each_allowed_action_as_often() -> None:
    video = made_video(0)
    world, policy = video.begin(1.0).world, random_policy(3, 4)
    for enabled in (0b111, 0b101):
        counts = Counter[int]()
        for seed in range(500):
            episode = Episode.begin(world, 4, EVERYTHING, seed=seed, enabled=enabled)
            counts.update(policy.action(episode, region) for region in range(4))
        assert sorted(counts) == [d for d in range(3) if enabled >> d & 1] + [3]
        assert chisquare(list(counts.values())).pvalue > 1e-3


@pytest.mark.parametrize("plan", [(), (0,), (1, 2), (0, 2), (0, 1, 2)])
def test_a_plan_computes_its_descriptors_in_rising_order_and_no_others(plan: tuple[int, ...]) -> None:
    video = made_video(3)
    episode = video.begin(EVERYTHING, Selection("sure", 0.2, reopen=False))
    computed: dict[int, list[int]] = {i: [] for i in range(15)}
    for (region, descriptor), _ in video.run(episode, plan_policy(plan, 3, 4)):
        computed[region].append(descriptor)
    assert all(own == list(plan) for own in computed.values())


def test_a_plan_may_be_long() -> None:
    video = made_video(3, n=2, n_descriptors=14, n_labels=2)
    episode = video.begin(EVERYTHING, Selection(reopen=False))
    video.run(episode, plan_policy(range(1, 14), 14, 2))
    assert (episode.state.subsets == 2**14 - 2).all()


@pytest.mark.parametrize("extended", [True, False])
@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 0, 2)])
def test_descriptors_in_another_order_get_the_same_decisions(order: tuple[int, ...], extended: bool) -> None:
    names = ["colour", "hog", "hof"]
    for seed in range(5):
        video = made_video(seed)
        policy = any_policy(video, seed, extended)
        other = policy.with_descriptors(names, [names[d] for d in order])
        budget_s = 0.5 * video.full_s
        here = video.run(video.begin(budget_s, seed=seed), policy)
        there = reordered(video, order)
        recorded = there.run(there.begin(budget_s, seed=seed), other)
        assert [(region, order[d]) for (region, d), _ in recorded] == [choice for choice, _ in here]
        back = other.with_descriptors([names[d] for d in order], names)
        assert np.array_equal(back.weights, policy.weights)


def test_the_most_wanted_comes_first_and_neighbours_are_ranked_again() -> None:
    video, n_descriptors = made_video(4), 3
    names = feature_names(("a", "b", "c"), ("w", "x", "y", "z"), extended=True)
    weights = np.zeros((n_descriptors + 1, len(names)), np.float32)
    weights[0, names.index("1")], weights[0, names.index("size")] = 100, 1
    episode = video.begin(EVERYTHING, Selection("wanted", reopen=False))
    sizes = video.graph.sizes.astype(float)
    bought = [region for (region, _), _ in video.run(episode, LinearPolicy(weights, extended=True))]
    assert bought[:15] == sorted(range(15), key=lambda i: -sizes[i])
    weights[0, names.index("any neighbour")] = -50  # whoever has a neighbour with a descriptor can wait
    episode = video.begin(EVERYTHING, Selection("wanted", reopen=False))
    bought = [region for (region, _), _ in video.run(episode, LinearPolicy(weights, extended=True))][:15]
    touching = {frozenset(edge) for edge in video.graph.edges.tolist()}
    alone = [k for k in range(15) if not any(frozenset((bought[k], other)) in touching for other in bought[:k])]
    assert alone == list(range(len(alone)))  # everyone without such a neighbour comes before all others
    assert 1 < len(alone) < 15


def most_wanted(episode: Episode, policy: LinearPolicy) -> tuple[int, int]:
    """The supervoxel and the descriptor that are most ahead of Finished, everything looked at anew."""
    wishes: dict[tuple[int, int], float] = {}
    for region in np.flatnonzero(episode.state.where[0] >= 0).tolist():
        scores = policy.weights @ features_of(episode, region, extended=True)
        allowed = np.flatnonzero(allowed_actions(episode, region)[:-1]).tolist()
        wishes |= {(region, d): float(scores[d] - scores[-1]) for d in allowed}
    return max(wishes, key=lambda pair: wishes[pair])


@pytest.mark.parametrize("seed", range(6))
def test_time_changes_at_once_who_is_wanted_most(seed: int) -> None:
    """Nobody has a neighbour here: it is time alone, by another weight for each descriptor, that changes."""
    video, rng = made_video(seed, n=40, n_edges=0), np.random.default_rng(seed)
    names = feature_names(("a", "b", "c"), ("w", "x", "y", "z"), extended=True)
    weights = np.zeros((4, len(names)), np.float32)
    for feature in ("1", "size", "own doubt", "time left", "time for each", "cost of a", "cost of b", "cost of c"):
        weights[:3, names.index(feature)] = rng.normal(size=3) / 2
    weights[:3, 0] += 20  # nobody is finished early
    policy = LinearPolicy(weights, extended=True)
    episode, chosen = video.begin(2 * video.full_s, Selection("wanted"), shared=False), Counter[int]()
    while (batch := policy(episode.copy())).n_actions:
        assert batch.actions[0] == most_wanted(episode, policy)
        chosen[int(batch.sources[0])] += 1
        batch = policy(episode)
        video.receive(episode, batch)
    assert len(chosen) == 3
    assert chosen.total() > 40


@pytest.mark.parametrize("seed", range(6))
def test_who_shares_what_was_paid_for_is_ranked_again_at_once(seed: int) -> None:
    """Nobody has a neighbour here: it is what others have paid for that makes a descriptor cheap."""
    video = made_video(seed, n=40, n_edges=0)
    video.costs.resource_s[:] = 50.0  # dear beside what descriptors cost themselves
    names = feature_names(("a", "b", "c"), ("w", "x", "y", "z"), extended=True)
    weights = np.zeros((4, len(names)), np.float32)
    weights[:3, 0], weights[:3, names.index("size")] = 50, 0.5
    for d, name in enumerate("abc"):
        weights[d, names.index(f"cost of {name}")] = -1
    policy, episode = LinearPolicy(weights, extended=True), video.begin(2 * video.full_s, Selection("wanted"))
    n_chosen = 0
    while (batch := policy(episode.copy())).n_actions:
        assert batch.actions[0] == most_wanted(episode, policy)
        batch, n_chosen = policy(episode), n_chosen + 1
        video.receive(episode, batch)
    assert n_chosen > 60


def test_what_there_was_no_time_for_is_wanted_again_when_there_is() -> None:
    video, names = made_video(0, n=40, n_edges=0), feature_names(("a", "b", "c"), ("w", "x", "y", "z"), extended=True)
    video.costs.private_s[:, 2] = 50.0
    weights = np.zeros((4, len(names)), np.float32)
    weights[:3, 0], weights[:3, names.index("size")] = (5, -50, 20), 1
    policy, episode = LinearPolicy(weights, extended=True), video.begin(30.0, Selection("wanted"), shared=False)
    for expected, left_s in ((0, 30.0), (0, 29.0), (2, 1e6), (2, 1e5)):
        episode.left_s = left_s
        largest = most_wanted(episode.copy(), policy)
        batch = policy(episode)
        assert batch.sources[0] == largest[1] == expected
        assert video.graph.sizes[batch.places[0]] == video.graph.sizes[largest[0]]
        video.receive(episode, batch)


def test_looking_at_everyone_changes_no_decision() -> None:
    for seed in range(20):
        video = made_video(seed)
        policy, runs = any_policy(video, seed, extended=True), list[list[tuple[int, int]]]()
        for looks in (False, True):
            episode, choices = video.begin(0.6 * video.full_s, Selection("wanted"), seed), list[tuple[int, int]]()
            while (batch := policy(episode)).n_actions:
                choices += batch.actions
                video.receive(episode, batch)
                for region in range(15 if looks else 0):
                    features_of(episode, region, extended=True)
                    allowed_actions(episode, region)
                    policy.action(episode, region)
            runs.append(choices)
        assert runs[0] == runs[1]
