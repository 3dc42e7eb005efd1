"""Run methods on the videos of a split: one row per video, method, budget and seed, in the format of results.json."""

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np

from budgetseg.classifiers.calibration import expected_calibration_error
from budgetseg.classifiers.samples import place_of
from budgetseg.crf import INFERENCE
from budgetseg.crf.potentials import Nodes, make_potentials
from budgetseg.datasets import open_dataset
from budgetseg.descriptors.describe import Description, describe_dataset
from budgetseg.descriptors.table import VideoTable, read_table
from budgetseg.errors import UsageError
from budgetseg.evaluation.accuracy import Accuracy, accuracy_of, confusion_of
from budgetseg.evaluation.environment import environment
from budgetseg.evaluation.methods import Method, methods_named
from budgetseg.files import atomic_file
from budgetseg.models.bundle import Model
from budgetseg.policy.state import State
from budgetseg.policy.static import COSTS
from budgetseg.simulate import Arena, reward
from budgetseg.spaces.regions.interpolation import interpolate
from budgetseg.types import Budget, Classes, Float32, Float64, Int32, Int64

__all__ = [
    "N_MOMENTS",
    "N_PIECES",
    "Experiment",
    "check_classes",
    "evaluate_dataset",
    "evaluate_tables",
    "figures_of",
    "label_table",
    "or_none",
    "pixels_of",
    "write_results",
]

Row = dict[str, Any]

RUNS = (("descriptors", "cost"), ("total", "wall"))
"""Scopes and clocks that can be combined."""

N_MOMENTS = 10
"""Number of equal parts of the budget in which choices are counted, in `choices_over_time` of a row."""

N_PIECES = 5
"""Number of parts of the only video of a split, in `pieces` of a row. Confidence intervals draw them, not videos."""


@dataclass(frozen=True)
class Experiment:
    """What to compare.

    Attributes
    ----------
    methods : names; see `METHODS`
    budgets : for methods that have one
    n_seeds : runs of methods with a budget, in each video
    costs : "shared", or as in the paper "unshared"
    scope, clock : "descriptors" and "cost" for simulated runs over tables; "total" and "wall" for runs against the wall
        clock, see `wall`
    """

    methods: tuple[str, ...]
    budgets: tuple[Budget, ...] = (Budget(np.inf),)
    n_seeds: int = 1
    costs: str = "shared"
    scope: str = "descriptors"
    clock: str = "cost"

    def __post_init__(self) -> None:
        if self.costs not in COSTS:
            raise UsageError(f"no costs '{self.costs}'; choose from {', '.join(COSTS)}")
        if (self.scope, self.clock) not in RUNS:
            asked = f"scope '{self.scope}' with clock '{self.clock}'"
            raise UsageError(f"no {asked}; choose descriptors with cost, or total with wall")
        if self.clock == "wall" and self.costs != "shared":
            raise UsageError("--clock wall measures shared costs; leave out --costs")


def evaluate_dataset(
    model: Model,
    plan: Description,
    experiment: Experiment,
    output: Path,
    cores: int = 1,
    advance: Callable[[int], None] = lambda _: None,
) -> dict[str, Any]:
    """Describe the videos of a split, run the methods, and write and return the contents of `output/results.json`.

    Parameters
    ----------
    model : to evaluate
    plan : dataset and split, and how videos are described
    experiment : what to compare
    output : folder; tables go to `output/table`, and those that are there already are used
    cores : to use
    advance : called with the number of frames that were described
    """
    check_classes(model, open_dataset(plan.dataset, plan.root).classes)
    methods_named(experiment.methods, model, experiment.costs)  # raises for wrong names before the work
    tables = [read_table(folder) for folder in describe_dataset(plan, output / "table", cores, advance)]
    (split,) = plan.splits
    setup = {"dataset": plan.dataset, "split": split}
    rows = [setup | row for row in evaluate_tables(model, tables, experiment, cores)]
    return write_results(rows, output / "results.json")


def write_results(rows: Sequence[Row], path: Path) -> dict[str, Any]:
    """Write rows, one on a line, with the machine they were measured on. Returns the contents of the file."""
    results = {"environment": environment(), "rows": list(rows)}
    lines = ",\n".join(json.dumps(row) for row in rows)
    with atomic_file(path) as part:
        part.write_text(f'{{"environment": {json.dumps(results["environment"])},\n"rows": [\n{lines}\n]}}\n')
    return results


