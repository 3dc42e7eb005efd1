"""`OUT/manifest.jsonl`: what became of each video of a job. Lines are only ever added.

The first line has the settings of the job. Every other line is about a video, named by the folder of its results; the
last line of a video counts. Several machines may add lines to one file.
"""

import fcntl
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from secrets import token_hex
from typing import Any

from budgetseg.errors import OutputError

__all__ = ["DONE", "ENDED", "MANIFEST", "SKIPPED", "Manifest", "Row"]

MANIFEST = "manifest.jsonl"
FORMAT = 1
DONE, SKIPPED, ENDED = "done", "skipped", "ended"
"""States of a row: labelled; not labelled, with a reason; no video, but the end of a run that left nothing to do."""


@dataclass(frozen=True)
class Row:
    """What became of a video.

    Attributes
    ----------
    name : of its folder among the results
    state : `done` or `skipped`; `ended` in a row that is about no video
    video : where it was found
    stamp : tells whether the file has changed since
    why : it was skipped
    seconds : of a worker that it took, files and all
    budget_s, spent_s : seconds that it was given and used; None for no bound, or for a share
    expected : share of pixels that is expected to be right; None where no figure can be given
    is_prior : whether not one frame could be predicted
    digest : of the labels
    host : that labelled it
    run : identifies the run of the job
    at_s : date, in seconds since 1970
    elapsed_s : of the run, at that date
    """

    name: str
    state: str
    video: str = ""
    stamp: str = ""
    why: str = ""
    seconds: float = 0.0
    budget_s: float | None = None
    spent_s: float | None = None
    expected: float | None = None
    is_prior: bool = False
    digest: str = ""
    host: str = ""
    run: str = ""
    at_s: float = 0.0
    elapsed_s: float = 0.0


class Manifest:
    """The manifest of a job, in the folder of its results.

    Parameters
    ----------
    folder : of the results
    settings : of the job, as JSON values
    restart : whether what is there is forgotten, of whatever settings
    """

    def __init__(self, folder: Path, settings: Mapping[str, Any], restart: bool = False) -> None:
        self.path = folder / MANIFEST
        self.rows: dict[str, Row] = {}
        self.history: list[Row] = []
        self._settings = json.loads(json.dumps(settings))
        self._read_to = 0
        self._rest = b""
        if self.path.exists() and not restart:
            self._check()
            self.follow()
        else:
            self._begin(restart)

    def follow(self) -> None:
        """Take in the lines that others have added."""
        with self.path.open("rb") as file:
            file.seek(self._read_to)
            found = self._rest + file.read()
            self._read_to = file.tell()
        *lines, self._rest = found.split(b"\n")
        for line in lines:
            row = _row(line)
            if row is not None:
                self.history.append(row)
                if row.state != ENDED:
                    self.rows[row.name] = row

    def add(self, row: Row) -> None:
        """Add a line."""
        line = json.dumps({name: value for name, value in asdict(row).items() if value or name in ("name", "state")})
        try:
            _append(self.path, line.encode())
        except OSError as error:
            raise OutputError(
                f"cannot write '{self.path}': {error.strerror}; free some space and start again"
            ) from None
        self.follow()

    def _begin(self, restart: bool) -> None:
        """Write the first line; of several machines that begin at once, one does."""
        header = json.dumps({"format": FORMAT, "settings": self._settings}) + "\n"
        part = self.path.with_name(f".{MANIFEST}.{token_hex(4)}")
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            part.write_text(header)
            if restart:
                part.replace(self.path)
            else:
                with suppress(FileExistsError):
                    os.link(part, self.path)
        except OSError as error:
            raise OutputError(f"cannot write '{self.path}': {error.strerror}; choose another folder") from None
        finally:
            part.unlink(missing_ok=True)
        self._check()
        self.follow()

    def _check(self) -> None:
        """Raise OutputError where the manifest is of a job with other settings."""
        try:
            with self.path.open() as file:
                header = json.loads(file.readline())
            known, settings = int(header["format"]), dict(header["settings"])
        except (OSError, ValueError, LookupError, TypeError):
            raise OutputError(f"'{self.path}' is no manifest of a job; move it, or choose another folder") from None
        if known != FORMAT:
            raise OutputError(f"'{self.path}' has format {known}, not {FORMAT}; choose another folder")
        differ = [
            name for name in sorted({*settings, *self._settings}) if settings.get(name) != self._settings.get(name)
        ]
        if differ:
            name = differ[0]
            raise OutputError(
                f"'{self.path.parent}' holds a job with other settings ({name} {settings.get(name)}, not "
                f"{self._settings.get(name)}); choose another folder, or add --overwrite to label all videos again"
            )


def _append(path: Path, line: bytes) -> None:
    """Add a line to a file, whole and on disk, after the last whole one."""
    with path.open("r+b") as file:
        with suppress(OSError):  # not every file system has locks
            fcntl.lockf(file, fcntl.LOCK_EX)
        end = file.seek(0, os.SEEK_END)
        file.seek(max(end - 1, 0))
        torn = file.read(1) != b"\n"  # somebody was killed, or the disk was full, in the middle of a line
        file.seek(0, os.SEEK_END)
        file.write(b"\n" * torn + line + b"\n")
        file.flush()
        os.fsync(file.fileno())


def _row(line: bytes) -> Row | None:
    """The row of a line; None for the header, and for a line that is torn."""
    try:
        stored = json.loads(line)
        known = {field.name for field in fields(Row)}
        return Row(**{name: value for name, value in stored.items() if name in known})
    except (ValueError, TypeError, AttributeError):
        return None
