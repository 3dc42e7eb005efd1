"""What a core does while another one makes something that both need."""

from collections.abc import Mapping
from threading import Lock

import numpy as np

from budgetseg.descriptors.core import Resource
from budgetseg.descriptors.late import LateError
from budgetseg.descriptors.live import LiveDescriptors
from budgetseg.inference.episode import Episode
from budgetseg.inference.state import World

__all__ = ["Ahead"]


class Ahead:
    """Makes resources before somebody asks for them.

    When a supervoxel has paid for a frame, those that share it are the cheapest, and so come next: the other cores
    would wait for the frame as long as it takes. They make another of the kind instead, which most will need.

    Parameters
    ----------
    live : makes them
    world : who needs which
    kinds : of resources, and how many there are of each
    lock : of the episode
    """

    def __init__(self, live: LiveDescriptors, world: World, kinds: Mapping[str, int], lock: Lock) -> None:
        self._live, self._lock, self._resource_s = live, lock, world.resource_s
        self._n_users = np.diff(world.users_first)
        self._starts = dict(zip(kinds, np.cumsum([0, *kinds.values()]).tolist(), strict=False))
        self._kinds = kinds

    def __call__(self, episode: Episode, kind: str, left_s: float) -> bool:
        """Whether there was one of a kind to make, and time for it."""
        if type(self._live.resources[kind]).needs is not Resource.needs:  # what it needs would have to be paid, too
            return False
        with self._lock:
            resource = self._wanted(episode, kind)
            if resource is None or left_s < self._live.costs.pace * self._resource_s[resource]:
                return False
            episode.gain(resource)
        key, cache = (kind, resource - self._starts[kind]), self._live.cache
        try:
            return self._live.make_ahead(key)
        except LateError:
            return False
        finally:
            if key not in cache and not cache.is_in_the_making(key):
                with self._lock:
                    episode.lose([resource])

    def _wanted(self, episode: Episode, kind: str) -> int | None:
        """Of those that are not there, the one that most need; None where no two share one."""
        start = self._starts[kind]
        own = slice(start, start + self._kinds[kind])
        n_users = np.where(episode.state.made[own], 0, self._n_users[own])
        most = int(np.argmax(n_users))
        return start + most if n_users[most] > 1 else None
