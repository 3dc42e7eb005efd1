"""The demo: a rendered street is labelled without a bound, and then at three budgets in one run."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from budgetseg.app.labeller import Labeller, Order, Written
from budgetseg.app.output import Wanted
from budgetseg.app.spaces import REGIONS
from budgetseg.engine.request import Request
from budgetseg.evaluation.accuracy import Accuracy, accuracy_of, confusion_of_pixels
from budgetseg.timing.ledger import Ledger
from budgetseg.types import Budget, Labelling, UInt8, Video
from budgetseg.video import VideoSource, read_label_pngs, write_overlay

__all__ = ["CLIP_MS", "NO_BOUND", "DemoRow", "label_clip", "label_street"]

NO_BOUND = "no bound"
CLIP_MS = 10
"""Budget for a real clip, in milliseconds per frame."""


@dataclass(frozen=True, eq=False)
class DemoRow:
    """The street at one budget.

    Attributes
    ----------
    budget : name of the budget
    ledger : how the time was spent
    accuracy : of the labels
    """

    budget: str
    ledger: Mapping[str, Any]
    accuracy: Accuracy


def label_street(
    labeller: Labeller, video: Video, truth: Labelling, folder: Path, shares: tuple[float, ...] = (0.12, 0.35, 0.8)
) -> list[DemoRow]:
    """Label a street. Returns a row for each budget in rising order, and last one without a bound.

    Parameters
    ----------
    labeller : labels
    video : the street
    truth : its true classes
    folder : that the street, its true classes and the results are written to
    shares : budgets, as shares of what all descriptors cost on this machine; all other costs are added
    """
    folder.mkdir(parents=True, exist_ok=True)
    street = folder / "street.mp4"
    write_overlay(street, video)
    write_overlay(folder / "truth.mp4", video, truth)
    labeller.tell("labelling the street without a bound")
    runs = [labeller.model.label(street, math.inf, space=REGIONS) for _ in range(2)]  # the first may find cold memory
    whole = min(runs, key=lambda run: run.ledger.spent_s)
    labeller.tell("labelling it at three budgets")
    request = Request(_budgets(whole.ledger, shares))
    order = Order([street], request, output=folder / "street", wanted=Wanted(why=True), space=REGIONS)
    done = _run(labeller, order)
    rows = []
    for budget, ledger in zip(done.budgets, done.ledgers, strict=True):
        labels = read_label_pngs(done.folder / budget / "labels")
        rows.append(DemoRow(budget, ledger, _accuracy(truth, labels)))
    return [*rows, DemoRow(NO_BOUND, whole.ledger.as_dict(), _accuracy(truth, whole.labels))]


def _budgets(whole: Ledger, shares: tuple[float, ...]) -> tuple[Budget, ...]:
    """Budgets of the fixed cost and a share of the cost of descriptors, rounded up to hundredths of a second."""
    stages = [entry.spent_s for name, entry in whole.stages.items() if name != "descriptors"]
    fixed_s = min(sum(stages), whole.spent_s)
    amounts = [fixed_s + share * (whole.spent_s - fixed_s) for share in shares]
    return tuple(Budget(math.ceil(100 * amount + k) / 100) for k, amount in enumerate(amounts))  # k: they must rise


def _accuracy(truth: Labelling, labels: UInt8) -> Accuracy:
    return accuracy_of(confusion_of_pixels(truth.labels, labels, len(truth.classes)))


def label_clip(labeller: Labeller, clip: VideoSource, folder: Path) -> Mapping[str, Any]:
    """Label a video within `CLIP_MS` per frame, into a folder of its own. Returns the contents of its ledger."""
    budget = Budget(CLIP_MS * clip.count() / 1e3)
    return _run(labeller, Order([clip.clip.path], Request((budget,)), output=folder / "your-clip")).ledgers[-1]


def _run(labeller: Labeller, order: Order) -> Written:
    return labeller.run(order, order.task())
