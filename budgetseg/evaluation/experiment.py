"""Methods on the videos of a split: one row per video, method, budget and seed, the form of results.json."""

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
"""Scopes and clocks that go together."""

N_MOMENTS = 10
"""Parts of the budget that choices are counted in."""

N_PIECES = 5
"""Of the one video of a split: what is drawn for intervals, where there are no videos to draw."""


@dataclass(frozen=True)
class Experiment:
    """What to compare.

    Attributes
    ----------
    methods : names; see `METHODS`
    budgets : of those that have one
    n_seeds : runs of those that have a budget, in each video
    costs : "shared", or as in the paper "unshared"
    scope, clock : "descriptors" and "cost", simulated runs over tables; or "total" and "wall", see `wall`
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
    """What is in `output/results.json` then: rows of the split of a plan, and the machine they were measured on.

    Tables go to `output/table`, and those that are there already are used; `advance` is told of the frames described.
    """
    check_classes(model, open_dataset(plan.dataset, plan.root).classes)
    methods_named(experiment.methods, model, experiment.costs)  # what is wrong should be told before the work
    tables = [read_table(folder) for folder in describe_dataset(plan, output / "table", cores, advance)]
    (split,) = plan.splits
    setup = {"dataset": plan.dataset, "split": split}
    rows = [setup | row for row in evaluate_tables(model, tables, experiment, cores)]
    return write_results(rows, output / "results.json")


def write_results(rows: Sequence[Row], path: Path) -> dict[str, Any]:
    """What is in the file then: rows, each on a line of its own, and the machine they were measured on."""
    results = {"environment": environment(), "rows": list(rows)}
    lines = ",\n".join(json.dumps(row) for row in rows)
    with atomic_file(path) as part:
        part.write_text(f'{{"environment": {json.dumps(results["environment"])},\n"rows": [\n{lines}\n]}}\n')
    return results


def evaluate_tables(model: Model, tables: Sequence[VideoTable], experiment: Experiment, cores: int = 1) -> list[Row]:
    """Rows of each method, budget and seed, per video and, as video "all", over the pixels of all of them."""
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
    """Supervoxels of each stretch of a video, by the frame that they are centred on."""
    which = table.graph.centroids[:, 0] * N_PIECES // table.n_frames
    return [np.flatnonzero(which == k) for k in range(N_PIECES)]


@dataclass(frozen=True, eq=False)
class _Judged:
    """A video that runs are made on; what many of them lead to is labelled once."""

    table: VideoTable
    arena: Arena
    _known: dict[bytes, Int32] = field(default_factory=dict)

    def labels(self, state: State) -> Int32:
        """Of a run that ended there: nothing but the descriptors that were computed has a say in them."""
        key = sha256(state.subsets.data).digest()
        if key not in self._known:
            self._known[key] = reward(self.arena, state).labels
        return self._known[key]


@dataclass(frozen=True, eq=False)
class _Outcome:
    """What came of a video, or of several.

    Attributes
    ----------
    video : its name
    labels : (N,)
    truth : (N, L) labelled pixels of each class
    probabilities : (N, L) H's probabilities, calibrated ones; None where there was a budget
    full_s, budget_s, spent_s : what all of the method's descriptors cost, what there was for them, and what was spent
    choices : (N_MOMENTS, D) descriptors computed, of each of the method's, by when
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
        names, h = self.method.descriptors, arena.model.classifiers
        subsets = np.full(len(arena), h.subset_of(names), np.int32)
        probabilities = h.calibrated().predict(table.values, place_of(table.graph), subsets)
        labels = label_table(arena.model, table, subsets, self.method.with_crf)
        full_s, choices = arena.full_s(names), np.full((1, len(names)), len(arena))
        return _Outcome(table.name, labels, table.truth, probabilities, full_s, np.inf, full_s, choices)

    def _bounded(self, video: _Judged) -> _Outcome:
        assert self.method.run is not None
        arena = video.arena
        names, known = self.method.descriptors, arena.model.classifiers.names
        full_s, times_s = arena.full_s(names), np.full(arena.world.private_s.shape, np.nan)
        budget_s = self.budget.in_s(full_s)
        state = self.method.run(arena, names, budget_s, self.seed, times_s)
        labels, spent_s = video.labels(state), float(state.scalars.spent_s)
        end_s = budget_s if np.isfinite(budget_s) else spent_s
        choices = _moments(times_s[:, [known.index(name) for name in names]], end_s)
        return _Outcome(arena.name, labels, arena.truth, None, full_s, budget_s, spent_s, choices)


