"""Whether labels are ready when the budget ends: the rows of `budgetseg bench deadline`.

Every run is timed from outside, as its user would. Half of them share the machine with a process on every core that
never rests.
"""

import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.app.model import LoadedModel
from budgetseg.app.spaces import REGIONS
from budgetseg.engine.request import Request
from budgetseg.engine.run import run
from budgetseg.policy.episode import Selection
from budgetseg.timing.clock import WallClock
from budgetseg.types import NOTHING, Budget
from budgetseg.video import VideoSource, open_video

__all__ = ["TIMES_FLOOR", "bench_deadline", "deadline_clips", "summarise"]

Row = dict[str, Any]

TIMES_FLOOR = (1.5, 2.0, 3.0, 5.0, 8.0)
LOADS = ("idle", "loaded")
ENOUGH = 0.97  # of the budget
N_FLOORS = 5  # runs that the floor is the median of


def deadline_clips(data: Path) -> list[VideoSource]:
    """Real videos below a folder: frames and files, small and large."""
    places = [data / "camvid" / "val", *sorted((data / "suny" / "dataset" / "Chen_png").glob("*"))]
    places += sorted((data / "clips").glob("*.mp4"))
    return [open_video(place) for place in places if place.exists()]


def bench_deadline(
    model: LoadedModel,
    clips: Sequence[VideoSource],
    repeats: int = 3,
    advance: Callable[[int], None] = lambda _: None,
    space: str = REGIONS,
) -> list[Row]:
    """A row per run: clips × budgets × repeats, idle and loaded; the floor is that of regions for both spaces."""
    rows = []
    for load in LOADS:
        with _busy_cores(load == "loaded"):
            for clip in clips:
                floor_s = _floor_s(model, clip)
                for times, _ in product(TIMES_FLOOR, range(repeats)):
                    row = _run(model, clip, times * floor_s, space)
                    rows.append({"load": load, **row, "times_floor": times})
                    advance(1)
    return rows


def summarise(rows: Sequence[Row]) -> list[Row]:
    """A row for each load: what the worst runs overran, and how much of the budget was used where work was left."""
    return [_summary([row for row in rows if row["load"] == load], load) for load in LOADS]


def _summary(rows: Sequence[Row], load: str) -> Row:
    overrun = np.array([row["overrun_share"] for row in rows])
    used = np.array([row["used_share"] for row in rows if row["work_left"]])
    return {
        "load": load,
        "runs": len(rows),
        "overrun_p95": float(np.percentile(overrun, 95)),
        "overrun_max": float(overrun.max()),
        "work_left": len(used),
        "used_p5": float(np.percentile(used, 5)) if len(used) else None,
        "used_min": float(used.min()) if len(used) else None,
        "unused": sum(row["used_share"] < ENOUGH and _could_fit(row) for row in rows),
        "degraded": sum(bool(row["notes"]) for row in rows),
    }


def _could_fit(row: Row) -> bool:
    """Whether some piece of work was left that is small enough for what a run may leave of its budget."""
    return bool(0 < row["next_s"] <= (1 - ENOUGH) * row["budget_s"])


def _run(model: LoadedModel, clip: VideoSource, budget_s: float, space: str) -> Row:
    watch = WallClock()
    (result,) = model.run(clip, Request((Budget(budget_s),)), space)
    seconds, ledger = watch.now_s(), result.ledger
    return {
        "budget_s": budget_s,
        "spent_s": seconds,
        "overrun_share": max(seconds / budget_s - 1, 0.0),
        "used_share": seconds / budget_s,
        "ledger_s": ledger.spent_s,
        "work_left": ledger.work_left,
        "next_s": ledger.next_s,
        "video": clip.name,
        "engine": space,
        "threads": model.threads,
        "notes": "; ".join(ledger.notes),
    }


def _floor_s(model: LoadedModel, clip: VideoSource) -> float:
    """Seconds that a video takes when nothing is spent on descriptors."""
    idle = replace(model.regions, strategy=lambda _: (lambda *_: NOTHING, Selection()))
    seconds = []
    for _ in range(N_FLOORS):
        watch = WallClock()
        run(idle, clip, Request((Budget(1e9),)), model.classes)
        seconds.append(watch.now_s())
    return statistics.median(seconds)


@contextmanager
def _busy_cores(busy: bool) -> Iterator[None]:
    """A process on every core that never rests."""
    n = (os.cpu_count() or 1) if busy else 0
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
