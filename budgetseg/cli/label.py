"""`budgetseg label`: every pixel of a video gets a class, within a budget."""

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import AsJson, Rows, print_json, print_table, progress, tell
from budgetseg.cli.options import cores_for, parse_budgets
from budgetseg.cli.stop import ended_by_ctrl_c
from budgetseg.errors import UsageError

if TYPE_CHECKING:
    from budgetseg.app.job import Order, Written
    from budgetseg.engine.request import Request

__all__ = ["label"]

DEFAULT_MODEL = "camvid"
STOPPING = "Ctrl-C: no more is spent, the labels are being written; again to leave without them"


def label(
    videos: Annotated[
        list[Path],
        typer.Argument(
            metavar="VIDEO",
            help="Video files, folders of PNG or JPEG frames (one video each), or folders of videos.",
            show_default=False,
        ),
    ],
    budget: Annotated[
        str | None,
        typer.Option(
            help="What may be spent: 500ms, 10s, 2m; 20% or 0.2, a share of what everything would cost here; inf, no "
            "bound. 2s,5s,10s keeps the labels at each of them, from one run.",
            show_default=False,
        ),
    ] = None,
    target_accuracy: Annotated[
        float | None,
        typer.Option(
            min=0,
            max=1,
            help="Instead of a budget: as many descriptors as promise so many right pixels, 0.85 for 85 %, on video "
            "like what the model was trained on.",
            show_default=False,
        ),
    ] = None,
    scope: Annotated[
        str,
        typer.Option(
            help="What the budget covers: 'total', from the first frame read to labels ready, or 'descriptors'.",
            autocompletion=one_of("scope"),
        ),
    ] = "total",
    model: Annotated[
        str | None,
        typer.Option(
            help="A bundled model, or the folder of one that 'budgetseg train' made.",
            show_default=DEFAULT_MODEL,
            autocompletion=one_of("model"),
        ),
    ] = None,
    space: Annotated[
        str,
        typer.Option(
            "--space",
            "--engine",
            help="How pixels get their labels: 'frames', networks on whole frames, carried along optical flow; "
            "'regions', descriptors of supervoxels and a CRF; 'auto', frames where the model has a network and no "
            "option is of regions alone. --engine is its old name, and 'supervoxels' that of regions.",
            autocompletion=one_of("space"),
        ),
    ] = "auto",
    select: Annotated[
        str | None,
        typer.Option(
            help="Which supervoxels come first: random; sure or unsure, by their neighbours; large; doubt, the large "
            "of which neighbours tell least; wanted, whom a learned policy wants most.",
            show_default="what suits the model",
            autocompletion=one_of("select"),
        ),
    ] = None,
    policy: Annotated[
        str | None,
        typer.Option(
            help="Who decides what is computed: 'learned', 'static', the model's plan, or 'random'.",
            show_default="learned, if the model has it",
            autocompletion=one_of("policy"),
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of everything that is random.")] = 0,
    threads: Annotated[int | None, typer.Option(min=1, help="Cores to use.", show_default="all")] = None,
    resume: Annotated[
        Path | None,
        typer.Option(help="Go on from this folder's results with as much budget more.", show_default=False),
    ] = None,
    replay: Annotated[
        Path | None,
        typer.Option(help="Do again, exactly, what led to this folder's results; takes no budget.", show_default=False),
    ] = None,
    why: Annotated[
        bool,
        typer.Option(
            "--why",
            help="Write why.npz and why.png: where the label of each pixel comes from, and how confident it is.",
        ),
    ] = False,
    npz: Annotated[bool, typer.Option("--npz", help="Write labels.npz, all labels as one array, as well.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="Folder for the results.",
            show_default="labelled; with --resume that folder, with --replay 'replayed'",
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Label every pixel of a video within a time budget, and account for the time.

    Writes labels/*.png (class index and palette), overlay.mp4, ledger.json (what the time went to), trace.json (for
    --replay) and state.npz (for --resume). Several videos share the budget in proportion to their size, and each gets a
    folder of its own; several budgets get a folder each.

    Getting ready (loading, compiling, measuring this machine the first time) comes before the clock starts, writing the
    files after it stops. Ctrl-C ends the spending and still writes complete labels; twice ends all.

    \b
    budgetseg label drive.mp4 --budget 10s -o out
    budgetseg label drive.mp4 --budget 2s,5s,10s --why -o out
    budgetseg label drive.mp4 --budget 20s --resume out
    budgetseg label drive.mp4 --replay out -o again
    budgetseg label clips/ --budget 2m --model mymodel --json
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.app.job import Job, Order
    from budgetseg.app.model import load
    from budgetseg.app.output import Wanted
    from budgetseg.app.spaces import AUTO, REGIONS
    from budgetseg.evaluation.environment import environment

    if target_accuracy is not None:
        budget, scope = _budget_of(model or DEFAULT_MODEL, target_accuracy, budget, replay), "descriptors"
    order = Order(videos, _request(budget, scope, seed, replay, why), resume, replay, output, Wanted(npz, why), space)
    tasks = order.tasks()  # all that can be refused is refused before the work
    tell("getting ready")
    ready = REGIONS if space == AUTO and scope != "total" else order.wanted_space
    loaded = load(model or _model_of(order), cores_for(threads), policy, select, ready)
    done = []
    with ended_by_ctrl_c(STOPPING) as stopped:
        job = Job(loaded, {"environment": environment()}, stopped, progress, tell)
        for one in job.run(order, tasks):
            done.append(one)
            if not as_json:
                _print_done(one)
    if as_json:
        print_json({"ledgers": [ledger for one in done for ledger in one.ledgers]})
    if len(done) < len(tasks):
        typer.echo(f"{len(tasks) - len(done)} of {len(tasks)} videos were not begun", err=True)
        raise typer.Exit(128 + signal.SIGINT)


def _budget_of(model: str, accuracy: float, budget: str | None, replay: Path | None) -> str:
    from budgetseg.app.expect import budget_of
    from budgetseg.models.bundle import load_model
    from budgetseg.models.find import find_model

    if budget is not None or replay is not None:
        raise UsageError("--target-accuracy takes the place of --budget and --replay; give one of them")
    return f"{100 * budget_of(load_model(find_model(model)), accuracy).amount:.3g}%"


def _request(budget: str | None, scope: str, seed: int, replay: Path | None, why: bool) -> "Request | None":
    from budgetseg.engine.request import Request

    if replay is None:
        if budget is None:
            raise UsageError("a budget is missing; for example --budget 10s, or --budget inf for no bound")
        return Request(parse_budgets(budget), scope, seed=seed, explain=why)
    if budget is not None:
        raise UsageError("--replay takes no --budget, it does what was done; use --resume to spend more")
    return None


def _model_of(order: "Order") -> str:
    return DEFAULT_MODEL if order.earlier is None else order.earlier.model.place


def _print_done(done: "Written") -> None:
    last = done.ledgers[-1]
    stages: Rows = [(name, *_seconds(entry)) for name, entry in last["stages"].items()]
    print_table(("stage", "planned s", "spent s"), stages)
    sources: Rows = [(name, str(entry["count"]), *_seconds(entry)) for name, entry in last["sources"].items()]
    title = "network" if last["space"] == "frames" else "descriptor"
    print_table((title, "computed", "planned s", "spent s"), sources)
    print_table(("budget", "seconds", "spent s", "overrun s"), _budgets(done))
    for note in last["notes"]:
        typer.echo(f"Note: {note}")
    typer.echo(f"Labelled by {last['space']}.")
    typer.echo(f"Getting ready took {last['loading_s']:.1f} s, writing {last['writing_s']:.1f} s, beside the budget.")
    typer.echo(f"Results are in {done.folder}")


def _seconds(entry: dict[str, Any]) -> tuple[str, str]:
    return f"{entry['planned_s']:.3f}", f"{entry['spent_s']:.3f}"


def _budgets(done: "Written") -> Rows:
    rows: Rows = []
    for name, ledger in zip(done.budgets, done.ledgers, strict=True):
        given = "-" if ledger["budget_s"] is None else f"{ledger['budget_s']:.3f}"
        rows.append((name, given, f"{ledger['spent_s']:.3f}", f"{ledger['overrun_s']:.3f}"))
    return rows
