"""Clips of a video are the video in pieces."""

import itertools

import numpy as np
import pytest

from budgetseg.policy.linear import random_policy
from budgetseg.simulate import Arena, play, reward
from budgetseg.simulate.cut import clips_of
from budgetseg.types import Int64
from tests.simulate.arenas import NAMES, random_arena

D = len(NAMES)


def places_of(clip: Arena, arena: Arena) -> Int64:
    """Which supervoxels of the arena a clip has; what H says of each is like no other."""
    found = {own.tobytes(): i for i, own in enumerate(arena.probabilities)}
    return np.array([found[own.tobytes()] for own in clip.probabilities])


def needs_of(arena: Arena, i: int, d: int) -> list[int]:
    first = arena.costs.first[i * D + d : i * D + d + 2]
    return list(arena.costs.needed[first[0] : first[1]].tolist())


@pytest.fixture(scope="module", params=["shared", "unshared"])
def arena(request: pytest.FixtureRequest) -> Arena:
    return random_arena(60, 3, request.param)


@pytest.fixture(scope="module")
def clips(arena: Arena) -> list[Arena]:
    return clips_of(arena, 16)


def test_every_supervoxel_is_in_one_clip_and_clips_follow_each_other(arena: Arena, clips: list[Arena]) -> None:
    places = [places_of(clip, arena) for clip in clips]
    assert sorted(np.concatenate(places).tolist()) == list(range(60))
    assert [len(own) for own in places] == [15, 15, 15, 15]
    assert all((np.diff(own) > 0).all() for own in places)
    times = [arena.graph.centroids[own, 0] for own in places]
    assert all(one.max() <= other.min() for one, other in itertools.pairwise(times))
    assert len({clip.name for clip in clips}) == 4
    assert all(clip.name.startswith(arena.name) for clip in clips)


def test_a_clip_has_the_edges_among_its_own_and_no_others(arena: Arena, clips: list[Arena]) -> None:
    for clip in clips:
        places = places_of(clip, arena)
        rows = zip(arena.graph.edges.tolist(), arena.graph.contact.tolist(), arena.graph.bins.tolist(), strict=True)
        expected = [row for row in rows if row[0][0] in places and row[0][1] in places]
        mine = places[clip.graph.edges].tolist()
        assert list(zip(mine, clip.graph.contact.tolist(), clip.graph.bins.tolist(), strict=True)) == expected
        for name in ("sizes", "centroids", "boxes"):
            assert np.array_equal(getattr(clip.graph, name), getattr(arena.graph, name)[places]), name
        for name in ("truth", "inputs"):
            assert np.array_equal(getattr(clip, name), getattr(arena, name)[places]), name


def test_a_clip_costs_what_its_supervoxels_cost_and_what_they_need(arena: Arena, clips: list[Arena]) -> None:
    for clip in clips:
        places, every = places_of(clip, arena), set[int]()
        users = np.zeros(len(arena.costs.resource_s))
        for i, place in enumerate(places):
            needed = [needs_of(arena, int(place), d) for d in range(D)]
            assert [needs_of(clip, i, d) for d in range(D)] == needed
            every.update(*needed)
            users[list(set().union(*needed))] += 1
        own_s = arena.costs.private_s[places]
        assert np.array_equal(clip.costs.private_s, own_s)
        assert clip.full_s(NAMES) == pytest.approx(own_s.sum() + arena.costs.resource_s[list(every)].sum())
        assert np.array_equal(np.diff(clip.world.users_first), users)
        assert clip.pricing == arena.pricing


def test_a_clip_can_be_labelled(clips: list[Arena]) -> None:
    for clip in clips:
        episode = clip.begin(0.3 * clip.full_s(NAMES), NAMES)
        play(episode, clip.probabilities, random_policy(D, 3))
        assert (reward(clip, episode.state).right <= clip.truth.sum(axis=0)).all()


def test_a_short_video_is_one_clip() -> None:
    arena = random_arena(20)
    assert clips_of(arena, 20) == clips_of(arena, 14) == clips_of(arena, 1000) == [arena]
    assert len(clips_of(arena, 10)) == 2
    assert [len(clip) for clip in clips_of(arena, 1)] == [1] * 20