def _runs(method: Method, experiment: Experiment) -> list[_Run]:
    if method.run is None:
        return [_Run(method, Budget(np.inf), 0)]
    return [_Run(method, budget, seed) for budget in experiment.budgets for seed in range(experiment.n_seeds)]


def _moments(times_s: Float64, end_s: float) -> Int64:
    """How many descriptors were computed by when, (N_MOMENTS, D), from when each was (N, D), nan if never."""
    edges = np.linspace(0, end_s, N_MOMENTS + 1)
    edges[-1] = np.inf
    return np.stack([np.histogram(own[np.isfinite(own)], edges)[0] for own in times_s.T], axis=1)


def _pooled(outcomes: Sequence[_Outcome]) -> _Outcome:
    probabilities = [one.probabilities for one in outcomes if one.probabilities is not None]
    return _Outcome(
        "all",
        np.concatenate([one.labels for one in outcomes]),
        np.concatenate([one.truth for one in outcomes]),
        np.concatenate(probabilities) if probabilities else None,
        sum(one.full_s for one in outcomes),
        sum(one.budget_s for one in outcomes),
        sum(one.spent_s for one in outcomes),
        np.sum([one.choices for one in outcomes], axis=0),
    )


def check_classes(model: Model, classes: Classes) -> None:
    """Refuse videos that are labelled with other classes than the model tells apart."""
    if classes.names != model.classes.names:
        known, others = (", ".join(of.names) for of in (model.classes, classes))
        raise UsageError(f"the model has the classes {known}, the dataset has {others}; train a model on this dataset")


def label_table(model: Model, table: VideoTable, subsets: Int32, with_crf: bool = True) -> Int32:
    """Label of every supervoxel, (N,), from the descriptors that were computed for each, as bits."""
    h = model.classifiers
    probabilities = h.predict(table.values, place_of(table.graph), subsets)
    probabilities = interpolate(probabilities, subsets > 0, table.graph, h.prior)
    problem = make_potentials(model.crf, Nodes(probabilities, h.scaled(table.values), subsets, h.starts), table.graph)
    return INFERENCE["expansion"](problem) if with_crf else problem.unary.argmin(axis=1).astype(np.int32)


def figures_of(accuracy: Accuracy, classes: Classes) -> dict[str, Any]:
    """The field `accuracy` of a row."""
    per_class = zip(classes.names, accuracy.per_class.tolist(), strict=True)
    return {
        "global": or_none(accuracy.overall),
        "class_average": or_none(accuracy.class_average),
        "miou": or_none(accuracy.miou),
        "per_class": {name: value for name, value in per_class if value == value},
    }


def pixels_of(confusion: Int64, classes: Classes) -> dict[str, list[int]]:
    """The field `pixels` of a row: right, labelled and predicted, for each class that has any of them.

    Summed over videos, they give every figure over all of them.
    """
    counts = np.stack([np.diag(confusion), confusion.sum(axis=1), confusion.sum(axis=0)], axis=1)
    return {name: own for name, own in zip(classes.names, counts.tolist(), strict=True) if any(own)}


def or_none(figure: float) -> float | None:
    """JSON has neither nan nor infinity."""
    return figure if np.isfinite(figure) else None


def _row(run: _Run, outcome: _Outcome, model: Model, costs: str, pieces: Sequence[Int64]) -> Row:
    names, truth, probabilities = run.method.descriptors, outcome.truth, outcome.probabilities
    confusion = confusion_of(truth, outcome.labels)
    parts = [confusion_of(truth[own], outcome.labels[own]) for own in pieces]
    moments = [dict(zip(names, some, strict=True)) for some in outcome.choices.tolist()]
    return {
        "video": outcome.video,
        "method": run.method.name,
        "budget_fraction": or_none(run.budget.amount if run.budget.is_share else outcome.budget_s / outcome.full_s),
        "budget_s": or_none(outcome.budget_s),
        "spent_s": outcome.spent_s,
        "seed": run.seed,
        "n_supervoxels": len(outcome.labels),
        "accuracy": figures_of(accuracy_of(confusion), model.classes),
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
