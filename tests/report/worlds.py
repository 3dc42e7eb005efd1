"""Results and a labelled street for the page to show."""

import math
from pathlib import Path
from typing import Any

from budgetseg.app.labeller import Labeller, Order
from budgetseg.app.output import Wanted
from budgetseg.engine.request import Request
from budgetseg.types import Budget
from tests.app.simulated import load_simulated
from tests.app.streets import write_model, write_seeing_model, write_street

SHARES = (0.05, 0.4, math.inf)
BUDGETS = ["5%", "40%", "inf"]
FRAMES_BUDGETS = ["0.0001s", "0.08s", "inf"]
Row = dict[str, Any]


def label_street(folder: Path, why: bool = True) -> Path:
    """Files of a street that was labelled at three budgets, in `folder/out`; the street is `folder/street.mp4`."""
    street = write_street(folder / "street.mp4")
    budgets = tuple(Budget(share, is_share=True) for share in SHARES)
    order = Order([street], Request(budgets, "descriptors"), output=folder / "out", wanted=Wanted(why=why))
    Labeller(load_simulated(write_model(folder / "model"))).run(order, order.task())
    return folder / "out"


def label_by_frames(folder: Path, n_frames: int = 24) -> Path:
    """Files of a street whose frames a network has looked at, at budgets from nothing to all, in `folder/frames`."""
    street = write_street(folder / "street.mp4", n_frames)
    order = Order([street], Request(tuple(map(Budget, (0.0001, 0.08, math.inf)))), output=folder / "frames")
    Labeller(load_simulated(write_seeing_model(folder / "seeing"))).run(order, order.task())
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
