"""Methods on the videos of a split: one row per video, method and budget, the form of results.json."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.classifiers.calibration import expected_calibration_error
from budgetseg.classifiers.samples import place_of
from budgetseg.crf import INFERENCE
from budgetseg.crf.potentials import Evidence, make_potentials
from budgetseg.datasets import open_dataset
from budgetseg.descriptors.describe import Plan, describe_dataset
from budgetseg.descriptors.registry import HAND_MADE
from budgetseg.descriptors.table import VideoTable, read_table
from budgetseg.errors import UsageError
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of
from budgetseg.evaluation.environment import environment
from budgetseg.files import atomic_file
from budgetseg.inference.interpolation import interpolate
from budgetseg.models.bundle import Model
from budgetseg.types import Classes, Float32, Int32, Int64

__all__ = ["METHODS", "check_classes", "descriptors_of", "evaluate_dataset", "evaluate_unbounded", "label_table"]

Row = dict[str, Any]

METHODS = {"crf": HAND_MADE, "crf-full": (*HAND_MADE, "dcnn")}
"""The paper's unbounded systems, and the descriptors of each; `unary` and `unary-full` are the same without the CRF."""


def evaluate_dataset(
    model: Model,
    plan: Plan,
    methods: Sequence[str],
    output: Path,
    cores: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """What is in `output/results.json` then: rows of the split of a plan, and the machine they were measured on.

    Tables go to `output/table`, and those that are there already are used; `advance` is told of the frames described.
    """
    check_classes(model, open_dataset(plan.dataset, plan.root).classes)
    for method in methods:
        descriptors_of(method, model)  # what is wrong with it should be told before the work
    tables = [read_table(folder) for folder in describe_dataset(plan, output / "table", cores, advance)]
    (split,) = plan.splits
    rows = [{"dataset": plan.dataset, "split": split, **row} for row in evaluate_unbounded(model, tables, methods)]
    results = {"environment": environment(), "rows": rows}
    with atomic_file(output / "results.json") as part:
        part.write_text(json.dumps(results, indent=2) + "\n")
    return results


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What came of a video, or of several.

    Attributes
    ----------
    video : its name
    said : (N, L) H's probabilities, calibrated ones
    labels : (N,)
    truth : (N, L) labelled pixels of each class
    spent_s : on descriptors
    """

    video: str
    said: Float32
    labels: Int32
    truth: Int64
    spent_s: float


def evaluate_unbounded(model: Model, tables: Sequence[VideoTable], methods: Sequence[str]) -> list[Row]:
    """Rows of each method with no bound on time, per video and, as video "all", over the pixels of all of them."""
    rows = []
    for method in methods:
        names, with_crf = descriptors_of(method, model), not method.startswith("unary")
        outcomes = [_outcome(model, table, names, with_crf) for table in tables]
        rows += [_row(method, names, outcome, model) for outcome in (*outcomes, _pooled(outcomes))]
    return rows


def _outcome(model: Model, table: VideoTable, names: Sequence[str], with_crf: bool) -> _Outcome:
    subsets = np.full(len(table.graph), model.classifiers.subset_of(names), np.int32)
    said = model.classifiers.calibrated().predict(table.values, place_of(table.graph), subsets)
    spent_s = table.costs.full_s([list(table.values).index(name) for name in names])
    return _Outcome(table.name, said, label_table(model, table, subsets, with_crf), table.truth, spent_s)


def _pooled(outcomes: Sequence[_Outcome]) -> _Outcome:
    return _Outcome(
        "all",
        np.concatenate([one.said for one in outcomes]),
        np.concatenate([one.labels for one in outcomes]),
        np.concatenate([one.truth for one in outcomes]),
        sum(one.spent_s for one in outcomes),
    )


def descriptors_of(method: str, model: Model) -> tuple[str, ...]:
    """The descriptors that a method uses."""
    key = method.replace("unary", "crf")
    if key not in METHODS:
        raise UsageError(f"no method '{method}'; choose from {', '.join([*METHODS, 'unary', 'unary-full'])}")
    missing = [name for name in METHODS[key] if name not in model.classifiers.names]
    if missing:
        raise UsageError(f"{method} needs {', '.join(missing)}, which the model was trained without")
    return METHODS[key]


def check_classes(model: Model, classes: Classes) -> None:
    """Refuse videos that are labelled with other classes than the model tells apart."""
    if classes.names != model.classes.names:
        known, others = (", ".join(of.names) for of in (model.classes, classes))
        raise UsageError(f"the model tells apart {known}; the dataset has {others}; train a model on such a dataset")


def label_table(model: Model, table: VideoTable, subsets: Int32, with_crf: bool = True) -> Int32:
    """Label of every supervoxel, (N,), from the descriptors that were computed for each, as bits."""
    h = model.classifiers
    said = h.predict(table.values, place_of(table.graph), subsets)
    said = interpolate(said, subsets > 0, table.graph, h.prior)
    problem = make_potentials(model.crf, Evidence(said, h.scaled(table.values), subsets, h.starts), table.graph)
    return INFERENCE["expansion"](problem) if with_crf else problem.unary.argmin(axis=1).astype(np.int32)


def _or_none(figure: float) -> float | None:
    """JSON has no nan."""
    return None if np.isnan(figure) else figure


def _row(method: str, names: Sequence[str], outcome: _Outcome, model: Model) -> Row:
    n, truth = len(outcome.labels), outcome.truth
    accuracy = accuracy_of(confusion_of(truth, outcome.labels))
    classes = zip(model.classes.names, accuracy.per_class.tolist(), strict=True)
    return {
        "video": outcome.video,
        "method": method,
        "budget_fraction": None,
        "budget_s": None,
        "spent_s": outcome.spent_s,
        "seed": 0,
        "n_supervoxels": n,
        "accuracy": {
            "global": _or_none(accuracy.overall),
            "class_average": _or_none(accuracy.class_average),
            "miou": _or_none(accuracy.miou),
            "per_class": {name: value for name, value in classes if value == value},
        },
        "calibration_error": expected_calibration_error(outcome.said, truth) if truth.any() else None,
        "descriptor_counts": dict.fromkeys(names, n),
        "choices_over_time": [],
        "scope": "descriptors",
        "costs": "shared",
        "clock": "cost",
        "descriptors": list(names),
    }
