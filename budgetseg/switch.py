"""Put a finished folder in the place of another in one step, and keep the files of others that lie there.

Where the system exchanges two folders (Linux: renameat2), the place holds the old folder or the new one at any moment.
Elsewhere a journal is written first; a process that is killed leaves it, and the next one completes what it says.
"""

import ctypes
import errno
import json
import os
import shutil
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from budgetseg.errors import OutputError
from budgetseg.staging import forget, is_staging, locked

__all__ = ["JOURNAL", "Switching", "complete", "replace_folder"]

JOURNAL = ".switch.json"
"""File in a finished folder that says that its files are on their way to the target, and what goes there."""

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2
_TAKEN = (errno.ENOTEMPTY, errno.EEXIST)

Stale = Callable[[Path], Iterable[str]]


@dataclass(frozen=True)
class Switching:
    """Settings of switching folders.

    Attributes
    ----------
    most_kept : files of others that are linked into a new folder; where there are more, files are moved by a journal
    """

    most_kept: int = 20_000


def replace_folder(part: Path, target: Path, last: str | None, stale: Stale, settings: Switching | None = None) -> None:
    """Move all files below `part` to `target`, so that it has what it had before, or all of them.

    Parameters
    ----------
    part : the finished folder, on the file system of `target`
    target : may be there already; its files are kept, but for those that are replaced
    last : name of the file that tells that all of them are there; by a journal, it goes first and comes last
    stale : returns names of files in `target` that go, where nothing replaces them
    settings : None for the default
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if not target.exists():
        try:
            part.rename(target)
        except OSError as error:
            if error.errno not in _TAKEN:  # another process was faster
                raise
        else:
            return
    with locked(target):
        files = set(_files(part))
        old = set(_files(target))
        gone = (set(stale(target)) & old) - files
        kept = old - gone - files
        if not files and not gone and not any(part.iterdir()):
            return
        _check_kinds(part, target, kept)
        if not _exchanged(part, target, kept, old, settings or Switching()):
            _move_by_journal(part, target, sorted(gone), last)


def complete(part: Path, target: Path) -> None:
    """Do what the journal of a killed process says; where there is none, remove what it left."""
    if (part / JOURNAL).is_file() and target.is_dir():
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            journal = json.loads((part / JOURNAL).read_text(encoding="utf-8"))
            gone = [str(name) for name in journal["gone"]]
            last = None if journal["last"] is None else str(journal["last"])
            if all(_is_below(name, target) for name in (*gone, *_files(part), last or JOURNAL)):
                _carry_out(part, target, gone, last)
    forget(part)


def _exchanged(part: Path, target: Path, kept: set[str], old: set[str], settings: Switching) -> bool:
    """Whether the folders were exchanged, with the kept files in both of them; the old one is at `part` then."""
    if len(kept) > settings.most_kept or not _is_movable(part, target, kept):
        return False
    linked = []
    try:
        for empty in _empty_folders(target):
            (part / empty).mkdir(parents=True, exist_ok=True)
        for name in kept:
            (part / name).parent.mkdir(parents=True, exist_ok=True)
            os.link(target / name, part / name, follow_symlinks=False)
            linked.append(part / name)
        for folder in {PurePosixPath("."), *(parent for name in kept for parent in PurePosixPath(name).parents)}:
            shutil.copystat(target / folder, part / folder)
        if _exchange(part, target):
            _save_late(part, target, old | set(_files(target)))
            return True
    except OSError:  # links are not for every file system, nor for files of every owner
        pass
    for path in linked:
        path.unlink(missing_ok=True)
    return False


def _is_movable(part: Path, target: Path, kept: set[str]) -> bool:
    """Whether another folder may take the place of the target without anybody noticing."""
    here = Path.cwd()
    own = part.stat()
    there = target.stat()
    return (
        target not in (here, *here.parents)
        and target not in part.parents
        and (own.st_uid, own.st_gid, own.st_dev) == (there.st_uid, there.st_gid, there.st_dev)
        and not any(is_staging(part) for name in kept for part in PurePosixPath(name).parts)
    )


def _exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; False where the system cannot do that."""
    call = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    places = (ctypes.c_int(_AT_FDCWD), os.fsencode(one), ctypes.c_int(_AT_FDCWD), os.fsencode(other))
    return call is not None and call(*places, ctypes.c_uint(_RENAME_EXCHANGE)) == 0


def _save_late(old: Path, target: Path, known: set[str]) -> None:
    """Files that others put into the old folder while it was exchanged, moved to the new one."""
    for name in set(_files(old)) - known:
        if not (target / name).exists():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (old / name).rename(target / name)


def _move_by_journal(part: Path, target: Path, gone: list[str], last: str | None) -> None:
    """Move files one by one; from when the journal is there, they all will be moved, by whomever."""
    draft = part / f"{JOURNAL}.part"
    draft.write_text(json.dumps({"gone": gone, "last": last}), encoding="utf-8")
    draft.rename(part / JOURNAL)
    try:
        _carry_out(part, target, gone, last)
    except OSError:
        raise
    except BaseException:  # a signal: half of the files would be worse than all of them
        _carry_out(part, target, gone, last)
        raise


def _carry_out(part: Path, target: Path, gone: list[str], last: str | None) -> None:
    if last is not None and (part / last).exists():
        (target / last).unlink(missing_ok=True)
    for name in gone:
        (target / name).unlink(missing_ok=True)
    for name in sorted(_files(part), key=lambda name: (name == last, name)):
        if name != JOURNAL:
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            (part / name).replace(target / name)
    for folder in sorted({parent for name in gone for parent in PurePosixPath(name).parents}, reverse=True):
        with suppress(OSError):  # others have put something there
            if folder != PurePosixPath("."):
                (target / folder).rmdir()
    (part / JOURNAL).unlink(missing_ok=True)


def _check_kinds(part: Path, target: Path, kept: set[str]) -> None:
    """Raise OutputError where a folder would take the place of a file that is not ours, or the other way round."""
    for name in kept:
        if (part / name).exists():
            raise OutputError(f"'{target / name}' is in the way of results; move it, or choose another folder")
    for name in _files(part):
        if (target / name).is_dir() and not (target / name).is_symlink():
            raise OutputError(f"'{target / name}' is in the way of results; move it, or choose another folder")
        above = [str(parent) for parent in PurePosixPath(name).parents if str(parent) in kept]
        if above:
            raise OutputError(f"'{target / above[0]}' is in the way of results; move it, or choose another folder")


def _is_below(name: str, target: Path) -> bool:
    """Whether a name from a file leads to a place in `target`, without a detour."""
    inside = target.resolve()
    above = (inside / name).parent.resolve()
    return ".." not in PurePosixPath(name).parts and inside in (above, *above.parents)


def _files(folder: Path) -> Iterator[str]:
    """Names of all files below a folder, relative to it; a link is a file."""
    for place, folders, files in os.walk(folder):
        links = [name for name in folders if (Path(place) / name).is_symlink()]
        for name in (*files, *links):
            yield (Path(place) / name).relative_to(folder).as_posix()


def _empty_folders(folder: Path) -> Iterator[Path]:
    """Folders below a folder that have nothing in them, relative to it."""
    for place, folders, files in os.walk(folder):
        if not folders and not files and Path(place) != folder:
            yield Path(place).relative_to(folder)
