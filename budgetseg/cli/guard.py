"""What ends the program when it does not end itself: compiled code, networks and stuck threads heed no exception."""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from multiprocessing import active_children
from threading import Event, Thread

from budgetseg.staging import abandon

__all__ = ["Grace", "Guard", "guarded"]


@dataclass(frozen=True)
class Grace:
    """How long the program may take to end.

    Attributes
    ----------
    grace_s : seconds that it has to end itself after a signal; what is half-written is removed then
    removal_s : seconds that removing may wait for a folder that is just being put in its place
    """

    grace_s: float = 1.25
    removal_s: float = 0.25


class Guard:
    """Knows which signals came, also while no Python code runs.

    Attributes
    ----------
    seen : numbers of the signals that came
    heeded : numbers of those that became exceptions
    is_said : whether the user knows how the program ends
    """

    def __init__(self, grace: Grace, end: Callable[[int], None]) -> None:
        self.seen: list[int] = []
        self.heeded: list[int] = []
        self.is_said = False
        self._grace = grace
        self._end = end
        self._is_over = Event()

    def watch(self, pipe: int) -> None:
        """Read signals as they come, and end the program if one of them that must be heeded is not."""
        while numbers := os.read(pipe, 1):
            self.seen.append(numbers[0])
            if self._must_end(numbers[0]):
                self.end_soon(numbers[0])

    def end_soon(self, number: int) -> None:
        """End the program, as after this signal, if it is still there after the grace."""
        Thread(target=self._wait, args=(number,), daemon=True).start()

    def release(self) -> None:
        """The program goes on, or has ended in good time."""
        self._is_over.set()

    def _must_end(self, number: int) -> bool:
        """Whether a signal ends the program: the first Ctrl-C may be a kind question, the second is none."""
        return number in (signal.SIGTERM, signal.SIGHUP) or self.seen.count(signal.SIGINT) > 1

    def _wait(self, number: int) -> None:
        if not self._is_over.wait(self._grace.grace_s):
            self._end(number)


@contextmanager
def guarded(words: dict[int, str], grace: Grace | None = None) -> Iterator[Guard]:
    """Watch over the block. A signal that has a word ends the program if the block does not end soon after it.

    Once a signal came, the watch goes on until the process is gone: its threads may be what does not end.
    """
    own = grace or Grace()

    def end(number: int) -> None:
        for child in active_children():
            child.kill()
        is_clean = abandon(own.removal_s)
        left = "no half-written file is left" if is_clean else "the next run removes what is half-written"
        with suppress(OSError):
            if not guard.is_said:
                os.write(2, f"budgetseg: {words[number]}; {left}\n".encode())
        os._exit(128 + number)

    guard = Guard(own, end)
    reads, writes = os.pipe()
    os.set_blocking(writes, False)
    before = signal.set_wakeup_fd(writes, warn_on_full_buffer=False)
    Thread(target=guard.watch, args=(reads,), daemon=True, name="guard").start()
    try:
        yield guard
    finally:
        came = [number for number in (*guard.seen, *guard.heeded) if number in words]
        if came:
            guard.end_soon(came[-1])
        else:
            guard.release()
            signal.set_wakeup_fd(before)
            os.close(writes)
