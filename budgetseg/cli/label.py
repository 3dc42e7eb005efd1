"""`budgetseg label`: every pixel of a video gets a class, within a budget."""

import re
import signal
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import AsJson, Rows, print_json, print_table, progress, say, tell
from budgetseg.cli.job import find_job, run_job
from budgetseg.cli.options import (
    BackEnd,
    Precision,
    Space,
    Threads,
    cores_for,
    parse_budgets,
    parse_bytes,
    parse_seconds,
)
from budgetseg.cli.stop import ended_by_ctrl_c
from budgetseg.errors import UsageError

if TYPE_CHECKING:
    from budgetseg.app.job import Terms
    from budgetseg.app.labeller import Labeller, Order, Task, Written
    from budgetseg.app.model import LoadedModel
    from budgetseg.engine.request import Request
    from budgetseg.executors.registry import ExecutorOptions
    from budgetseg.video.core import Span

__all__ = ["label"]

DEFAULT_MODEL = "camvid"
MOST = "100%"
"""The most that is spent to reach an accuracy, as a text for --budget."""
PRIOR_ONLY = 3
"""Exit status where not one frame could be predicted."""
STOPPING = "Ctrl-C: spending ends, and labels are written; press it again to leave without them"

Videos = Annotated[
    list[Path],
    typer.Argument(
        metavar="VIDEO",
        help="Video files, folders of PNG or JPEG frames (each folder is one video), folders that hold videos at any "
        "depth, patterns such as 'clips/**/*.mp4', '@list.txt' with a path a line, or a CSV file with columns path and "
        "priority.",
        show_default=False,
    ),
]
BudgetText = Annotated[
    str | None,
    typer.Option(
        help="Time to spend: 500ms, 10s, 2m or 1h; 20% or 0.2 of the full cost on this machine; inf for no bound. "
        "Several, such as 2s,5s,10s, keep the labels at each of them, from one run.",
        show_default=False,
    ),
]
TargetAccuracy = Annotated[
    float | None,
    typer.Option(
        help="Share of right pixels to aim at, instead of a budget; 0.85 is 85 %. By frames, each try has twice the "
        "budget of the one before, until so much is expected. By regions, it takes the smallest budget of descriptors "
        "that reached it on training videos.",
        show_default=False,
    ),
]
Scope = Annotated[
    str,
    typer.Option(
        help="What the budget covers: 'total', from the first frame read to labels ready, or 'descriptors', the time "
        "of descriptors alone.",
        autocompletion=one_of("scope"),
    ),
]
AnyModel = Annotated[
    str | None,
    typer.Option(
        help="Name of a bundled model, or folder of a model that 'budgetseg train' or 'adapt' wrote.",
        show_default="camvid; with --resume or --replay the model of that run",
        autocompletion=one_of("model"),
    ),
]
Network = Annotated[
    list[Path] | None,
    typer.Option(
        help="ONNX file of a segmentation network, or its TOML card, to label with in place of a model. May be given "
        "several times, for networks with the same classes. 'budgetseg network inspect' shows what is understood.",
        show_default=False,
    ),
]
Select = Annotated[
    str | None,
    typer.Option(
        help="Which supervoxel comes next: 'random'; 'sure' or 'unsure', by the confidence of finished neighbours; "
        "'large'; 'doubt', large with unsure neighbours; 'wanted', highest score of the policy. For regions only.",
        show_default="the order of the policy",
        autocompletion=one_of("select"),
    ),
]
Policy = Annotated[
    str | None,
    typer.Option(
        help="What chooses descriptors: 'learned', the model's policy; 'static', its fixed plan; 'random'. For "
        "regions only.",
        show_default="learned, if the model has it, else static",
        autocompletion=one_of("policy"),
    ),
]
Seed = Annotated[int, typer.Option(min=0, help="Seed of all random choices.")]
Resume = Annotated[
    Path | None,
    typer.Option(help="Folder of an earlier run to continue; --budget is added to it.", show_default=False),
]
Replay = Annotated[
    Path | None,
    typer.Option(help="Folder of an earlier run to repeat exactly; takes no --budget.", show_default=False),
]
Why = Annotated[
    bool,
    typer.Option("--why", help="Write why.npz and why.png: where each label comes from, and its confidence."),
]
Npz = Annotated[bool, typer.Option("--npz", help="Also write labels.npz: all labels as one array.")]
NoOverlay = Annotated[
    bool, typer.Option("--no-overlay", help="Leave out overlay.mp4, which takes most of the time of writing.")
]
NoPng = Annotated[bool, typer.Option("--no-png", help="Leave out labels/; the report and the export need it.")]
Start = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Number of the first frame to label, counted from 0.",
        show_default="0; with --resume or --replay as in that run",
    ),
]
End = Annotated[
    int | None, typer.Option(min=1, help="Number of the frame to stop before.", show_default="to the last frame")
]
Stride = Annotated[
    int | None,
    typer.Option(min=1, help="Distance of the frames to label: 2 takes every second frame.", show_default="1"),
]
Strict = Annotated[
    bool,
    typer.Option(
        "--strict",
        help="Decode every frame first, and refuse a video with missing or damaged frames. Otherwise they are counted, "
        "and the ledger says how many there are.",
    ),
]
MaxMemory = Annotated[
    str | None,
    typer.Option(
        help="Memory that one frame may need, such as 500MB or 4GB. Videos with larger frames are refused.",
        show_default="what is free",
    ),
]
Output = Annotated[
    Path | None,
    typer.Option(
        "--output",
        "-o",
        help="Folder for the results.",
        show_default="labelled; with --resume that folder, with --replay 'replayed'",
    ),
]

