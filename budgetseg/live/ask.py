"""Networks beside a stream: they are asked about a frame, and answer when they are done."""

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from threading import Event, Lock, get_native_id
from typing import Protocol

from budgetseg.live.carried import Known
from budgetseg.spaces.frames.space import Frames
from budgetseg.spaces.frames.state import Prediction
from budgetseg.timing.clock import Clock
from budgetseg.types import UInt8

__all__ = ["Answer", "Asker", "Question", "SimulatedAsker", "ThreadAsker", "give_way"]


@dataclass(frozen=True, eq=False)
class Question:
    """A network is asked about a frame.

    Attributes
    ----------
    space : whose network it is
    known : which network and frame, and where the answer belongs
    frame : (H, W, 3)
    source : number of the stream
    asked_s : when
    is_awaited : whether the stream waits for the answer; if not, the network gives way to it
    """

    space: Frames
    known: Known
    frame: UInt8
    source: int
    asked_s: float
    is_awaited: bool = False


@dataclass(frozen=True, eq=False)
class Answer:
    """What came of a question.

    Attributes
    ----------
    question : that was asked
    prediction : None where the network failed
    answered_s : when
    error : what went wrong, in a line
    """

    question: Question
    prediction: Prediction | None
    answered_s: float
    error: str = ""

    @property
    def seconds(self) -> float:
        """From question to answer."""
        return self.answered_s - self.question.asked_s


class Asker(Protocol):
    """Runs networks beside a stream."""

    def ask(self, question: Question) -> None:
        """Begin to work on a question."""

    def answers(self) -> Sequence[Answer]:
        """Answers since the last call."""

    def next_s(self) -> float:
        """When the next answer comes; infinity where nobody knows."""

    def close(self) -> None:
        """Wait for what is under way, and end."""


def answer_to(question: Question, now_s: Callable[[], float]) -> Answer:
    """Run the network of a question."""
    try:
        found = Prediction.of(question.space.predict(question.known.network, question.frame))
    except Exception as error:  # a user's network may raise anything, and the stream goes on
        return Answer(question, None, now_s(), f"{type(error).__name__}: {error}")
    return Answer(question, found, now_s())


class ThreadAsker:
    """Runs networks in threads; those beside the stream give way to it.

    Parameters
    ----------
    clock : of the loop
    beside : networks that run beside the stream at the same time
    wake : set whenever a network has answered
    nice : how much networks beside the stream give way to it
    """

    def __init__(self, clock: Clock, beside: int, wake: Event, nice: int) -> None:
        self._clock = clock
        self._wake = wake
        self._done: list[Answer] = []
        self._lock = Lock()
        self._beside = ThreadPoolExecutor(beside, "beside", initializer=give_way, initargs=(nice,))
        self._awaited = ThreadPoolExecutor(1, "awaited")

    def ask(self, question: Question) -> None:
        """Begin to work on a question in a thread."""
        (self._awaited if question.is_awaited else self._beside).submit(self._work, question)

    def _work(self, question: Question) -> None:
        answer = answer_to(question, self._clock.now_s)
        with self._lock:
            self._done.append(answer)
        self._wake.set()

    def answers(self) -> Sequence[Answer]:
        """Answers since the last call."""
        with self._lock:
            found, self._done = self._done, []
        return found

    def next_s(self) -> float:
        """Nobody knows."""
        return float("inf")

    def close(self) -> None:
        """Wait for what is under way, and end."""
        for pool in (self._beside, self._awaited):
            pool.shutdown(cancel_futures=True)


class SimulatedAsker:
    """Networks that answer after as long as a test or a simulation says.

    Parameters
    ----------
    clock : a simulated one
    seconds : that a question takes
    """

    def __init__(self, clock: Clock, seconds: Callable[[Question], float]) -> None:
        self._clock = clock
        self._seconds = seconds
        self._under_way: list[Answer] = []

    def ask(self, question: Question) -> None:
        """Work on a question; the answer is given out when its time has come."""
        due_s = self._clock.now_s() + self._seconds(question)
        self._under_way.append(answer_to(question, lambda: due_s))

    def answers(self) -> Sequence[Answer]:
        """Answers whose time has come."""
        now_s = self._clock.now_s()
        found = [answer for answer in self._under_way if answer.answered_s <= now_s]
        self._under_way = [answer for answer in self._under_way if answer.answered_s > now_s]
        return found

    def next_s(self) -> float:
        """When the next answer comes."""
        return min((answer.answered_s for answer in self._under_way), default=float("inf"))

    def close(self) -> None:
        """Nothing is under way but in thought."""


def give_way(nice: int) -> None:
    """Let the calling thread have a core only where others do not want it."""
    with suppress(OSError, AttributeError):
        os.setpriority(os.PRIO_PROCESS, get_native_id(), nice)
