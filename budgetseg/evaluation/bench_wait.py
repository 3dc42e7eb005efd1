"""Measure how long a user waits, all files written: the rows of `budgetseg bench wait`.

Each run is a program of its own, as a user starts it. The film is a real clip, repeated for five minutes; without data
it is a rendered street.
"""

import json
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from itertools import cycle, islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from budgetseg.errors import UsageError
from budgetseg.evaluation.clips import Street
from budgetseg.timing.clock import WallClock
from budgetseg.types import UInt8
from budgetseg.video import VideoWriter, open_video

__all__ = ["CASES", "Film", "bench_wait"]

Row = dict[str, str | int | float | None]

CASES = ("first use", "warm")
"""First use on a machine: nothing is compiled and no price is known. Warm: as every later time."""
CLIP = Path("film") / "motorway.mp4"
"""The clip that is repeated, below the folder of data."""


@dataclass(frozen=True)
class Film:
    """What is labelled.

    Attributes
    ----------
    n_frames : frames of the long film, which the warm runs label; 7,500 are five minutes
    n_first : frames of the short one, for the first use
    size : width and height
    rate : frames per second
    budget_s : seconds
    """

    n_frames: int = 7500
    n_first: int = 250
    size: tuple[int, int] = (640, 360)
    rate: float = 25.0
    budget_s: float = 1.0


def bench_wait(
    data: Path | None,
    model: str = "camvid",
    repeats: int = 3,
    advance: Callable[[int], None] = lambda _: None,
    film: Film | None = None,
) -> list[Row]:
    """A row for the first use on a machine, and one for each warm run.

    Parameters
    ----------
    data : folder that holds the clip; None for a rendered street
    model : name or folder of the model
    repeats : warm runs
    advance : called with 1 for each run
    film : what is labelled; None for five minutes of 640×360
    """
    film = film or Film()
    with TemporaryDirectory() as name:
        folder = Path(name)
        frames = _frames(data, film)
        _write(folder / "short.mp4", frames, film.n_first, film)
        _write(folder / "film.mp4", frames, film.n_frames, film)
        own = {"BUDGETSEG_CACHE": str(folder / "cache"), "NUMBA_CACHE_DIR": str(folder / "compiled")}
        rows = [_run("first use", folder / "short.mp4", model, film, own)]
        advance(1)
        for _ in range(repeats):
            rows.append(_run("warm", folder / "film.mp4", model, film, own))
            advance(1)
    return rows


def _frames(data: Path | None, film: Film) -> UInt8:
    """Frames that are repeated, (T, H, W, 3)."""
    if data is None or not (data / CLIP).is_file():
        return Street(film.size, min(100, film.n_frames))()[0]
    return open_video(data / CLIP, size=film.size, end=min(221, film.n_frames)).read().frames


def _write(path: Path, frames: UInt8, n_frames: int, film: Film) -> None:
    with VideoWriter(path, film.size, film.rate) as writer:
        for frame in islice(cycle(frames), n_frames):
            writer.write(frame)


def _run(case: str, video: Path, model: str, film: Film, own: Mapping[str, str]) -> Row:
    """Label a video by a program of its own, and time it from outside."""
    out = video.with_suffix("")
    command = [sys.executable, "-m", "budgetseg", "label", str(video), "--budget", f"{film.budget_s}s"]
    command += ["--model", model, "-o", str(out), "--json"]
    before_s = _children_s()
    clock = WallClock()
    done = subprocess.run(command, env={**os.environ, **own}, capture_output=True, text=True, check=False)
    wall_s = clock.now_s()
    if done.returncode:
        raise UsageError(f"'budgetseg label' ended with {done.returncode}: {done.stderr.strip().splitlines()[-1:]}")
    (ledger,) = json.loads(done.stdout)["ledgers"]
    return _row(case, ledger, film, wall_s, _children_s() - before_s)


def _row(case: str, ledger: Mapping[str, Any], film: Film, wall_s: float, cpu_s: float) -> Row:
    return {
        "case": case,
        "frames": ledger["video"]["n_frames"],
        "size": "×".join(map(str, ledger["video"]["size"])),
        "budget_s": film.budget_s,
        "wall_s": wall_s,
        "cpu_s": cpu_s,
        "ready_s": ledger["loading_s"],
        "spent_s": ledger["spent_s"],
        "writing_s": ledger["writing_s"],
        "other_s": wall_s - ledger["loading_s"] - ledger["spent_s"] - ledger["writing_s"],
        "cores": os.cpu_count() or 1,
    }


def _children_s() -> float:
    """CPU seconds of all programs that this one has started and that have ended."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime
