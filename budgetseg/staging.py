"""Hidden places beside a target where work is done before it appears.

A place is locked by the process that works there, so that whoever comes later can tell what a killed process has left
from what another one still needs.
"""

import errno
import fcntl
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from threading import Lock

__all__ = ["GATE", "abandon", "forget", "is_staging", "locked", "new_place", "orphans", "staged"]

GATE = Lock()
"""Held while a place becomes its target. Whoever ends the program at once takes it first, and keeps it."""

_LONGEST = 60  # characters of a name that the name of its place repeats: a name of 255 bytes leaves no room for more
_live: set[Path] = set()


def new_place(folder: Path, stem: str, suffix: str = "") -> Path:
    """A name in `folder` that nothing has yet, hidden, for work on STEM + SUFFIX."""
    return folder / f".{stem[:_LONGEST]}.{token_hex(4)}{suffix}"


def is_staging(name: str) -> bool:
    """Whether a file or folder has the name of such a place."""
    return re.fullmatch(r"\..*\.[0-9a-f]{8}(\.[^.]*)?", name) is not None


@contextmanager
def staged(place: Path, make: Callable[[Path], None]) -> Iterator[None]:
    """Make a place, keep it locked within the block, and remove what is there afterwards."""
    _live.add(place)
    lock = None
    try:
        lock = _made(place, make)
        yield
    finally:
        try:
            forget(place)
        except BaseException:  # a signal: nothing may be left all the same
            forget(place)
            raise
        finally:
            _live.discard(place)
            if lock is not None:
                os.close(lock)


def orphans(folder: Path, stem: str, suffix: str = "") -> Iterator[Path]:
    """Places for work on STEM + SUFFIX that no process holds any more; each is locked while it is looked at."""
    pattern = re.compile(re.escape(f".{stem[:_LONGEST]}.") + "[0-9a-f]{8}" + re.escape(suffix))
    with suppress(OSError):
        for place in [Path(entry) for entry in os.scandir(folder) if pattern.fullmatch(entry.name)]:
            lock = _locked_now(place)
            if lock is not None:
                try:
                    yield place
                finally:
                    os.close(lock)


@contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Hold the lock of a folder, also where another process puts a new folder in its place meanwhile."""
    while True:
        lock = os.open(folder, os.O_RDONLY)
        try:
            with suppress(OSError):  # a file system without locks
                fcntl.flock(lock, fcntl.LOCK_EX)
            if _is_at(lock, folder):
                yield
                return
        finally:
            os.close(lock)


def abandon(wait_s: float) -> bool:
    """Remove all places of this process, and whether that was possible: not while one of them becomes its target.

    Nothing becomes a target any more: the caller must end the program.
    """
    if not GATE.acquire(timeout=wait_s):
        return False
    for place in list(_live):
        forget(place)
    return not any(place.exists() for place in list(_live))


def forget(place: Path) -> None:
    """Remove a file or a folder, without an error where that fails."""
    with suppress(OSError):
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)


def _made(place: Path, make: Callable[[Path], None]) -> int:
    """Make a place and lock it; again where somebody took it for an orphan in between."""
    while True:
        make(place)
        lock = os.open(place, os.O_RDONLY)
        with suppress(OSError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if _is_at(lock, place):
            return lock
        os.close(lock)


def _locked_now(place: Path) -> int | None:
    """The lock of a place, if nobody holds it."""
    try:
        lock = os.open(place, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return None
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        os.close(lock)
        if error.errno not in (errno.EWOULDBLOCK, errno.EACCES, errno.ENOLCK, errno.ENOTSUP):
            raise
        return None
    return lock


def _is_at(opened: int, path: Path) -> bool:
    """Whether an open file or folder is the one at `path`."""
    try:
        return os.path.samestat(os.fstat(opened), path.stat())
    except FileNotFoundError:
        return False
