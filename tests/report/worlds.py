"""Results and a labelled street for the page to show."""

import math
from pathlib import Path
from typing import Any

from budgetseg.app.loaded import load
from budgetseg.frames.label import label_frames

from budgetseg.app.job import Job, Order
from budgetseg.app.output import Run, Wanted, results_folder, write_results
from budgetseg.app.trace import ModelMark, Trace, VideoMark
from budgetseg.engine.request import Request
from budgetseg.models.bundle import save_model
from budgetseg.types import Budget
from tests.app.streets import write_model, write_street
from tests.frames.worlds import N_LABELS, Clock, engine, street
from tests.frames.worlds import source as clip
from tests.models.made import random_model

SHARES = (0.05, 0.4, math.inf)
BUDGETS = ["5%", "40%", "inf"]
FRAMES_BUDGETS = ["0.001s", "0.35s", "inf"]
Row = dict[str, Any]


def label_street(folder: Path, why: bool = True) -> Path:
    """Files of a street that was labelled at three budgets, in `folder/out`; the street is `folder/street.mp4`."""
    street = write_street(folder / "street.mp4")
    loaded = load(write_model(folder / "model"), threads=1)
    budgets = tuple(Budget(share, is_share=True) for share in SHARES)
    order = Order([street], Request(budgets, "descriptors"), output=folder / "out", wanted=Wanted(why=why))
    list(Job(loaded).run(order, order.tasks()))
    return folder / "out"


def label_by_frames(folder: Path) -> Path:
    """Files of a street whose frames a network has looked at, at budgets from nothing to all, in `folder/frames`."""
    clock, budgets = Clock(), (0.001, 0.35, math.inf)
    source = clip(street(24), clock, 0.001)
    request = Request(tuple(map(Budget, budgets)))
    labelled = label_frames(engine(clock, {"dcnn": 0.05}, read_s=0.001), source, request, clock=clock)
    model, settings = random_model({"dcnn": N_LABELS}), {"budgets": FRAMES_BUDGETS, "scope": "total", "threads": 1}
    save_model(model, folder / "by-frames")
    assert labelled.plan is not None
    trace = Trace(
        VideoMark.of(source, 24),
        ModelMark.of(model, folder / "by-frames", is_bundled=False),
        {**settings, "engine": "frames"},
        labelled.plan,
        [],
        frames=labelled.windows,
    )
    with results_folder(folder / "frames") as part:
        write_results(part, Run(source, labelled, model, trace, {"engine": "frames"}), Wanted())
    return folder / "frames"


def result_row(method: str, fraction: float | None, seed: int, right: float, **others: Any) -> Row:
    """A row of results.json over all videos."""
    bounded = fraction is not None
    return {
        "dataset": "streets",
        "split": "test",
        "video": "all",
        "method": method,
        "budget_fraction": fraction,
        "budget_s": 10 * fraction if bounded and fraction else None,
        "spent_s": 9.0 * (fraction or 1),
        "seed": seed,
        "n_supervoxels": 100,
        "accuracy": {
            "global": right,
            "class_average": right,
            "miou": right / 2,
            "per_class": {"road": right, "sky": 1.0},
        },
        "descriptor_counts": {"colour": 50, "hog": 10},
        "choices_over_time": [{"colour": 5, "hog": 1}] * 10 if bounded else [],
        "scope": "descriptors",
        "costs": "shared",
        "clock": "cost",
        "descriptors": ["colour", "hog"],
    } | others


def result_rows() -> list[Row]:
    """Two methods at two budgets with three seeds, and one without a budget."""
    rows = [result_row("crf", None, 0, 0.9)]
    for method, gain in (("static", 0.1), ("baseline1", 0.0)):
        for fraction in (0.5, 0.1):
            rows += [result_row(method, fraction, seed, 0.5 + gain + fraction / 10 + 0.01 * seed) for seed in range(3)]
    return rows


def deadline_rows() -> list[Row]:
    """Runs of a bench, idle and loaded."""
    return [
        {
            "load": load,
            "budget_s": 2.0,
            "spent_s": 2.0 * used,
            "overrun_share": max(used - 1, 0.0),
            "used_share": used,
            "ledger_s": 2.0 * used,
            "work_left": True,
            "video": "street",
            "threads": 1,
            "notes": "",
            "times_floor": times,
        }
        for load in ("idle", "loaded")
        for times in (1.5, 3.0)
        for used in (0.97, 0.99, 1.01)
    ]
