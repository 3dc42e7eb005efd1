"""Measure whether labels are ready when the budget ends: the rows of `budgetseg bench deadline`.

Every run is timed from outside, as a user would. Half of the runs share the machine with a busy process on every core.
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

__all__ = ["TIMES_FLOOR", "bench_deadline", "busy_cores", "deadline_clips", "summarise"]

Row = dict[str, Any]

TIMES_FLOOR = (1.5, 2.0, 3.0, 5.0, 8.0)
"""Budgets of the runs, as multiples of the fixed cost: what a run takes without any descriptor."""
LOADS = ("idle", "loaded")


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
    n_floors: int = 5,
) -> list[Row]:
    """A row for each run: clips × budgets × repeats, idle and loaded.

    Parameters
    ----------
    model : that labels
    clips : videos
    repeats : runs with each clip and budget
    advance : called with 1 for each run
    space : that labels; budgets are multiples of the fixed cost of regions for both spaces
    n_floors : the fixed cost is the median of this many runs
    """
    rows = []
    model.space_for(space, clips[0])  # back ends are measured before any clock starts
    for load in LOADS:
        with busy_cores(load == "loaded"):
            for clip in clips:
                fixed_s = _fixed_s(model, clip, n_floors)
                for times, _ in product(TIMES_FLOOR, range(repeats)):
                    row = _run(model, clip, times * fixed_s, space)
                    rows.append({"load": load, **row, "times_floor": times})
                    advance(1)
    return rows


def summarise(rows: Sequence[Row], enough: float = 0.97) -> list[Row]:
    """A row for each load: how much the worst runs overran, and how much of the budget was used if work was left.

    Parameters
    ----------
    rows : of `bench_deadline`
    enough : share of the budget that a run should use: one that uses less while work fits in the rest is `unused`
    """
    return [_summary([row for row in rows if row["load"] == load], load, enough) for load in LOADS]


def _summary(rows: Sequence[Row], load: str, enough: float) -> Row:
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
        "unused": sum(row["used_share"] < enough and _could_fit(row, enough) for row in rows),
        "degraded": sum(bool(row["notes"]) for row in rows),
    }


def _could_fit(row: Row, enough: float) -> bool:
    """Whether work was left that would have fitted in the share of the budget that a run need not use."""
    return bool(0 < row["next_s"] <= (1 - enough) * row["budget_s"])


def _run(model: LoadedModel, clip: VideoSource, budget_s: float, space: str) -> Row:
    watch = WallClock()
    (result,) = model.run(clip, Request((Budget(budget_s),)), space)
    seconds = watch.now_s()
    ledger = result.ledger
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


def _fixed_s(model: LoadedModel, clip: VideoSource, n_runs: int) -> float:
    """Seconds that a video takes without any descriptor, the median of n_runs runs."""
    idle = replace(model.regions, strategy=lambda _: (lambda *_: NOTHING, Selection()))
    seconds = []
    for _ in range(n_runs):
        watch = WallClock()
        run(idle, clip, Request((Budget(1e9),)), model.classes)
        seconds.append(watch.now_s())
    return statistics.median(seconds)


@contextmanager
def busy_cores(busy: bool) -> Iterator[None]:
    """Keep every core busy with a process during the block, if `busy`."""
    n = (os.cpu_count() or 1) if busy else 0
    others = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()
