"""Work on the machines of a Ray cluster: extra `ray`."""

import logging
import os
import socket
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from budgetseg.errors import UsageError
from budgetseg.executors.core import Executor, Outcome
from budgetseg.processes import Answer

__all__ = ["Ray"]

ANSWER_S = 5.0
"""Seconds in which an address must answer."""
COUNT_EVERY = 20
"""Waits after which the machines of the cluster are counted again."""


class Ray(Executor):
    """Does calls in actors of a Ray cluster, each of which keeps what it has loaded.

    An actor whose machine is lost is replaced as long as there is room. Machines that join are used.

    Parameters
    ----------
    address : `auto` for the cluster that this machine is part of, `HOST:PORT`, or `ray://HOST:PORT` from outside
    most : actors at a time; None for as many as there is room for
    cpus, gpus : of the cluster that each actor takes
    """

    name = "ray"

    def __init__(self, address: str = "auto", most: int | None = None, cpus: float = 1, gpus: float = 0) -> None:
        self._ray = _connect(address)
        self._most = most
        self._needs = {"num_cpus": cpus, "num_gpus": gpus}
        self._actor = self._ray.remote(_Worker)
        self._idle: list[Any] = []
        self._doing: dict[Any, tuple[int, Any]] = {}  # by what is waited for: number of the call, and its actor
        self._n_calls = 0
        self._n_waits = 0
        self._room = self._count()
        if self._room == 0:
            self.close()
            raise UsageError(
                f"no machine of the cluster at '{address}' has {cpus:g} CPUs and {gpus:g} GPUs free; ask for less"
            )

    @property
    def n_workers(self) -> int:
        """Number of actors that there is room for."""
        return max(self._room, len(self._doing), 1)

    @property
    def n_idle(self) -> int:
        """Number of calls that may be submitted now."""
        return max(self._room - len(self._doing), 0)

    def submit(self, function: Callable[..., Any], *args: Any) -> int:
        """Begin a call in an actor; its number."""
        self._n_calls += 1
        actor = self._idle.pop() if self._idle else self._actor.options(**self._needs).remote()
        self._doing[actor.do.remote(function, args)] = self._n_calls, actor
        return self._n_calls

    def wait(self, timeout_s: float) -> list[Outcome]:
        """Calls that are over since the last time; waits for the first of them, but not longer."""
        self._n_waits += 1
        if self._n_waits % COUNT_EVERY == 0:
            self._room = self._count()
        if not self._doing:
            return []
        ready, _ = self._ray.wait(list(self._doing), num_returns=1, timeout=timeout_s)
        more, _ = self._ray.wait(list(self._doing), num_returns=len(self._doing), timeout=0)
        return [self._over(reference) for reference in {*ready, *more}]

    def cancel(self, number: int) -> None:
        """End the actor of a call."""
        for reference, (own, actor) in list(self._doing.items()):
            if own == number:
                del self._doing[reference]
                self._ray.kill(actor)

    def close(self) -> None:
        """End all actors, and leave the cluster."""
        for actor in (*self._idle, *(actor for _, actor in self._doing.values())):
            with suppress(Exception):  # it may be gone with its machine
                self._ray.kill(actor)
        self._idle.clear()
        self._doing.clear()
        self._ray.shutdown()

    def _over(self, reference: Any) -> Outcome:
        number, actor = self._doing.pop(reference)
        try:
            answer = self._ray.get(reference)
            self._idle.append(actor)
        except self._ray.exceptions.RayError:
            answer = Answer(is_lost=True)
            with suppress(Exception):
                self._ray.kill(actor)
            self._room = self._count()
        return Outcome(number, answer)

    def _count(self) -> int:
        """Actors that there is room for: those that are here, and more where machines that are alive have room."""
        has = {"CPU": self._needs["num_cpus"], "GPU": self._needs["num_gpus"]}
        needs = {name: amount for name, amount in has.items() if amount}
        most = 0
        for node in self._ray.nodes():
            if node["Alive"]:
                most += min(int(node["Resources"].get(name, 0) / amount) for name, amount in needs.items())
        free = self._ray.available_resources()
        more = min(int(free.get(name, 0) / amount) for name, amount in needs.items())
        found = min(most, len(self._idle) + len(self._doing) + more)
        return found if self._most is None else min(found, self._most)


class _Worker:
    """An actor that does one call after the other."""

    def do(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Answer:
        try:
            return Answer(function(*args))
        except Exception as error:
            return Answer(error=error)


def _connect(address: str) -> Any:
    """Ray, connected to a cluster; UsageError where that is not possible."""
    try:
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        import ray
    except ImportError:
        raise UsageError("the executor 'ray' is not installed; pip install budgetseg[ray]") from None
    if address != "auto":
        _check_answers(address)
    try:
        ray.init(address=address, log_to_driver=False, logging_level=logging.ERROR, configure_logging=False)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        line = str(error).strip().splitlines()[0] if str(error).strip() else type(error).__name__
        raise UsageError(f"no Ray cluster at '{address}' ({line}); start one with 'ray start --head'") from None
    return ray


def _check_answers(address: str) -> None:
    """Raise UsageError where nobody answers at an address: Ray itself would try for minutes."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if not host or not port.isdigit():
        raise UsageError(f"--address must be auto, HOST:PORT or ray://HOST:PORT. Got '{address}'")
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_S).close()
    except (OSError, OverflowError) as error:
        raise UsageError(f"nobody answers at '{address}' ({error}); start a cluster with 'ray start --head'") from None
