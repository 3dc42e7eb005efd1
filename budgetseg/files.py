"""Files and folders that appear whole or not at all.

Work goes to a hidden temporary place beside the target and takes its place when it is done, so a failed or killed
command never leaves something that looks whole. What a killed command has left is removed by the next one.
"""

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from budgetseg.errors import OutputError
from budgetseg.staging import GATE, forget, new_place, orphans, staged
from budgetseg.switch import JOURNAL, Stale, complete, replace_folder

__all__ = ["NO_ROOM", "atomic_file", "atomic_folder", "check_writable", "complete_switch", "forget_leftovers"]

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS})
"""Errors of a place that takes no more."""


@contextmanager
def atomic_file(path: str | Path) -> Iterator[Path]:
    """Give a temporary path that becomes `path` when the block ends well and is removed when it does not.

    It keeps the suffix of `path`, since many writers choose the format by it. Missing folders are made at the end.

    Examples
    --------
    >>> with atomic_file("report.json") as part:  # doctest: +SKIP
    ...     part.write_text("{}")
    """
    target = Path(path)
    if target.is_dir():
        raise OutputError(f"cannot write '{target}': it is a folder; give the name of a file")
    near = _nearest_folder(target.parent)
    for left in orphans(near, target.stem, target.suffix):
        if left.is_file():
            forget(left)
    part = new_place(near, target.stem, target.suffix)
    # The place is made first: what cannot be written should fail before the work, not after it.
    with _explained(target, part), staged(part, Path.touch):
        yield part
        target.parent.mkdir(parents=True, exist_ok=True)
        with GATE:
            part.replace(target)


@contextmanager
def atomic_folder(path: str | Path, last: str | None = None, stale: Stale = lambda _: ()) -> Iterator[Path]:
    """Give a temporary folder whose files are in `path` when the block ends well and vanish when it does not.

    A file of the same name in `path` is replaced, and so are those that `stale(path)` names; every other file there is
    kept. It is done in one step (see `budgetseg.switch`); where it cannot be, the file `last` tells that all are there.
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise OutputError(f"cannot write into '{target}': it is a file; give the name of a folder")
    forget_leftovers(target)
    place = Path(os.path.realpath(target))  # a link to a folder stays one
    part = new_place(_staging_place(place), place.name)
    with _explained(target, part), staged(part, Path.mkdir):
        yield part
        with GATE:
            replace_folder(part, place, last, stale)


class _EnoughError(Exception):
    pass


def check_writable(folder: Path) -> None:
    """Raise OutputError if a folder cannot be written to: before the work, and not after it."""
    with suppress(_EnoughError), atomic_folder(folder):
        raise _EnoughError


def forget_leftovers(path: str | Path) -> None:
    """Remove what killed processes left for `atomic_folder(path)`, or complete what they had begun to put there."""
    target = Path(os.path.realpath(path))
    for left in orphans(_staging_place(target), target.name):
        if left.is_dir():
            with suppress(OSError):
                complete(left, target)


def complete_switch(folder: Path) -> None:
    """Complete what a killed process had begun to put into a folder, before it is read."""
    target = Path(os.path.realpath(folder))
    for left in orphans(_staging_place(target), target.name):
        if (left / JOURNAL).is_file():
            with suppress(OSError):
                complete(left, target)


def _nearest_folder(folder: Path) -> Path:
    """Deepest part of `folder` that is there: on the file system where the rest will be made."""
    folder = folder.absolute()
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    return folder


def _staging_place(target: Path) -> Path:
    """Beside `target`, or inside it where the parent is another file system or closed to us."""
    parent = _nearest_folder(target.absolute().parent)
    if target.is_dir() and (target.is_mount() or not os.access(parent, os.W_OK)):
        return target
    return parent


@contextmanager
def _explained(target: Path, part: Path) -> Iterator[None]:
    """Failures of writing as one line; other errors of the block pass as they are."""
    try:
        yield
    except OSError as error:
        if not _concerns_output(error, target, part):
            raise
        reason = error.strerror or str(error)
        raise OutputError(f"cannot write '{target}': {reason}; free some space or choose another place") from error


def _concerns_output(error: OSError, target: Path, part: Path) -> bool:
    places = {part.absolute(), target.absolute(), Path(os.path.realpath(target))}
    named = [Path(os.fsdecode(name)).absolute() for name in (error.filename, error.filename2) if name]
    return error.errno in NO_ROOM or any(places & {name, *name.parents} or name in target.parents for name in named)
