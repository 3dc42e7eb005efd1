"""Claims: files that say which machine works on a video, so that no other one does.

A claim is made by a file that only one can create. Its holder touches it again and again. Where that has stopped for
long, or the process is gone from this machine, anybody may take the claim. Times are those of the file system, so that
clocks of machines may differ.
"""

import json
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from threading import Event, Thread

from budgetseg.errors import OutputError

__all__ = ["CLAIMS", "Claims", "Patience"]

CLAIMS = ".claims"


@dataclass(frozen=True)
class Patience:
    """How long others are waited for.

    Attributes
    ----------
    beat_s : seconds after which a holder touches its claims again
    stale_s : seconds without a touch after which a claim is void: many beats, since shared disks may stall
    """

    beat_s: float = 10.0
    stale_s: float = 120.0


class Claims:
    """The claims that a run holds. A context: leaving it gives them all back.

    Parameters
    ----------
    folder : of the results of the job
    run : identifies the run
    patience : how long others are waited for
    """

    def __init__(self, folder: Path, run: str, patience: Patience | None = None) -> None:
        self._folder = folder / CLAIMS
        self._run = run
        self._patience = patience or Patience()
        self._held: set[Path] = set()
        self._over = Event()
        self._thread = Thread(target=self._beat, daemon=True)

    @property
    def stop_file(self) -> Path:
        """A file that is there once the run is to end its spending, wherever its workers are."""
        return self._folder / f"{self._run}.stop"

    def take(self, name: str) -> bool:
        """Claim a video; whether nobody else works on it."""
        path = self._path(name)
        is_mine = self._create(path) or (self._is_void(path) and self._move_away(path) and self._create(path))
        if is_mine:
            self._held.add(path)
        return is_mine

    def _move_away(self, path: Path) -> bool:
        """Remove a void claim; whether it was void, and not the new one of somebody who was faster."""
        moved = path.with_suffix(f".{self._run}")
        try:
            path.rename(moved)
        except FileNotFoundError:  # of several that find it void, one moves it away
            return True
        is_void = self._is_void(moved)
        if not is_void:
            with suppress(FileExistsError):
                os.link(moved, path)
        moved.unlink()
        return is_void

    def give_back(self, name: str) -> None:
        """End the claim to a video."""
        path = self._path(name)
        self._held.discard(path)
        path.unlink(missing_ok=True)

    def __enter__(self) -> "Claims":
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write '{self._folder}': {error.strerror}; choose another folder") from None
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join()
        for path in (*self._held, self.stop_file):
            path.unlink(missing_ok=True)
        with suppress(OSError):  # others have claims there
            self._folder.rmdir()

    def _path(self, name: str) -> Path:
        return self._folder / f"{sha256(name.encode()).hexdigest()[:20]}.json"

    def _create(self, path: Path) -> bool:
        holder = {"run": self._run, "host": socket.gethostname(), "pid": os.getpid()}
        try:
            with path.open("x") as file:
                json.dump(holder, file)
        except FileExistsError:
            return False
        except OSError as error:
            raise OutputError(f"cannot write '{path}': {error.strerror}; free some space and start again") from None
        return True

    def _is_void(self, path: Path) -> bool:
        """Whether the holder of a claim is gone."""
        try:
            holder = json.loads(path.read_text() or "{}")
            age_s = self._now_s() - path.stat().st_mtime
        except FileNotFoundError:
            return True
        except ValueError:
            return False  # it is being written
        here = holder.get("host") == socket.gethostname()
        return age_s > self._patience.stale_s or (here and not _is_running(int(holder.get("pid", 0))))

    def _now_s(self) -> float:
        """The time that the file system would give a file now."""
        probe = self._folder / f"{self._run}.now"
        probe.touch()
        now_s = probe.stat().st_mtime
        probe.unlink()
        return now_s

    def _beat(self) -> None:
        while not self._over.wait(self._patience.beat_s):
            for path in list(self._held):
                with suppress(OSError):
                    os.utime(path)


def _is_running(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True
