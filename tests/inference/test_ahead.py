"""What a core does while another one makes what both need."""

from collections.abc import Sequence
from threading import Lock
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from budgetseg.descriptors.cache import ResourceCache
from budgetseg.descriptors.core import Key, Resource, Scene, Value
from budgetseg.descriptors.late import LateError
from budgetseg.inference.ahead import Ahead
from budgetseg.inference.episode import Episode
from tests.inference.worlds import EVERYTHING, made_video


class Flow(Resource):
    """Needs nothing."""

    kind = "flow"

    def make(self, scene: Scene, index: int, inputs: list[Any]) -> Value:
        raise NotImplementedError


class Chained(Flow):
    """Needs the one before it."""

    def needs(self, scene: Scene, index: int) -> Sequence[Key]:  # noqa: ARG002
        return [("flow", index - 1)] if index else []


class Live:
    """Makes resources, or says that it is late."""

    def __init__(self, is_late: bool = False) -> None:
        self.cache, self.costs, self._is_late = ResourceCache(1000), SimpleNamespace(pace=1.0), is_late
        self.made: list[Key] = []
        self.resources = {"flow": Flow()}

    def make_ahead(self, key: Key) -> bool:
        if self._is_late:
            raise LateError
        self.cache.get(key, lambda: np.zeros(1, np.float32))
        self.made.append(key)
        return True


@pytest.fixture
def episode() -> Episode:
    return made_video(1).begin(EVERYTHING)


def ahead(live: Any, episode: Episode) -> Ahead:
    return Ahead(live, episode.world, {"flow": len(episode.world.resource_s)}, Lock())


def test_it_makes_what_most_will_need_and_then_the_next(episode: Episode) -> None:
    live, n_users = Live(), np.diff(episode.world.users_first)
    make = ahead(live, episode)
    assert (n_users > 1).all()
    while make(episode, "flow", EVERYTHING):
        pass
    assert [n_users[index] for _, index in live.made] == sorted(n_users, reverse=True)
    assert episode.state.made.all()
    assert (episode.state.due_s == 0).all()


def test_whoever_shares_it_finds_its_own_cost_alone(episode: Episode) -> None:
    while ahead(Live(), episode)(episode, "flow", EVERYTHING):
        pass
    for region, private_s in enumerate(episode.world.private_s):
        for descriptor, own_s in enumerate(private_s):
            assert episode.cost_s(region, descriptor) == pytest.approx(own_s)


def test_without_time_nothing_is_begun(episode: Episode) -> None:
    live = Live()
    assert not ahead(live, episode)(episode, "flow", 1e-6)
    assert live.made == []
    assert not episode.state.made.any()


def test_what_was_cut_off_is_to_be_paid_for_as_before(episode: Episode) -> None:
    before_s = [[episode.cost_s(i, d) for d in range(3)] for i in range(15)]
    assert not ahead(Live(is_late=True), episode)(episode, "flow", EVERYTHING)
    assert not episode.state.made.any()
    assert [[episode.cost_s(i, d) for d in range(3)] for i in range(15)] == before_s


def test_what_needs_others_is_left_to_whoever_asks_for_it(episode: Episode) -> None:
    live = Live()
    live.resources = {"flow": Chained()}
    assert not ahead(live, episode)(episode, "flow", EVERYTHING)
    assert live.made == []