def evaluate_tables(model: Model, tables: Sequence[VideoTable], experiment: Experiment, cores: int = 1) -> list[Row]:
    """Rows for each method, budget and seed: one per video, and one with video "all" over the pixels of all videos."""
    methods = methods_named(experiment.methods, model, experiment.costs)
    runs = [run for method in methods for run in _runs(method, experiment)]
    videos = [_Judged(table, Arena.of(model, table, experiment.costs)) for table in tables]
    pieces = _pieces(tables[0]) if len(tables) == 1 else []
    with ThreadPoolExecutor(cores) as pool:
        jobs = [[pool.submit(run.outcome, video) for video in videos] for run in runs]
        rows = []
        for run, futures in zip(runs, jobs, strict=True):
            outcomes = [future.result() for future in futures]
            rows += [_row(run, outcome, model, experiment.costs, pieces) for outcome in (*outcomes, _pooled(outcomes))]
    return rows


def _pieces(table: VideoTable) -> list[Int64]:
    """Numbers of the supervoxels of each of N_PIECES parts of a video, by the frame that they are centred on."""
    which = table.graph.centroids[:, 0] * N_PIECES // table.n_frames
    return [np.flatnonzero(which == k) for k in range(N_PIECES)]


@dataclass(frozen=True, eq=False)
class _Judged:
    """A video that methods are run on. Runs that end with the same descriptors are labelled once."""

    table: VideoTable
    arena: Arena
    _known: dict[bytes, Int32] = field(default_factory=dict)

    def labels(self, state: State) -> Int32:
        """Labels (N,) of a run that ended in a state; they depend only on the descriptors that were computed."""
        key = sha256(state.subsets.data).digest()
        if key not in self._known:
            self._known[key] = reward(self.arena, state).labels
        return self._known[key]


@dataclass(frozen=True, eq=False)
class _Outcome:
    """The result of a run on a video, or on several.

    Attributes
    ----------
    video : its name
    labels : (N,)
    truth : (N, L) number of labelled pixels of each class
    probabilities : (N, L) H's calibrated probabilities; None for a run with a budget
    full_s, budget_s, spent_s : seconds that all of the method's descriptors cost, that it was given, and that it spent
    choices : (N_MOMENTS, D) number of descriptors computed in each part of the budget, for the method's descriptors
    """

    video: str
    labels: Int32
    truth: Int64
    probabilities: Float32 | None
    full_s: float
    budget_s: float
    spent_s: float
    choices: Int64


@dataclass(frozen=True)
class _Run:
    """A method with a budget and a seed."""

    method: Method
    budget: Budget
    seed: int

    def outcome(self, video: _Judged) -> _Outcome:
        return self._unbounded(video.table, video.arena) if self.method.run is None else self._bounded(video)

    def _unbounded(self, table: VideoTable, arena: Arena) -> _Outcome:
        names = self.method.descriptors
        h = arena.model.classifiers
        subsets = np.full(len(arena), h.subset_of(names), np.int32)
        probabilities = h.calibrated().predict(table.values, place_of(table.graph), subsets)
        labels = label_table(arena.model, table, subsets, self.method.with_crf)
        full_s = arena.full_s(names)
        choices = np.full((1, len(names)), len(arena))
        return _Outcome(table.name, labels, table.truth, probabilities, full_s, np.inf, full_s, choices)

    def _bounded(self, video: _Judged) -> _Outcome:
        assert self.method.run is not None
        arena = video.arena
        names = self.method.descriptors
        known = arena.model.classifiers.names
        full_s = arena.full_s(names)
        times_s = np.full(arena.world.private_s.shape, np.nan)
        budget_s = self.budget.in_s(full_s)
        state = self.method.run(arena, names, budget_s, self.seed, times_s)
        labels = video.labels(state)
        spent_s = float(state.scalars.spent_s)
        end_s = budget_s if np.isfinite(budget_s) else spent_s
        choices = _moments(times_s[:, [known.index(name) for name in names]], end_s)
        return _Outcome(arena.name, labels, arena.truth, None, full_s, budget_s, spent_s, choices)


def _runs(method: Method, experiment: Experiment) -> list[_Run]:
    if method.run is None:
        return [_Run(method, Budget(np.inf), 0)]
    return [_Run(method, budget, seed) for budget in experiment.budgets for seed in range(experiment.n_seeds)]


