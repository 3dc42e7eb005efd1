"""Algorithm 1 over a table against a plain one, what must hold of any run, and how values are looked up."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from budgetseg.policy import LinearPolicy, plan_policy, random_policy
from budgetseg.policy.episode import Episode, Selection
from budgetseg.policy.features import fill_features
from budgetseg.policy.steps import ORDERS, price
from budgetseg.simulate.table import TableState, play_plain
from budgetseg.timing.clock import CostClock
from budgetseg.types import Float32
from tests.graphs import graph_of
from tests.policy.plain import PlainRun
from tests.policy.worlds import EVERYTHING, Made, any_policy, made_video
from tests.simulate.arenas import NAMES, random_arena

GOLDEN = Path(__file__).with_name("golden_trace.json")

Decision = tuple[int, int]


def features_of(episode: Episode, region: int, policy: LinearPolicy) -> Float32:
    price(episode.world, episode.state, region)
    out = np.empty(policy.weights.shape[1], np.float32)
    fill_features(episode.world, episode.state, region, policy.extended, out)
    return out


def decide_side_by_side(video: Made, episode: Episode, policy: LinearPolicy, shared: bool) -> list[Decision]:
    """All decisions, each of them the plain one."""
    plain = PlainRun(video, episode, policy, shared)
    decisions = []
    while not plain.is_over():
        region = episode.select()
        assert region == plain.select()
        if region is None:
            break
        assert np.allclose(features_of(episode, region, policy), plain.features(region), rtol=1e-4, atol=1e-5)
        action = policy.action(episode, region)
        assert action == plain.action(region)
        decisions.append((region, action))
        plain.act(region, action)
        if action == video.n_descriptors:
            episode.finish(region)
        else:
            video.compute(episode, region, action)
        assert episode.left_s == pytest.approx(plain.left_s)
    return decisions


@pytest.mark.parametrize("shared", [True, False], ids=["shared", "unshared"])
@pytest.mark.parametrize("reopen", [True, False], ids=["reopen", "once"])
@pytest.mark.parametrize("extended", [True, False], ids=["extended", "paper"])
@pytest.mark.parametrize("order", [order for order in ORDERS if order != "wanted"])
def test_decisions_are_those_of_a_plain_run(order: str, extended: bool, reopen: bool, shared: bool) -> None:
    actions = set()
    for seed in range(12):
        video = made_video(seed)
        policy = any_policy(video, seed + 100, extended, noise=float(seed % 6 == 5))
        budget_s = video.full_s * (0.15, 0.3, 0.6, 0.9, 1.5, 0.4)[seed % 6]
        selection, enabled = Selection(order, (0.1, 0.3, 1.0)[seed % 3], reopen), (0b111, 0b101)[seed % 2]
        decisions = decide_side_by_side(video, video.begin(budget_s, selection, seed, enabled, shared), policy, shared)
        recorded = video.run(video.begin(budget_s, selection, seed, enabled, shared), policy)
        assert [choice for choice, _ in recorded] == [own for own in decisions if own[1] < video.n_descriptors]
        actions |= {action for _, action in decisions}
    assert actions == {0, 1, 2, 3}


def affordable(episode: Episode, budget_s: float) -> list[Decision]:
    """What could still be computed."""
    n, n_descriptors = episode.world.private_s.shape
    missing = [int(episode.state.scalars.enabled) & ~int(subset) for subset in episode.state.subsets]
    pairs = itertools.product(range(n), range(n_descriptors))
    return [(i, d) for i, d in pairs if missing[i] >> d & 1 and episode.cost_s(i, d) <= budget_s - episode.spent_s]


@pytest.mark.parametrize("order", ORDERS)
def test_a_run_keeps_within_its_budget_and_ends_only_when_nothing_fits(order: str) -> None:
    for seed in range(20):
        video = made_video(seed, n=8)
        budget_s = video.full_s * (seed + 1) / 25
        episode = video.begin(budget_s, Selection(order, 0.2), seed, enabled=0b110)
        video.run(episode, any_policy(video, seed, extended=seed % 2 == 0))
        assert episode.spent_s <= budget_s
        assert episode.left_s == pytest.approx(budget_s - episode.spent_s)
        assert affordable(episode, budget_s * (1 - 1e-12)) == []


@pytest.mark.parametrize("enabled", [0b111, 0b101, 0b010, 0])
@pytest.mark.parametrize("order", ORDERS)
def test_without_a_bound_everything_enabled_is_computed_and_nothing_else(order: str, enabled: int) -> None:
    for seed in range(4):
        video = made_video(seed)
        episode = video.begin(EVERYTHING, Selection(order, 0.1), seed, enabled)
        recorded = video.run(episode, any_policy(video, seed, extended=True))
        assert (episode.state.subsets == enabled).all()
        assert len(recorded) == episode.n_computed == 15 * enabled.bit_count()


def test_more_budget_later_is_spent_too() -> None:
    video = made_video(3)
    episode = video.begin(0.2 * video.full_s, seed=1)
    policy = any_policy(video, 3, extended=True)
    video.run(episode, policy)
    early = episode.n_computed
    episode.left_s = EVERYTHING
    video.run(episode, policy)
    assert 0 < early < episode.n_computed == 15 * 3


def test_weights_gone_wrong_do_not_hang_a_run() -> None:
    video = made_video(0)
    policy = any_policy(video, 0, extended=True)
    for value, order in itertools.product((np.nan, np.inf, -np.inf), ORDERS):
        episode = video.begin(EVERYTHING, Selection(order))
        video.run(episode, replace(policy, weights=np.full_like(policy.weights, value)))
        assert (episode.state.subsets == 0b111).all()


@pytest.mark.parametrize("n", [1, 6])
def test_a_budget_of_nothing_buys_nothing(n: int) -> None:
    video = made_video(0, n)
    episode = video.begin(0.0)
    assert video.run(episode, any_policy(video, 0, extended=True)) == []
    assert episode.spent_s == 0


def test_one_supervoxel_alone_is_a_video() -> None:
    video = made_video(2, n=1)
    episode = video.begin(EVERYTHING)
    video.run(episode, any_policy(video, 0, extended=True))
    assert episode.state.subsets.tolist() == [0b111]


def test_isolated_supervoxels_are_reached() -> None:
    video = replace(made_video(1, n=6), graph=graph_of([[0, 1]], np.random.default_rng(1).random((6, 3))))
    episode = video.begin(EVERYTHING, Selection(start=0.0, reopen=False))
    video.run(episode, plan_policy([0], 3, 4))
    assert (episode.state.subsets == 1).all()


def test_recorded_costs_add_up_to_what_was_spent() -> None:
    for seed in range(10):
        video = made_video(seed)
        episode = video.begin(0.5 * video.full_s, seed=seed)
        recorded = video.run(episode, random_policy(3, 4))
        assert sum(spent_s for _, spent_s in recorded) == pytest.approx(episode.spent_s)
        has = np.zeros(15, int)
        for (region, descriptor), _ in recorded:
            has[region] |= 1 << descriptor
        assert np.array_equal(has, episode.state.subsets)
        known = has > 0
        assert np.array_equal(
            episode.state.probabilities[known], video.probabilities[np.flatnonzero(known), has[known]]
        )


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("n", [2, 5, 100])
def test_decisions_taken_together_are_all_different_and_fit(order: str, n: int) -> None:
    for seed in range(6):
        video = made_video(seed)
        policy, budget_s = any_policy(video, seed, extended=True), 0.5 * video.full_s
        episode = video.begin(budget_s, Selection(order), seed)
        while (batch := policy(episode, n)).n_actions:
            assert len(set(batch.places.tolist())) == batch.n_actions <= n
            assert batch.planned_s.sum() <= episode.left_s + 1e-9
            has = episode.state.subsets[batch.places]
            assert not (has >> batch.sources & 1).any()
            video.receive(episode, batch)
        assert episode.spent_s <= budget_s
        alone = video.begin(budget_s, Selection(order), seed)
        video.run(alone, policy)
        assert (episode.left_s < 0.3 * budget_s) == (alone.left_s < 0.3 * budget_s)


def test_no_more_are_taken_together_than_the_seconds_asked_for() -> None:
    video = made_video(3)
    for most_s in (0.0, 0.5, 2.0, 5.0):
        batch = plan_policy([0, 1, 2], 3, 4)(video.begin(EVERYTHING), 15, most_s)
        assert batch.planned_s[:-1].sum() < max(most_s, 1e-9)
        assert batch.planned_s.sum() >= most_s or batch.n_actions == 15


def test_what_a_state_knows_of_costs_is_what_they_are() -> None:
    for seed in range(6):
        video = made_video(seed)
        episode = video.begin(EVERYTHING, Selection("wanted"), seed)
        for (region, d), _ in video.run(video.begin(EVERYTHING, seed=seed), random_policy(3, 4)):
            video.compute(episode, region, d)
            if d == 2 and region % 5 == 0:
                episode.drop(1)
            if d == 1 and region % 5 == 0:
                episode.lose([3])
            for other in range(15):
                price(episode.world, episode.state, other)
                lacks = int(episode.state.scalars.enabled) & ~int(episode.state.subsets[other])
                costs_s = [episode.cost_s(other, k) if lacks >> k & 1 else 0.0 for k in range(3)]
                assert np.allclose(episode.state.costs_s[other], costs_s)


def test_sharing_never_costs_more() -> None:
    for seed in range(10):
        video = made_video(seed)
        choices = [choice for choice, _ in video.run(video.begin(EVERYTHING, seed=seed), random_policy(3, 4))]
        shared, alone = video.begin(EVERYTHING), video.begin(EVERYTHING, shared=False)
        for region, descriptor in choices:
            video.compute(shared, region, descriptor)
            video.compute(alone, region, descriptor)
            assert shared.spent_s <= alone.spent_s + 1e-9
        assert shared.spent_s == pytest.approx(video.full_s)
        assert alone.spent_s == pytest.approx(
            video.costs.private_s.sum() + video.costs.resource_s[video.costs.needed].sum()
        )


def test_a_batch_is_looked_up_for_the_descriptors_that_are_there_and_the_new_one() -> None:
    arena, clock = random_arena(), CostClock()
    episode = arena.begin(np.inf, NAMES, Selection("wanted"))
    table, policy = TableState(episode, arena.probabilities, clock), random_policy(len(NAMES), 3)
    for _ in range(10):
        batch = policy(episode, 5)
        before = episode.state.subsets[batch.places]
        outcome = table.do(batch)
        assert np.array_equal(outcome.values, arena.probabilities[batch.places, before | 1 << batch.sources])
        assert not outcome.missing
        table.add(batch, outcome)
        assert np.array_equal(episode.state.subsets[batch.places], before | 1 << batch.sources)
    assert clock.now_s() == pytest.approx(episode.spent_s)


def test_nothing_in_a_table_has_to_be_cut_off() -> None:
    arena = random_arena()
    assert not TableState(arena.begin(1.0, NAMES), arena.probabilities, CostClock()).cuttable()


@pytest.mark.parametrize("n", [1, 4])
def test_what_was_done_is_recorded_in_order_with_its_price(n: int) -> None:
    arena = random_arena()
    budget_s = 0.4 * arena.full_s(NAMES)
    episode = arena.begin(budget_s, NAMES)
    done = play_plain(episode, arena.probabilities, plan_policy([0, 2], len(NAMES), 3), n)
    assert 0 < len(done) == episode.n_computed
    assert sum(seconds for _, seconds in done) == pytest.approx(episode.spent_s)
    assert episode.spent_s <= budget_s
    subsets = np.zeros_like(episode.state.subsets)
    for (region, descriptor), _ in done:
        subsets[region] |= 1 << descriptor
    assert np.array_equal(subsets, episode.state.subsets)


def golden_trace() -> dict[str, object]:
    """A run of 20 supervoxels; `python -m tests.simulate.test_table` writes it down anew."""
    video = made_video(2024, n=20)
    episode = video.begin(0.5 * video.full_s, Selection("random", 0.1), seed=7)
    recorded = video.run(episode, any_policy(video, 11, extended=True))
    costs = [round(spent_s, 9) for _, spent_s in recorded]
    return {"choices": [list(choice) for choice, _ in recorded], "costs_s": costs, "decisions": episode.n_decisions}


def test_the_same_seed_and_costs_give_the_trace_they_always_gave() -> None:
    assert golden_trace() == json.loads(GOLDEN.read_text())


if __name__ == "__main__":
    GOLDEN.write_text(json.dumps(golden_trace()) + "\n")
