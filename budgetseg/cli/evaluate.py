"""`budgetseg evaluate`: the accuracy of a model on a split of a dataset."""

import math
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import AsJson, Rows, print_json, print_table, progress
from budgetseg.cli.options import Dataset, Model, PerFrame, Root, Threads, cores_for, parse_budgets, parse_names
from budgetseg.errors import UsageError

if TYPE_CHECKING:
    from budgetseg.evaluation.summary import Line, Mean

__all__ = ["evaluate"]

Row = dict[str, Any]

Methods = Annotated[
    str | None,
    typer.Option(
        help="Methods, separated by commas, or 'all' that the model has. Without a budget: crf, and unary without the "
        "CRF. With a budget: static, static-rest, baseline1, baseline1-rest, baseline2, baseline3, baseline3-rest, "
        "budget-rndrnk, budget-nhbrnk, budget-wanted. Each also with -full, which adds networks and other descriptors; "
        "budget-full is budget-nhbrnk with these. With --clock wall: static, budget-wanted-full, frames, "
        "frames-even, every-frame, every-frame-large, keyframes, keyframes-large.",
        show_default="unary, crf, and with a network unary-full, crf-full; with --clock wall all",
    ),
]

_KINDS = {"class_average": "class average", "global": "global", "miou": "mean IoU"}


def evaluate(
    dataset: Dataset,
    model: Model,
    root: Root = None,
    split: Annotated[str, typer.Option(help="Split to label.")] = "test",
    methods: Methods = None,
    budgets: Annotated[
        str,
        typer.Option(help="Budgets per video, separated by commas: 0.2 or 20% of the full cost, 10s, or inf."),
    ] = "inf",
    seeds: Annotated[int, typer.Option(min=1, help="Number of runs of each method with a budget.")] = 5,
    costs: Annotated[
        str,
        typer.Option(
            help="'shared': work that supervoxels share is paid once. 'unshared', as in the paper: every descriptor "
            "pays for all that it needs.",
            autocompletion=one_of("costs"),
        ),
    ] = "shared",
    scope: Annotated[
        str,
        typer.Option(
            help="What budgets cover: 'descriptors', or 'total', from the first frame read to labels ready.",
            autocompletion=one_of("scope"),
        ),
    ] = "descriptors",
    clock: Annotated[
        str,
        typer.Option(
            help="'cost', the measured costs of the table; or with --scope total 'wall', real time.",
            autocompletion=one_of("clock"),
        ),
    ] = "cost",
    networks: Annotated[
        Path | None,
        typer.Option(
            help="Folder of networks with fold networks, for videos that the model's networks were trained on.",
            show_default="those of the model",
        ),
    ] = None,
    per_frame: PerFrame = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for results.json and tables.")] = Path(
        "results"
    ),
    threads: Threads = None,
    as_json: AsJson = False,
) -> None:
    """Label every video of a split and compare with the truth: global, class average, mean IoU, per class.

    The calibration error is that of H's probabilities, before the CRF. Intervals are 95 % confidence intervals of the
    mean over seeds. Descriptors are kept in OUTPUT/table, which makes a second evaluation quick. With --scope total
    --clock wall videos are labelled in real time, from the first frame read to labels ready, and no table is kept.
    """
    from budgetseg.descriptors.describe import Description, count_frames
    from budgetseg.evaluation.experiment import Experiment, evaluate_dataset
    from budgetseg.evaluation.methods import lacking, usual_methods
    from budgetseg.evaluation.summary import summarise
    from budgetseg.evaluation.wall import evaluate_wall, n_runs
    from budgetseg.models.bundle import load_model
    from budgetseg.models.find import find_model

    on_wall, trained = clock == "wall", load_model(find_model(model))
    usual = ("all",) if on_wall else usual_methods(trained)
    names = usual if methods is None else parse_names(methods)
    experiment = Experiment(names, parse_budgets(budgets), seeds, costs, scope, clock)
    if on_wall and networks is not None:
        raise UsageError("--networks cannot be used with --clock wall; leave it out")
    tier, known = trained.settings["tier"], trained.classifiers.names
    plan = Description(dataset, root, (split,), known, networks or trained.networks, per_frame, tier)
    run = evaluate_wall if on_wall else evaluate_dataset
    total = n_runs(plan, trained, experiment) if on_wall else count_frames(plan)
    with progress("label" if on_wall else "describe", total) as advance:
        results = run(trained, plan, experiment, output, cores_for(threads), advance)
    if as_json:
        print_json(results)
        return
    pooled = [row for row in results["rows"] if row["video"] == "all"]
    if not on_wall and all(row["budget_s"] is None and not row["choices_over_time"] for row in pooled):
        calibration = ("calibration error", *(_percent(row["calibration_error"]) for row in pooled))
        print_table(("class", *(row["method"] for row in pooled)), [*_figures(pooled), calibration, *_classes(pooled)])
    else:
        lines = sorted(summarise(pooled), key=lambda line: line.budget_fraction or math.inf)
        heads = ("budget", "spent", "method", *_KINDS.values())
        if on_wall:
            heads += ("temporal consistency",)
        print_table(heads, [_line(line)[: len(heads)] for line in lines])
    if missing := ", ".join(() if on_wall else lacking(trained)):
        typer.echo(f"No method uses {missing}: the model was trained without.")
    typer.echo(f"All rows are in {output / 'results.json'}")


def _line(line: "Line") -> tuple[str, ...]:
    budget = "inf" if line.budget_s is None else f"{100 * (line.budget_fraction or 0):.3g} % = {line.budget_s:.3g} s"
    figures = (*(line.figures[kind] for kind in _KINDS), line.consistency)
    return budget, f"{line.spent_s:.3g} s", line.method, *map(_interval, figures)


def _interval(mean: "Mean") -> str:
    return _percent(mean.value) + ("" if mean.within is None else f" ± {100 * mean.within:.1f}")


def _figures(rows: list[Row]) -> Rows:
    return [(name, *(_percent(row["accuracy"][kind]) for row in rows)) for kind, name in _KINDS.items()]


def _classes(rows: list[Row]) -> Rows:
    names = rows[0]["accuracy"]["per_class"]
    return [(name, *(_percent(row["accuracy"]["per_class"][name]) for row in rows)) for name in names]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"