def _moments(times_s: Float64, end_s: float) -> Int64:
    """Numbers of descriptors computed in each part of the time to `end_s`, (N_MOMENTS, D).

    `times_s` (N, D) is when each was computed, nan if never.
    """
    edges = np.linspace(0, end_s, N_MOMENTS + 1)
    edges[-1] = np.inf
    return np.stack([np.histogram(column[np.isfinite(column)], edges)[0] for column in times_s.T], axis=1)


def _pooled(outcomes: Sequence[_Outcome]) -> _Outcome:
    """The outcomes of several videos as one, by the name "all"."""
    probabilities = [outcome.probabilities for outcome in outcomes if outcome.probabilities is not None]
    return _Outcome(
        "all",
        np.concatenate([outcome.labels for outcome in outcomes]),
        np.concatenate([outcome.truth for outcome in outcomes]),
        np.concatenate(probabilities) if probabilities else None,
        sum(outcome.full_s for outcome in outcomes),
        sum(outcome.budget_s for outcome in outcomes),
        sum(outcome.spent_s for outcome in outcomes),
        np.sum([outcome.choices for outcome in outcomes], axis=0),
    )


def check_classes(model: Model, classes: Classes) -> None:
    """Raise UsageError if videos are labelled with other classes than the model predicts."""
    if classes.names != model.classes.names:
        known = ", ".join(model.classes.names)
        others = ", ".join(classes.names)
        raise UsageError(f"the model has the classes {known}, the dataset has {others}; train a model on this dataset")


def label_table(model: Model, table: VideoTable, subsets: Int32, with_crf: bool = True) -> Int32:
    """Label of every supervoxel, (N,), from the descriptors `subsets` (N,), as bits; with_crf False uses H alone."""
    h = model.classifiers
    probabilities = h.predict(table.values, place_of(table.graph), subsets)
    probabilities = interpolate(probabilities, subsets > 0, table.graph, h.prior)
    problem = make_potentials(model.crf, Nodes(probabilities, h.scaled(table.values), subsets, h.starts), table.graph)
    return INFERENCE["expansion"](problem) if with_crf else problem.unary.argmin(axis=1).astype(np.int32)


def figures_of(accuracy: Accuracy, classes: Classes) -> dict[str, Any]:
    """The contents of the field `accuracy` of a row."""
    per_class = zip(classes.names, accuracy.per_class.tolist(), strict=True)
    return {
        "global": or_none(accuracy.overall),
        "class_average": or_none(accuracy.class_average),
        "miou": or_none(accuracy.miou),
        "per_class": {name: value for name, value in per_class if value == value},
    }


def pixels_of(confusion: Int64, classes: Classes) -> dict[str, list[int]]:
    """The contents of the field `pixels` of a row: numbers of right, labelled and predicted pixels for each class.

    Summed over videos, they give every figure over all of them. Classes without any pixel are left out.
    """
    counts = np.stack([np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)], axis=1)
    return {name: pixels for name, pixels in zip(classes.names, counts.tolist(), strict=True) if any(pixels)}


def or_none(figure: float) -> float | None:
    """The figure, or None for nan and infinity, which JSON cannot hold."""
    return figure if np.isfinite(figure) else None


def _row(run: _Run, outcome: _Outcome, model: Model, costs: str, pieces: Sequence[Int64]) -> Row:
    names = run.method.descriptors
    truth = outcome.truth
    probabilities = outcome.probabilities
    confusion = confusion_of(truth, outcome.labels)
    parts = [confusion_of(truth[piece], outcome.labels[piece]) for piece in pieces]
    moments = [dict(zip(names, counts, strict=True)) for counts in outcome.choices.tolist()]
    return {
        "video": outcome.video,
        "method": run.method.name,
        "budget_fraction": or_none(run.budget.amount if run.budget.is_share else outcome.budget_s / outcome.full_s),
        "budget_s": or_none(outcome.budget_s),
        "spent_s": outcome.spent_s,
        "seed": run.seed,
        "n_supervoxels": len(outcome.labels),
        "accuracy": figures_of(accuracy_of(confusion), model.classes),
        "temporal_consistency": None,
        "pixels": pixels_of(confusion, model.classes),
        "pieces": [pixels_of(part, model.classes) for part in parts],
        "calibration_error": expected_calibration_error(probabilities, truth)
        if probabilities is not None and truth.any()
        else None,
        "descriptor_counts": dict(zip(names, outcome.choices.sum(axis=0).tolist(), strict=True)),
        "choices_over_time": [] if run.method.run is None else moments,
        "scope": "descriptors",
        "costs": costs,
        "clock": "cost",
        "descriptors": list(names),
    }
