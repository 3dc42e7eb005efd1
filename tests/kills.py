"""A run that ends at the n-th change of the file system, by a signal that nothing can catch or by an exception."""

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

import budgetseg.switch as switch

CHANGES = ("rename", "replace", "link", "unlink", "mkdir", "rmdir")
"""Calls of the system that change folders; the exchange of two folders comes in addition."""


class StoppedError(BaseException):
    """Stands for a signal that Python has turned into an exception."""


def kill() -> None:
    """End this process at once, as `kill -9` does."""
    os.kill(os.getpid(), signal.SIGKILL)


def stop() -> None:
    """End what this process is doing, as SIGTERM does."""
    raise StoppedError


def ends_at(n: int, work: Callable[[], None], end: Callable[[], None], with_exchange: bool) -> bool:
    """Do some work in a child process that ends before change n; whether it got so far as to be ended."""
    child = os.fork()
    if child == 0:
        done = 1
        try:
            _watch(n, end, with_exchange)
            work()
            done = 0
        except StoppedError:
            pass
        finally:
            sys.stderr.flush()
            os._exit(done)
    _, status = os.waitpid(child, 0)
    return status != 0


def _watch(n: int, end: Callable[[], None], with_exchange: bool) -> None:
    count = 0

    def watched(call: Callable[..., Any]) -> Callable[..., Any]:
        def counted(*given: Any, **named: Any) -> Any:
            nonlocal count
            count += 1
            if count == n:
                end()
            return call(*given, **named)

        return counted

    for name in CHANGES:
        setattr(os, name, watched(getattr(os, name)))
    vars(switch)["_exchange"] = watched(switch._exchange if with_exchange else lambda *_: False)
