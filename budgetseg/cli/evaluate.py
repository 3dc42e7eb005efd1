"""`budgetseg evaluate`: how accurate a model is on a split of a dataset."""

from pathlib import Path
from typing import Annotated, Any

import typer

from budgetseg.cli.console import AsJson, Rows, print_json, print_table, progress
from budgetseg.cli.options import cores_for, parse_names
from budgetseg.errors import UsageError

__all__ = ["evaluate"]

Row = dict[str, Any]


def evaluate(
    dataset: Annotated[str, typer.Argument(help="A dataset; see 'budgetseg datasets'.", show_default=False)],
    model: Annotated[Path, typer.Option(help="Folder of a model, as 'budgetseg train' writes it.")],
    root: Annotated[Path | None, typer.Option(help="The folder that holds the dataset.")] = None,
    split: Annotated[str, typer.Option(help="The split to judge on.")] = "test",
    methods: Annotated[
        str, typer.Option(help="crf, crf-full, and unary, unary-full without the CRF; with commas between them.")
    ] = "unary,crf,unary-full,crf-full",
    budgets: Annotated[str, typer.Option(help="Only 'inf', no bound, so far.")] = "inf",
    networks: Annotated[
        Path | None, typer.Option(help="Folder of networks with folds, for videos that the model's own have seen.")
    ] = None,
    per_frame: Annotated[int | None, typer.Option(min=1, help="Supervoxels a frame.  [default: what suits]")] = None,
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for results.json and tables.")] = Path(
        "results"
    ),
    threads: Annotated[int | None, typer.Option(min=1, help="Cores to use.  [default: all]")] = None,
    as_json: AsJson = False,
) -> None:
    """Label every video of a split and compare with the truth: global, class average, mean IoU, per class.

    The calibration error is that of H's probabilities, before the CRF. Descriptors are kept in OUTPUT/table, so that a
    second evaluation is quick.
    """
    from budgetseg.descriptors.describe import Plan, count_frames
    from budgetseg.evaluation.experiment import evaluate_dataset
    from budgetseg.models.bundle import load_model

    if budgets != "inf":
        raise UsageError(f"budgets must be 'inf' so far. Got '{budgets}'")
    trained, names = load_model(model), parse_names(methods)
    tier, known = trained.settings["tier"], trained.classifiers.names
    plan = Plan(dataset, root, (split,), known, networks or trained.networks, per_frame, tier)
    with progress("describe", count_frames(plan)) as advance:
        results = evaluate_dataset(trained, plan, names, output, cores_for(threads), advance)
    if as_json:
        print_json(results)
        return
    pooled = [row for row in results["rows"] if row["video"] == "all"]
    calibration = ("calibration error", *(_percent(row["calibration_error"]) for row in pooled))
    print_table(("class", *names), [*_figures(pooled), calibration, *_classes(pooled)])
    typer.echo(f"All rows are in {output / 'results.json'}")


def _figures(rows: list[Row]) -> Rows:
    kinds = {"class_average": "class average", "global": "global", "miou": "mean IoU"}
    return [(name, *(_percent(row["accuracy"][kind]) for row in rows)) for kind, name in kinds.items()]


def _classes(rows: list[Row]) -> Rows:
    names = rows[0]["accuracy"]["per_class"]
    return [(name, *(_percent(row["accuracy"]["per_class"][name]) for row in rows)) for name in names]


def _percent(share: float | None) -> str:
    return "-" if share is None else f"{100 * share:.1f}"
