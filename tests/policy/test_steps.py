"""Single steps: draws, candidates, finished ones, and the heap."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chisquare, kstest

from budgetseg.policy.episode import Episode, Selection
from budgetseg.policy.heap import BELOW, NOWHERE
from budgetseg.policy.state import AGAIN, BUSY, CANDIDATE, FINISHED, UNSEEN, State
from budgetseg.policy.steps import ORDERS, uniform
from budgetseg.types import Action
from tests.graphs import graph_of
from tests.policy.plain import plain_uniform
from tests.policy.worlds import EVERYTHING, Made, any_policy, finish_all, made_video

WORDS = st.integers(0, 2**63)


@given(WORDS, st.integers(0, 2**31 - 1), st.integers(0, 2**31 - 1))
@settings(deadline=None, max_examples=60)
def test_draws_are_those_of_splitmix(seed: int, region: int, visit: int) -> None:
    assert uniform(np.uint64(seed), region, visit) == plain_uniform(seed, region, visit)
    assert 0 < plain_uniform(seed, region, visit) < 1


def test_draws_are_uniform_and_do_not_depend_on_each_other() -> None:
    draws = np.array([[uniform(np.uint64(9), i, visit) for visit in range(60)] for i in range(60)])
    assert kstest(draws.ravel(), "uniform").pvalue > 1e-3
    for shifted in (draws[1:], draws[:, 1:], draws[1:, 1:]):
        rows, columns = shifted.shape
        assert abs(np.corrcoef(shifted.ravel(), draws[:rows, :columns].ravel())[0, 1]) < 0.06


def video_of(edges: list[list[int]], n: int) -> Made:
    video = made_video(0, n)
    return Made(graph_of(edges, np.random.default_rng(3).random((n, 3)) * 9), video.costs, video.probabilities)


def test_random_selection_is_uniform_over_the_candidates() -> None:
    video = video_of([[0, 5], [1, 5], [2, 5], [3, 5], [4, 5]], 6)  # whoever is finished first brings number 5
    first = video.begin(EVERYTHING)
    seen: list[Counter[int]] = [Counter() for _ in range(4)]
    for seed in range(3000):
        episode = Episode.begin(first.world, 4, EVERYTHING, Selection(start=0.0), seed)
        one = episode.select()
        assert one is not None
        seen[0][one] += 1
        episode.finish(one)
        if one != 5:
            continue
        for step in (1, 2, 3):  # the five others are candidates; one is described, one is finished
            region = episode.select()
            assert region is not None
            among = [i for i in range(6) if episode.state.status[i] == CANDIDATE]
            seen[step][among.index(region)] += 1
            if step == 1:
                video.compute(episode, region, 0)
            elif step == 2:
                episode.finish(region)
    assert [len(counts) for counts in seen] == [6, 5, 5, 4]
    for counts in seen:
        assert chisquare(list(counts.values())).pvalue > 1e-3


def test_whoever_was_just_described_is_as_likely_as_any() -> None:
    video = video_of([], 4)
    world, again = video.begin(EVERYTHING).world, 0
    for seed in range(2000):
        episode = Episode.begin(world, 4, EVERYTHING, Selection(), seed)
        for _ in range(2):
            region = episode.select()
            assert region is not None
            video.compute(episode, region, int(episode.state.subsets[region]))
        last = episode.select()
        again += last == region
    assert again / 2000 == pytest.approx(1 / 4, abs=0.03)


def test_the_same_seed_selects_the_same() -> None:
    video = made_video(4)
    runs = [list(finish_all(video.begin(1.0, Selection(reopen=False), seed))) for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]
    assert sorted(runs[0]) == list(range(15))


def test_another_decision_leaves_the_draws_of_others_alone() -> None:
    video = video_of([], 12)  # nobody has neighbours, so that turns depend on draws alone

    def turns(described: bool) -> list[int]:
        episode = video.begin(EVERYTHING, Selection(reopen=False), seed=8)
        first, others = episode.select(), []
        assert first is not None
        if described:
            video.compute(episode, first, 0)
        else:
            episode.finish(first)
        for region in finish_all(episode):
            others += [region] if region != first else []
        return others

    assert turns(described=True) == turns(described=False)


def test_finishing_lets_unfinished_neighbours_join() -> None:
    near = {0: {1, 2}, 1: {0}, 2: {0, 3}, 3: {2}, 4: set[int]()}
    for seed in range(10):
        video = video_of([[0, 1], [0, 2], [2, 3]], 5)
        episode = video.begin(EVERYTHING, Selection(start=0.0, reopen=False), seed)
        candidates, finished = set[int](), set[int]()
        for region in finish_all(episode):
            joined = set(np.flatnonzero(episode.state.status == CANDIDATE).tolist())
            assert joined == (candidates or {region})  # where nobody is left, one is seeded
            finished.add(region)
            candidates = (candidates | near[region]) - finished
        assert (episode.state.status == FINISHED).all()
        assert episode.state.scalars.n_finished == 5


def test_finished_neighbours_without_descriptors_are_counted_but_not_heard() -> None:
    video = video_of([[0, 1], [0, 2]], 3)
    episode = video.begin(EVERYTHING)
    video.compute(episode, 1, 0)
    state = episode.state
    assert state.neighbour_weight[0] == state.finished_around[0].sum() == 0  # not finished yet
    episode.finish(1)
    heard, neighbour_confidence = state.neighbour_weight[0], state.neighbour_confidence[0]
    assert state.finished_around[0].sum() == 1
    assert np.allclose(state.neighbour_sum[0] / heard, video.probabilities[1, 1])
    assert neighbour_confidence / heard == pytest.approx(video.probabilities[1, 1].max())
    episode.finish(2)
    assert state.finished_around[0].sum() == 2
    assert (state.neighbour_weight[0], state.neighbour_confidence[0]) == (heard, neighbour_confidence)
    assert not state.broadcast[2]


def test_what_is_reopened_is_heard_anew() -> None:
    video = video_of([[0, 1]], 2)
    episode = video.begin(EVERYTHING)
    for region in range(2):
        episode.finish(region)
    assert not episode.state.broadcast.any()
    chosen = episode.select()
    assert chosen is not None
    for descriptor in (1, 0):
        video.compute(episode, chosen, descriptor)
    other = 1 - chosen
    assert np.allclose(
        episode.state.neighbour_sum[other] / episode.state.neighbour_weight[other],
        video.probabilities[chosen, 0b11],
        atol=1e-5,
    )
    assert episode.state.finished_around[other].sum() == 1
    assert episode.state.scalars.n_finished == 2


def test_isolated_supervoxels_have_their_turn() -> None:
    episode = video_of([[1, 2]], 5).begin(EVERYTHING, Selection(start=0.0, reopen=False))
    assert sorted(finish_all(episode)) == [0, 1, 2, 3, 4]


@pytest.mark.parametrize("reopened", [True, False])
def test_what_is_being_computed_is_nobodys_turn(reopened: bool) -> None:
    video = video_of([[0, 1], [1, 2]], 3)
    episode = video.begin(EVERYTHING)
    if reopened:
        for region in range(3):
            episode.finish(region)
    busy: list[int] = []
    while (chosen := episode.select()) is not None:
        busy.append(chosen)
        episode.start(Action(chosen, 0))
    assert sorted(busy) == [0, 1, 2]
    assert (episode.state.status == (AGAIN if reopened else BUSY)).all()
    first = busy[0]
    episode.receive(Action(first, 0), video.probabilities[first, 1], 1.0)
    assert episode.select() == first


def check_heaps(state: State, n_rows: int) -> None:
    assert (state.where[n_rows:] == NOWHERE).all()
    for row in range(n_rows):
        n, ranks, where = int(state.waiting[row]), state.rank[row], state.where[row].tolist()
        heap = state.heap[row, :n].tolist()
        assert all(ranks[(at - 1) // BELOW] <= ranks[at] for at in range(1, n))
        assert [where[i] for i in heap] == list(range(n))
        assert {i for i, at in enumerate(where) if at != NOWHERE} == set(heap)
        assert {i for i in range(len(where)) if state.status[i] == CANDIDATE} <= set(heap)
        assert not {i for i in heap if state.status[i] in (UNSEEN, BUSY, AGAIN)}


@given(st.sampled_from(sorted(ORDERS)), st.integers(1, 12), WORDS, st.booleans())
@settings(deadline=None, max_examples=80)
def test_candidates_stay_a_heap_whatever_happens(order: str, n: int, seed: int, reopen: bool) -> None:
    rng, video = np.random.default_rng(seed), made_video(seed % 1000, n)
    episode = video.begin(EVERYTHING, Selection(order, rng.random(), reopen), seed)
    busy, n_rows = list[Action](), 3 if order == "wanted" else 1
    for _ in range(60):
        waiting = episode.state.heap[0, : episode.state.waiting[0]]
        region = int(rng.choice(waiting)) if len(waiting) else episode.select()
        missing = [d for d in range(3) if region is not None and not episode.state.subsets[region] >> d & 1]
        if busy and (region is None or rng.random() < 0.4):
            choice = busy.pop(int(rng.integers(len(busy))))
            if rng.random() < 0.1:
                episode.give_up(choice[0])
            else:
                episode.receive(choice, video.probabilities[choice[0], 1 << choice[1]], 0.1)
        elif region is None:
            break
        elif missing and rng.random() < 0.7:
            busy.append(Action(region, int(rng.choice(missing))))
            episode.start(busy[-1])
        else:
            episode.finish(region)
        check_heaps(episode.state, n_rows)
        if episode.state.waiting[0]:
            assert episode.select() == episode.state.heap[0, 0]
            check_heaps(episode.state, n_rows)


def test_the_heaps_of_all_descriptors_hold_while_a_policy_ranks() -> None:
    for seed in range(20):
        video = made_video(seed, n=25)
        episode, policy = video.begin(0.6 * video.full_s, Selection("wanted"), seed), any_policy(video, seed, True)
        while (batch := policy(episode, 2)).n_actions:
            check_heaps(episode.state, 3)
            assert len(set(episode.state.waiting.tolist())) == 1
            video.receive(episode, batch)
        assert episode.n_computed > 10