Jobs = Annotated[
    int | None,
    typer.Option(min=1, help="Number of videos that are labelled at a time.", show_default="1"),
]
ExecutorName = Annotated[
    str,
    typer.Option(
        "--executor",
        help="What labels several videos: 'local', this process; 'processes' of this machine; 'auto': processes if "
        "--jobs is more than 1; 'ray', the machines of a Ray cluster.",
        autocompletion=one_of("executor"),
    ),
]
Address = Annotated[
    str | None,
    typer.Option(
        help="Ray cluster that labels several videos: 'auto' for the one that this machine is part of, HOST:PORT, or "
        "ray://HOST:10001 from outside of it.",
        show_default="auto with --executor ray",
    ),
]
Cpus = Annotated[
    int | None,
    typer.Option(
        min=1, help="Cores of each worker for several videos; the same as --threads.", show_default="1 in Ray"
    ),
]
Gpus = Annotated[float, typer.Option(min=0, help="GPUs of each worker in a Ray cluster.")]
ComputeBudget = Annotated[
    str | None,
    typer.Option(
        help="Time of all workers together for several videos, such as 40h; beside --budget or in its place.",
        show_default=False,
    ),
]
Shard = Annotated[
    str | None,
    typer.Option(help="Label a part of several videos: 3/100 is the third of a hundred parts.", show_default="all"),
]
Overwrite = Annotated[
    bool, typer.Option("--overwrite", help="Forget what is done of several videos, and label all of them again.")
]


