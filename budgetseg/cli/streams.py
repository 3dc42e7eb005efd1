"""Standard streams that never end the work: a full disk or a closed pipe behind them is told at the end."""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO

__all__ = ["Outlet", "outlets"]

STREAMS = (0, 1, 2)


class Outlet:
    """A stream that remembers that it failed, and takes everything from then on.

    Attributes
    ----------
    failure : the first error of the stream; None as long as there is none
    """

    def __init__(self, stream: TextIO) -> None:
        self.failure: OSError | None = None
        self._stream = stream

    def write(self, text: str) -> int:
        """Write a text, or drop it."""
        if self.failure is None:
            try:
                return self._stream.write(text)
            except OSError as error:
                self.failure = error
        return len(text)

    def flush(self) -> None:
        """Pass on what was written, or drop it."""
        if self.failure is None:
            try:
                self._stream.flush()
            except OSError as error:
                self.failure = error

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    @property
    def is_closed_pipe(self) -> bool:
        """Whether the reader has gone, as `head` goes when it has seen enough."""
        return self.failure is not None and self.failure.errno == errno.EPIPE


@contextmanager
def outlets() -> Iterator[tuple[Outlet, Outlet]]:
    """Standard output and error as outlets. Names that the terminal cannot show are written with backslashes."""
    _open_missing()
    before = sys.stdout, sys.stderr
    for stream in before:
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
    output, error = (Outlet(stream) for stream in before)
    sys.stdout = output
    sys.stderr = error
    try:
        yield output, error
    finally:
        for number, outlet in ((1, output), (2, error)):
            outlet.flush()
            if outlet.failure is not None:  # what is left in it would fail again at the end of the program
                with suppress(OSError):
                    os.dup2(os.open(os.devnull, os.O_WRONLY), number)
        sys.stdout, sys.stderr = before


def _open_missing() -> None:
    """Open streams that the shell has closed: a file that is opened later would get their place, and their text."""
    for number in STREAMS:
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDWR)  # takes the lowest free number
    if sys.stdout is None:
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115 - open until the program ends
    if sys.stderr is None:
        sys.stderr = open(2, "w", closefd=False)  # noqa: SIM115 - likewise
