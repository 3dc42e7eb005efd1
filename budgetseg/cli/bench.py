"""`budgetseg bench`: how fast and how good each part is on this machine."""

import os
from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import AsJson, print_json, print_table, progress
from budgetseg.cli.options import cores_for
from budgetseg.errors import UsageError

__all__ = ["bench"]

bench = typer.Typer(help="How fast and how good each part is on this machine.", no_args_is_help=True)


@bench.callback()
def _benches() -> None:
    """How fast and how good each part is on this machine."""


Data = Annotated[
    Path | None,
    typer.Option(
        envvar="BUDGETSEG_DATA",
        help="Folder that holds camvid/ or suny/; without it ../shared/data if that has them, else a street.",
    ),
]
Repeats = Annotated[int, typer.Option(min=1, help="Runs to take the median time of.")]


@bench.command("supervoxels")
def supervoxels(
    data: Data = None,
    tier: Annotated[
        list[str] | None, typer.Option(help="Only this tier; may be repeated.", autocompletion=one_of("tier"))
    ] = None,
    scaling: Annotated[bool, typer.Option(help="Other frame sizes, a constant and a noise video instead.")] = False,
    repeats: Repeats = 3,
    as_json: AsJson = False,
) -> None:
    """Supervoxels: CPU time on one thread, peak memory, and quality against labels."""
    from budgetseg.evaluation.bench_supervoxels import bench_supervoxels, data_cases, scaling_cases
    from budgetseg.supervoxels.tiers import TIERS, tier_named

    tiers = tuple(tier_named(name).name for name in tier or TIERS)
    cases = scaling_cases() if scaling else data_cases(data or _usual_place("camvid", "suny"))
    with progress("bench supervoxels", len(cases) * len(tiers), "runs") as advance:
        rows = bench_supervoxels(cases, tiers, repeats, advance)
    _print("supervoxels", rows, as_json)


@bench.command("descriptors")
def descriptors(data: Data = None, repeats: Repeats = 3, as_json: AsJson = False) -> None:
    """Descriptors: CPU time on one thread for all supervoxels of CamVid's dense run, and how well costs are predicted.

    ms_per_frame holds everything, us_per_supervoxel what is not shared. The error is that of the predicted cost of a
    call. us_per_track is for the descriptors that follow tracks.
    """
    from budgetseg.evaluation.bench_descriptors import N_STEPS, bench_descriptors

    place = _with_camvid(data)
    with progress("bench descriptors", N_STEPS, "steps") as advance:
        rows = bench_descriptors(place, repeats, advance)
    _print("descriptors", rows, as_json)


@bench.command("expansion")
def expansion(
    data: Data = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A bundled model, or the folder of one; without it what it says is drawn.",
            autocompletion=one_of("model"),
        ),
    ] = None,
    repeats: Repeats = 3,
    as_json: AsJson = False,
) -> None:
    """α-expansion: CPU time on one thread and energy on two random problems, against SciPy and, if installed, gco.

    Then what the stages after the last descriptor cost per 1,000 supervoxels, on the graph of CamVid's dense run; with
    a model, of what it says there.
    """
    from budgetseg.evaluation.bench_expansion import CASES, bench_expansion
    from budgetseg.evaluation.bench_stages import bench_stages
    from budgetseg.models.bundle import load_model
    from budgetseg.models.find import find_model

    place, trained = _with_camvid(data), None if model is None else load_model(find_model(model))
    _print("expansion", [*bench_expansion(CASES, repeats), *bench_stages(place, repeats, trained)], as_json)


@bench.command("rollouts")
def rollouts(
    data: Data = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A bundled model, or the folder of one; without it one is fitted to the video.",
            autocompletion=one_of("model"),
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Threads for the last row.", show_default="all cores")
    ] = None,
    repeats: Repeats = 3,
    as_json: AsJson = False,
) -> None:
    """Rollouts: complete simulated runs a second, CRF and accuracy included, on 1,000 supervoxels of CamVid.

    Each begins at the first decision and spends 20 % of the full cost; shares are of the CPU time of one of them.
    """
    from budgetseg.evaluation.bench_rollouts import bench_rollouts
    from budgetseg.models.bundle import load_model
    from budgetseg.models.find import find_model

    place, trained = _with_camvid(data), None if model is None else load_model(find_model(model))
    _print("rollouts", bench_rollouts(place, cores_for(threads), repeats, trained), as_json)