def label(
    videos: Videos,
    budget: BudgetText = None,
    target_accuracy: TargetAccuracy = None,
    scope: Scope = "total",
    model: AnyModel = None,
    network: Network = None,
    space: Space = "auto",
    select: Select = None,
    policy: Policy = None,
    seed: Seed = 0,
    threads: Threads = None,
    backend: BackEnd = "auto",
    precision: Precision = "auto",
    resume: Resume = None,
    replay: Replay = None,
    why: Why = False,
    npz: Npz = False,
    no_overlay: NoOverlay = False,
    no_png: NoPng = False,
    start: Start = None,
    end: End = None,
    stride: Stride = None,
    strict: Strict = False,
    max_memory: MaxMemory = None,
    jobs: Jobs = None,
    executor: ExecutorName = "auto",
    address: Address = None,
    cpus: Cpus = None,
    gpus: Gpus = 0,
    compute_budget: ComputeBudget = None,
    shard: Shard = None,
    overwrite: Overwrite = False,
    output: Output = None,
    as_json: AsJson = False,
) -> None:
    """Label every pixel of a video within a time budget, and account for the time.

    Writes labels/*.png (class index and palette), overlay.mp4, ledger.json (where the time went), trace.json (for
    --replay) and state.npz (for --resume). Each video and each budget gets its own folder if there are several.

    Several videos share the budget: it goes where it buys most, and bounds the time of the whole job. What became of
    each is in manifest.jsonl. The same command again takes up what is left. Videos that cannot be read are skipped.

    The clock starts after the model is loaded, compiled and timed on this machine. It stops before files are written.
    Ctrl-C ends the spending and still writes complete labels; pressed twice, it ends the program.

    The exit status is 0 if all went well, and 2 for bad input. It is 3 if a budget was too short to predict a single
    frame; then every pixel has one class, whatever the video shows. It is 4 if some of several videos were skipped, and
    130 if Ctrl-C ended it, with the labels that there were by then.

    \b
    budgetseg label drive.mp4 --budget 10s -o out
    budgetseg label drive.mp4 --budget 2s,5s,10s --why -o out
    budgetseg label drive.mp4 --budget 20s --resume out
    budgetseg label drive.mp4 --replay out -o again
    budgetseg label drive.mp4 --budget 10s --start 250 --end 500 -o out
    budgetseg label clips/ --budget 2m --jobs 4 --model mymodel -o out
    budgetseg label drive.mp4 --network big.onnx --network small.onnx --budget 10s
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.app.backends import wanted_of
    from budgetseg.app.expect import check_accuracy
    from budgetseg.app.job import Terms
    from budgetseg.app.labeller import Labeller, Order
    from budgetseg.app.model import load
    from budgetseg.app.output import Wanted
    from budgetseg.app.spaces import AUTO, REGIONS, needs_regions
    from budgetseg.app.worker import Setup
    from budgetseg.evaluation.environment import environment

    networks = network or []
    if networks:
        _check_networks(model, target_accuracy, needs_regions(policy, select, scope), space)
    if target_accuracy is not None:
        check_accuracy(target_accuracy)
        _check_target(budget, replay, resume)
        budget = MOST
    compute_s = None if compute_budget is None else parse_seconds("compute-budget", compute_budget, "40h")
    terms = Terms(compute_s, overwrite)
    part = _part(shard)
    options = _executor_options(executor, jobs, cpus or threads, gpus, address)
    request = _request(budget if terms.compute_s is None else budget or "inf", scope, seed, replay, why)
    wanted = Wanted(npz, why, not no_overlay, not no_png)
    order = Order(
        videos,
        request,
        resume,
        replay,
        output,
        wanted,
        space,
        _span(start, end, stride),
        strict=strict,
        most_bytes=None if max_memory is None else parse_bytes(max_memory),
    )
    # All that can be refused is refused before the work.
    task = None if order.is_job else _single(order, options, terms, part)
    found = find_job(order, part, options) if order.is_job else []
    tell("getting ready")
    ready = REGIONS if space == AUTO and scope != "total" else order.wanted_space
    if model is None and not networks:
        networks = _networks_of(order)
    name = None if networks else model or _model_of(order)
    by = wanted_of(backend, precision, order.earlier)
    loaded = load(name, options.cpus, policy, select, ready, networks=networks, tell=say, wanted=by)
    if target_accuracy is not None:
        order = _aimed(order, loaded, target_accuracy)
    with ended_by_ctrl_c(STOPPING) as stopped:
        if task is not None:
            _run(Labeller(loaded, {"environment": environment()}, stopped, progress, tell), order, task, as_json)
        else:
            setup = Setup(name, tuple(networks), options.cpus, policy, select, ready, by)
            run_job(
                order,
                found,
                setup,
                replace(terms, facts={"environment": environment()}),
                options,
                loaded,
                stopped,
                as_json,
            )


def _run(labeller: "Labeller", order: "Order", task: "Task", as_json: bool) -> None:
    """Label a video and print its ledgers; exit code 130 after Ctrl-C, 3 where nothing could be predicted."""
    written = labeller.run(order, task)
    if as_json:
        print_json({"ledgers": list(written.ledgers)})
    else:
        _print_understood(labeller.model)
        _print_done(written)
    is_prior = _say_prior(written)
    if labeller.stopped():
        raise typer.Exit(128 + signal.SIGINT)
    if is_prior:
        raise typer.Exit(PRIOR_ONLY)


def _say_prior(done: "Written") -> bool:
    """Say in plain words at which budgets nothing was predicted; whether there are any."""
    from budgetseg.app.shares import found_classes

    priors = {name: own for name, own in zip(done.budgets, done.ledgers, strict=True) if own["prior_only"]}
    for name, ledger in priors.items():
        label = found_classes(ledger["class_shares"])[0]
        typer.echo(
            f"'{done.folder}': {name} was too short to predict a single frame, so every pixel is '{label}', whatever "
            "the video shows; give a larger --budget",
            err=True,
        )
    return bool(priors)


def _single(order: "Order", options: "ExecutorOptions", terms: "Terms", part: tuple[int, int] | None) -> "Task":
    """The one video of an order; UsageError where options are for several."""
    given = {
        "--jobs": options.jobs,
        "--executor": options.executor != "auto",
        "--address": options.address,
        "--gpus": options.gpus,
        "--compute-budget": terms.compute_s,
        "--shard": part,
        "--overwrite": terms.overwrite,
    }
    names = [name for name, value in given.items() if value]
    if names:
        raise UsageError(f"{names[0]} is for several videos; leave it out, or give a folder, a pattern or a list")
    return order.task()


def _executor_options(
    executor: str, jobs: int | None, cpus: int | None, gpus: float, address: str | None
) -> "ExecutorOptions":
    """Who does the work; workers share the cores of this machine, and have one each elsewhere."""
    from budgetseg.executors.registry import ExecutorOptions

    is_ray = executor == "ray" or address is not None
    usual = 1 if is_ray else max(cores_for(None) // (jobs or 1), 1)
    return ExecutorOptions(executor, jobs, cpus or usual, gpus, address)


def _part(text: str | None) -> tuple[int, int] | None:
    """The part of --shard, and how many there are."""
    if text is None:
        return None
    match = re.fullmatch(r"(\d+)/(\d+)", text)
    if match is None or not 1 <= int(match[1]) <= int(match[2]):
        raise UsageError(f"--shard must be a part and the number of parts. Got '{text}'; for example 3/100")
    return int(match[1]), int(match[2])


def _span(start: int | None, end: int | None, stride: int | None) -> "Span | None":
    """The frames that options ask for; None without any of these options."""
    from budgetseg.video.core import Span

    if start is end is stride is None:
        return None
    return Span(start or 0, end, stride or 1)


def _check_target(budget: str | None, replay: Path | None, resume: Path | None) -> None:
    """Raise UsageError where --target-accuracy comes with an option that it cannot be combined with."""
    if budget is not None or replay is not None or resume is not None:
        raise UsageError("--target-accuracy takes no --budget, --resume or --replay; give only one of them")


def _aimed(order: "Order", model: "LoadedModel", accuracy: float) -> "Order":
    """An order that aims at an accuracy: by frames as runs go on, by regions by the budget that it needs."""
    from budgetseg.app.expect import budget_of
    from budgetseg.app.spaces import REGIONS, needs_regions

    assert order.request is not None
    needs = needs_regions(None, None, order.request.scope)
    if model.choose(order.wanted_space, needs) != REGIONS:
        return replace(order, target=accuracy)
    budget = budget_of(model.trained, accuracy)
    return replace(order, request=replace(order.request, budgets=(budget,), scope="descriptors"))


def _request(budget: str | None, scope: str, seed: int, replay: Path | None, why: bool) -> "Request | None":
    """The request of the options; None for a replay."""
    from budgetseg.engine.request import Request

    if replay is None:
        if budget is None:
            raise UsageError("a budget is missing; for example --budget 10s, or --budget inf for no bound")
        return Request(parse_budgets(budget), scope, seed=seed, explain=why)
    if budget is not None:
        raise UsageError("--replay takes no --budget, it repeats the run; use --resume to spend more")
    return None


def _model_of(order: "Order") -> str:
    """The model of the earlier run, or the default."""
    return DEFAULT_MODEL if order.earlier is None else order.earlier.model.place


def _networks_of(order: "Order") -> list[Path]:
    """The networks of the earlier run, where they were given in place of a model."""
    if order.earlier is None:
        return []
    paths = [Path(network.path) for network in order.earlier.model.networks]
    gone = next((path for path in paths if not path.is_file()), None)
    if gone is not None:
        raise UsageError(f"'{gone}', a network of the earlier run, is not there; give its networks with --network")
    return paths


def _check_networks(model: str | None, accuracy: float | None, needs: list[str], space: str) -> None:
    """Raise UsageError where --network comes with an option that only a trained model has."""
    from budgetseg.app.spaces import check_alone

    if model is not None:
        raise UsageError("--network and --model cannot be combined; give one of them")
    check_alone(["--target-accuracy", *needs] if accuracy is not None else needs, space)


def _print_understood(model: "LoadedModel") -> None:
    """Print what was understood of networks that were given in place of a model."""
    if model.mark is not None and model.mark.networks:
        for line in model.understood():
            typer.echo(line)


def _print_done(done: "Written") -> None:
    from budgetseg.app.shares import found_classes

    last = done.ledgers[-1]
    stages: Rows = [(name, *_seconds(entry)) for name, entry in last["stages"].items()]
    print_table(("stage", "planned s", "spent s"), stages)
    sources: Rows = [(name, str(entry["count"]), *_seconds(entry)) for name, entry in last["sources"].items()]
    title = "network" if last["space"] == "frames" else "descriptor"
    print_table((title, "computed", "planned s", "spent s"), sources)
    print_table(("budget", "seconds", "spent s", "overrun s"), _budgets(done))
    shares = last["class_shares"]
    print_table(("class", "share"), [(name, f"{100 * shares[name]:.1f} %") for name in found_classes(shares)])
    for line in _promised(done):
        typer.echo(line)
    for note in last["notes"]:
        typer.echo(f"Note: {note}")
    typer.echo(f"Labelled by {last['space']}.")
    for name, own in last["backends"].items():
        typer.echo(f"Network {name} was run by {own['backend']} in {own['precision']}.")
    typer.echo(f"Not in the budget: {last['loading_s']:.1f} s to get ready, {last['writing_s']:.1f} s to write files.")
    typer.echo(f"Results are in {done.folder}")


def _promised(done: "Written") -> list[str]:
    """A line on the expected accuracy for each budget that has one."""
    found = [ledger["expected"] for ledger in done.ledgers]
    lines = [(name, own["words"]) for name, own in zip(done.budgets, found, strict=True) if own is not None]
    return [words if len(done.budgets) == 1 else f"{name}: {words}" for name, words in lines]


def _seconds(entry: dict[str, Any]) -> tuple[str, str]:
    return f"{entry['planned_s']:.3f}", f"{entry['spent_s']:.3f}"


def _budgets(done: "Written") -> Rows:
    rows: Rows = []
    for name, ledger in zip(done.budgets, done.ledgers, strict=True):
        given = "-" if ledger["budget_s"] is None else f"{ledger['budget_s']:.3f}"
        rows.append((name, given, f"{ledger['spent_s']:.3f}", f"{ledger['overrun_s']:.3f}"))
    return rows
