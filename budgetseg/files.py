"""Files and folders that appear whole or not at all.

Work goes to a hidden temporary place beside the target and is renamed when it is done, so a failed or killed command
never leaves something that looks whole.
"""

import errno
import glob
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex

from budgetseg.errors import OutputError

__all__ = ["atomic_file", "atomic_folder", "check_writable", "forget_leftovers"]

_NO_ROOM = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS}


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
    part = _nearest_folder(target.parent) / f".{target.stem}.{token_hex(4)}{target.suffix}"
    try:
        with _explained(target, part):
            part.touch()  # a place that cannot be written should fail before the work, not after it
            yield part
            target.parent.mkdir(parents=True, exist_ok=True)
            part.replace(target)
    finally:
        _forget(part)


@contextmanager
def atomic_folder(path: str | Path, last: str | None = None) -> Iterator[Path]:
    """Give a temporary folder whose files move to `path` when the block ends well and vanish when it does not.

    A file of the same name in `path` is replaced, every other file there is kept. Where `path` is there already, files
    move one by one: the `last` of them is what tells that all of them are there.
    """
    target = Path(path)
    if target.exists() and not target.is_dir():
        raise OutputError(f"cannot write into '{target}': it is a file; give the name of a folder")
    part = _staging_place(target) / f".{target.name}.{token_hex(4)}"
    try:
        with _explained(target, part):
            part.mkdir()
            yield part
            _move_into(part, target, last)
    finally:
        _forget(part)


class _EnoughError(Exception):
    pass


def check_writable(folder: Path) -> None:
    """Raise OutputError if a folder cannot be written to: before the work, and not after it."""
    with suppress(_EnoughError), atomic_folder(folder):
        raise _EnoughError


def forget_leftovers(path: str | Path) -> None:
    """Remove what `atomic_folder(path)` left beside `path` where it was killed; not while another one is at work."""
    target = Path(path)
    for part in target.parent.glob(f".{glob.escape(target.name)}.{'[0-9a-f]' * 8}"):
        if part.is_dir():
            _forget(part)


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


def _move_into(part: Path, target: Path, last: str | None) -> None:
    """All files below `part`, moved to the same places below `target`."""
    if not target.exists():
        target.parent.mkdir(parents=True, exist_ok=True)
        part.rename(target)  # one step: there is no moment with half of the files
        return
    if last is not None:
        (target / last).unlink(missing_ok=True)
    files = (file for file in part.rglob("*") if not file.is_dir())
    for file in sorted(files, key=lambda file: (file == part / (last or ""), file)):
        place = target / file.relative_to(part)
        place.parent.mkdir(parents=True, exist_ok=True)
        file.replace(place)


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
    places = {part.absolute(), target.absolute()}
    named = [Path(os.fsdecode(name)).absolute() for name in (error.filename, error.filename2) if name]
    return error.errno in _NO_ROOM or any(places & {name, *name.parents} or name in target.parents for name in named)


def _forget(part: Path) -> None:
    """Remove what is left, without hiding the error that made us give up."""
    with suppress(OSError):
        if part.is_dir():
            shutil.rmtree(part)
        else:
            part.unlink(missing_ok=True)