@bench.command("decisions")
def decisions(
    data: Data = None,
    model: Annotated[
        str | None,
        typer.Option(
            help="A bundled model, or the folder of one, whose own policy decides; without it, any.",
            autocompletion=one_of("model"),
        ),
    ] = None,
    repeats: Repeats = 3,
    as_json: AsJson = False,
) -> None:
    """Decisions: CPU time of selecting, deciding and bookkeeping, on one thread, and its share of a budget.

    The budget is half of the full cost of 1,000 and 3,500 supervoxels of CamVid's dense run; descriptors are drawn.
    """
    from budgetseg.evaluation.bench_decisions import bench_decisions
    from budgetseg.models.bundle import load_model
    from budgetseg.models.find import find_model

    trained = None if model is None else load_model(find_model(model))
    _print("decisions", bench_decisions(_with_camvid(data), repeats, model=trained), as_json)


@bench.command("deadline")
def deadline(
    data: Data = None,
    model: Annotated[
        str, typer.Option(help="A bundled model, or the folder of one.", autocompletion=one_of("model"))
    ] = "camvid",
    space: Annotated[
        str,
        typer.Option(
            "--space",
            "--engine",
            help="auto, frames or regions, as of 'budgetseg label'.",
            autocompletion=one_of("space"),
        ),
    ] = "auto",
    threads: Annotated[int | None, typer.Option(min=1, help="Cores to label with.", show_default="all")] = None,
    repeats: Annotated[int, typer.Option(min=1, help="Runs of every clip and budget.")] = 3,
    clips: Annotated[int | None, typer.Option(min=1, help="Only so many clips.", show_default="all")] = None,
    as_json: AsJson = False,
) -> None:
    """Deadlines: budgets of 1.5 to 8 times the floor, timed from outside, idle and with every core loaded by others.

    The floor is that of regions, whichever space labels: what a video takes with no descriptor at all.

    Without --json, a line for idle runs and one for loaded ones: shares are of the budget.
    """
    from budgetseg.app.model import LoadedModel
    from budgetseg.evaluation.bench_deadline import TIMES_FLOOR, bench_deadline, deadline_clips, summarise
    from budgetseg.models.bundle import load_model
    from budgetseg.models.find import find_model

    place = data or _usual_place("camvid", "suny", "clips")
    sources = [] if place is None else deadline_clips(place)[:clips]
    if not sources:
        raise UsageError("no real clips at hand; give --data, the folder that holds camvid/, suny/ or clips/")
    loaded = LoadedModel(load_model(find_model(model)), cores_for(threads), space=space)
    with progress("bench deadline", 2 * len(sources) * len(TIMES_FLOOR) * repeats, "runs") as advance:
        rows = bench_deadline(loaded, sources, repeats, advance, loaded.choose(space))
    _print("deadline", rows if as_json else summarise(rows), as_json)


def _print(name: str, rows: list[dict[str, str | int | float | None]], as_json: bool) -> None:
    from budgetseg.evaluation.environment import environment

    if as_json:
        print_json({"bench": name, "environment": environment(), "rows": rows})
        return
    print_table(tuple(rows[0]), [tuple(_cell(value) for value in row.values()) for row in rows])


def _with_camvid(data: Path | None) -> Path | None:
    """The folder that was given, which must hold CamVid, or the usual one."""
    if data is not None and not (data / "camvid").is_dir():
        raise UsageError(f"no camvid/ in '{data}'; give the folder that holds it, or none for a street")
    return data or _usual_place("camvid")


def _usual_place(*names: str) -> Path | None:
    """Where data usually lies, if one of the datasets is there."""
    place = Path(os.pardir) / "shared" / "data"
    return place if any((place / name).is_dir() for name in names) else None


def _cell(value: str | float | None) -> str:
    """A value as the table shows it: three decimals below ten, none above."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if value < 10 else f"{value:.0f}"
    return str(value)
