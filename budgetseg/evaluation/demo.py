"""What the demo runs: a rendered street, labelled without a bound and then at three budgets in one run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budgetseg.app.job import Job, Order, Written
from budgetseg.app.output import Wanted
from budgetseg.app.spaces import REGIONS
from budgetseg.engine.request import Request
from budgetseg.evaluation.accuracy import Accuracy, accuracy_of, confusion_of_pixels
from budgetseg.timing.ledger import Ledger
from budgetseg.types import Budget, Labelling, UInt8, Video
from budgetseg.video import VideoSource, read_label_pngs, write_overlay

__all__ = ["CLIP_MS", "NO_BOUND", "DemoRow", "label_clip", "label_street"]

SHARES = (0.12, 0.35, 0.8)
"""Of what all descriptors cost, for the three budgets; what all else takes is added."""

NO_BOUND = "no bound"
CLIP_MS = 10
"""Milliseconds for each frame of a real clip."""


@dataclass(frozen=True, eq=False)
class DemoRow:
    """The street at one budget.

    Attributes
    ----------
    budget : its name
    ledger : what was spent, and on what
    accuracy : of its labels
    """

    budget: str
    ledger: Mapping[str, Any]
    accuracy: Accuracy


def label_street(job: Job, video: Video, truth: Labelling, folder: Path) -> list[DemoRow]:
    """Label a street, which is written to a folder with its true classes as videos; rows by rising budget, none last.

    Budgets go by what everything takes on this machine, so that they mean the same on all.
    """
    folder.mkdir(parents=True, exist_ok=True)
    street = folder / "street.mp4"
    write_overlay(street, video)
    write_overlay(folder / "truth.mp4", video, truth)
    job.tell("labelling the street without a bound")
    runs = [job.model.label(street, math.inf, space=REGIONS) for _ in range(2)]  # the first may find cold memory
    whole = min(runs, key=lambda run: run.ledger.spent_s)
    job.tell("labelling it at three budgets")
    request = Request(_budgets(whole.ledger))
    order = Order([street], request, output=folder / "street", wanted=Wanted(why=True), space=REGIONS)
    done = _run(job, order)
    rows = []
    for budget, ledger in zip(done.budgets, done.ledgers, strict=True):
        labels = read_label_pngs(done.folder / budget / "labels")
        rows.append(DemoRow(budget, ledger, _accuracy(truth, labels)))
    return [*rows, DemoRow(NO_BOUND, whole.ledger.as_dict(), _accuracy(truth, whole.labels))]


def _budgets(whole: Ledger) -> tuple[Budget, ...]:
    """From little more than no descriptor takes, in tens of milliseconds."""
    stages = [entry.spent_s for name, entry in whole.stages.items() if name != "descriptors"]
    floor_s = min(sum(stages), whole.spent_s)
    amounts = [floor_s + share * (whole.spent_s - floor_s) for share in SHARES]
    return tuple(Budget(math.ceil(100 * amount + k) / 100) for k, amount in enumerate(amounts))  # k: they must rise


def _accuracy(truth: Labelling, labels: UInt8) -> Accuracy:
    return accuracy_of(confusion_of_pixels(truth.labels, labels, len(truth.classes)))


def label_clip(job: Job, clip: VideoSource, folder: Path) -> Mapping[str, Any]:
    """Label a video within `CLIP_MS` a frame, in a folder of its own; its ledger."""
    budget = Budget(CLIP_MS * clip.count() / 1e3)
    return _run(job, Order([clip.clip.path], Request((budget,)), output=folder / "your-clip")).ledgers[-1]


def _run(job: Job, order: Order) -> Written:
    (written,) = job.run(order, order.tasks())
    return written
