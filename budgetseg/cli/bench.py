"""`budgetseg bench`: speed and quality of each part on this machine."""

import os
from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.complete import one_of
from budgetseg.cli.console import AsJson, print_json, print_table, progress
from budgetseg.cli.options import Model, Space, Threads, cores_for, parse_budgets, parse_seconds
from budgetseg.errors import UsageError

__all__ = ["bench"]

bench = typer.Typer(help="Measure speed and quality of each part on this machine.", no_args_is_help=True)


@bench.callback()
def _benches() -> None:
    """Measure speed and quality of each part on this machine."""


Data = Annotated[
    Path | None,
    typer.Option(
        envvar="BUDGETSEG_DATA",
        help="Folder that holds camvid/ or suny/.",
        show_default="../shared/data if it holds them, else a rendered street",
    ),
]
OptionalModel = Annotated[
    str | None,
    typer.Option(
        help="Name of a bundled model, or folder of a model that 'budgetseg train' wrote.",
        show_default="none: random data",
        autocompletion=one_of("model"),
    ),
]
Repeats = Annotated[int, typer.Option(min=1, help="Number of runs; the median time is shown.")]


@bench.command("supervoxels")
def supervoxels(
    data: Data = None,
    tier: Annotated[
        list[str] | None,
        typer.Option(help="Tier to measure; may be repeated.", show_default="both", autocompletion=one_of("tier")),
    ] = None,
    scaling: Annotated[
        bool, typer.Option(help="Measure other frame sizes, a constant video and a noise video instead.")
    ] = False,
    repeats: Repeats = 3,
    as_json: AsJson = False,
) -> None:
    """Measure supervoxels: CPU time on one thread, peak memory, and quality against labels."""
    from budgetseg.evaluation.bench_supervoxels import bench_supervoxels, data_cases, scaling_cases
    from budgetseg.supervoxels.tiers import TIERS, tier_named

    tiers = tuple(tier_named(name).name for name in tier or TIERS)
    cases = scaling_cases() if scaling else data_cases(data or _usual_place("camvid", "suny"))
    with progress("bench supervoxels", len(cases) * len(tiers), "runs") as advance:
        rows = bench_supervoxels(cases, tiers, repeats, advance)
    _print("supervoxels", rows, as_json)


@bench.command("descriptors")
def descriptors(data: Data = None, repeats: Repeats = 3, as_json: AsJson = False) -> None:
    """Measure descriptors: CPU time on one thread on CamVid's dense run, and the error of predicted costs.

    Column ms_per_frame is the whole cost, and us_per_supervoxel the part that is not shared. Column cost_error_median
    is the relative error of the predicted cost of a call. Column us_per_track is for descriptors that follow tracks.
    """
    from budgetseg.evaluation.bench_descriptors import N_STEPS, bench_descriptors

    place = _with_camvid(data)
    with progress("bench descriptors", N_STEPS, "steps") as advance:
        rows = bench_descriptors(place, repeats, advance)
    _print("descriptors", rows, as_json)


@bench.command("expansion")
def expansion(
    data: Data = None,
    model: OptionalModel = None,
    repeats: Repeats = 3,
    as_json: AsJson = False,
) -> None:
    """Measure α-expansion: CPU time on one thread and energy, beside SciPy and, if installed, gco.

    The first rows are two random problems. The other rows are the stages after the last descriptor, per 1,000
    supervoxels, on the graph of CamVid's dense run. With --model they use its predictions.
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
            help="Name of a bundled model, or folder of a model that 'budgetseg train' wrote.",
            show_default="a model fitted to the video",
            autocompletion=one_of("model"),
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads for the last row.", show_default="all cores")
    ] = None,
    repeats: Repeats = 3,
    as_json: AsJson = False,
) -> None:
    """Measure rollouts: simulated runs per second, with CRF and accuracy, on 1,000 supervoxels of CamVid.

    Each run starts at the first decision and spends 20 % of the full cost. Shares are of the CPU time of one run.
    """
    from budgetseg.evaluation.bench_rollouts import bench_rollouts
    from budgetseg.models.bundle import load_model
    from budgetseg.models.find import find_model

    place, trained = _with_camvid(data), None if model is None else load_model(find_model(model))
    _print("rollouts", bench_rollouts(place, cores_for(threads), repeats, trained), as_json)


@bench.command("decisions")
def decisions(
    data: Data = None,
    model: OptionalModel = None,
    repeats: Repeats = 3,
    as_json: AsJson = False,
) -> None:
    """Measure decisions: CPU time of selecting, deciding and bookkeeping on one thread, and its share of a budget.

    The budget is half of the full cost of 1,000 and of 3,500 supervoxels of CamVid's dense run. Descriptors are random
    numbers. With --model its policy decides, else a random one.
    """
    from budgetseg.evaluation.bench_decisions import bench_decisions
    from budgetseg.models.bundle import load_model
    from budgetseg.models.find import find_model

    trained = None if model is None else load_model(find_model(model))
    _print("decisions", bench_decisions(_with_camvid(data), repeats, model=trained), as_json)


@bench.command("deadline")
def deadline(
    data: Data = None,
    model: Model = "camvid",
    space: Space = "auto",
    threads: Threads = None,
    repeats: Annotated[int, typer.Option(min=1, help="Number of runs of every clip at every budget.")] = 3,
    clips: Annotated[int | None, typer.Option(min=1, help="Number of clips to label.", show_default="all")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure deadlines: budgets of 1.5 to 8 times the fixed cost, idle and with every core loaded.

    The fixed cost is the time to label a video by regions with no descriptor at all; it serves both spaces. Runs are
    timed from outside. The table has a line for idle and one for loaded runs, with shares of the budget. --json prints
    every run.
    """
    from budgetseg.app.model import LoadedModel
    from budgetseg.evaluation.bench_deadline import TIMES_FLOOR, bench_deadline, deadline_clips, summarise
    from budgetseg.models.bundle import load_model
    from budgetseg.models.find import find_model
    from budgetseg.networks.backends.registry import Wanted

    place = data or _usual_place("camvid", "suny", "clips")
    sources = [] if place is None else deadline_clips(place)[:clips]
    if not sources:
        raise UsageError("no real clips found; give --data, the folder that holds camvid/, suny/ or clips/")
    loaded = LoadedModel(load_model(find_model(model)), cores_for(threads), space=space, wanted=Wanted())
    with progress("bench deadline", 2 * len(sources) * len(TIMES_FLOOR) * repeats, "runs") as advance:
        rows = bench_deadline(loaded, sources, repeats, advance, loaded.choose(space))
    _print("deadline", rows if as_json else summarise(rows), as_json)


@bench.command("wait")
def wait(
    data: Data = None,
    model: Model = "camvid",
    repeats: Annotated[int, typer.Option(min=1, help="Number of warm runs.")] = 3,
    as_json: AsJson = False,
) -> None:
    """Measure how long a user waits, all files written: at first use, and for five minutes of film, both at 1 s.

    The first row labels ten seconds with empty caches: everything is compiled and timed. The others label a film of
    640×360 afterwards. Every run is a program of its own. Column other_s is to start it, and to make room for labels.
    """
    from budgetseg.evaluation.bench_wait import bench_wait

    with progress("bench wait", 1 + repeats, "runs") as advance:
        rows = bench_wait(data or _usual_place("film"), model, repeats, advance)
    _print("wait", rows, as_json)


@bench.command("backends")
def backends(
    data: Data = None,
    model: Annotated[
        str,
        typer.Option(
            help="Model whose networks are measured: a bundled one, or a folder.", autocompletion=one_of("model")
        ),
    ] = "camvid",
    network: Annotated[
        list[Path] | None,
        typer.Option(
            help="ONNX file of a network, or its TOML card, to measure in place of a model; may be repeated.",
            show_default=False,
        ),
    ] = None,
    threads: Annotated[
        int | None, typer.Option(min=1, help="Number of threads that run a network.", show_default="1, then all cores")
    ] = None,
    frames: Annotated[int, typer.Option(min=1, help="Number of frames that everything is run on.")] = 20,
    as_json: AsJson = False,
) -> None:
    """Measure networks in every back end and precision, on CamVid's dense run or a rendered street.

    Column ms is the shortest time of a network on one frame, while as many frames are worked on as there are threads.
    Column agreement is the share of pixels that are labelled as by onnxruntime. Nothing is remembered for 'label'.
    """
    from budgetseg.evaluation.bench_backends import bench_backends, frames_of, networks_of

    shown = frames_of(_with_camvid(data), frames)
    numbers = sorted({1, cores_for(None)}) if threads is None else [threads]
    networks = networks_of(model, network or [])
    with progress("bench backends", len(networks) * len(numbers), "measurements") as advance:
        rows = bench_backends(networks, shown, numbers, advance)
    _print("backends", rows, as_json)


@bench.command("batch")
def batch(
    data: Data = None,
    executor: Annotated[
        list[str] | None,
        typer.Option(
            help="What labels: local, processes or ray; may be repeated.",
            show_default="processes",
            autocompletion=one_of("executor"),
        ),
    ] = None,
    jobs: Annotated[
        list[int] | None, typer.Option(min=1, help="Videos at a time; may be repeated.", show_default="1 and 2")
    ] = None,
    videos: Annotated[int, typer.Option(min=1, help="Number of videos.")] = 16,
    frames: Annotated[int, typer.Option(min=1, help="Number of frames of each video.")] = 16,
    budget: Annotated[str, typer.Option(help="Time for each video on average, such as 10s; inf for no bound.")] = "inf",
    address: Annotated[str | None, typer.Option(help="Address of a Ray cluster.", show_default="auto")] = None,
    as_json: AsJson = False,
) -> None:
    """Measure how fast many short videos are labelled by several workers, each on one core.

    The videos are pieces of SUNY's test halves, or rendered streets. Column overhead_share is the share of the workers'
    time in which they neither label nor write: they start, get ready, look at videos, or wait for work.
    """
    from budgetseg.evaluation.bench_batch import Batch, bench_batch
    from budgetseg.executors.registry import ExecutorOptions

    (amount,) = parse_budgets(budget)
    if amount.is_share:
        raise UsageError(f"budget must be a time or 'inf'. Got '{budget}'; for example 10s")
    settings = [
        ExecutorOptions(name, n, 1, address=address if name == "ray" else None)
        for name in executor or ["processes"]
        for n in (jobs or [1, 2])
        if name != "local" or n == 1
    ]
    for options in settings:
        _ = options.name
    if data is not None and not (data / "suny").is_dir():
        raise UsageError(f"no suny/ in '{data}'; give the folder that holds it, or leave out --data")
    place = data or _usual_place("suny")
    with progress("bench batch", len(settings), "jobs") as advance:
        rows = bench_batch(place, Batch(videos, frames, amount.amount), settings, advance)
    _print("batch", rows, as_json)


@bench.command("live")
def live(
    data: Data = None,
    model: Model = "camvid",
    threads: Threads = None,
    latency: Annotated[str, typer.Option(help="Latencies, separated by commas.")] = "33ms,50ms,100ms",
    source: Annotated[
        list[str] | None,
        typer.Option(
            help="Source to measure: 'camera', 'file', 'mpegts', 'mpegts-lossy', 'rtsp' or 'eight'; may be repeated.",
            show_default="all; rtsp where GStreamer's server is installed",
        ),
    ] = None,
    load: Annotated[str, typer.Option(help="'idle', 'loaded' with a busy program on every core, or 'both'.")] = "both",
    time: Annotated[str, typer.Option(help="Time of each stream: 10s, 5m.")] = "10s",
    as_json: AsJson = False,
) -> None:
    """Measure streams: ages, dropped frames and accuracy, from sources that the bench serves itself.

    Sources are a camera in memory, a paced file, and MPEG-TS over loopback, also with loss and pauses. Where the
    system has GStreamer's server, a real RTSP stream is one. 'eight' is eight cameras at 10 Hz. Ages are over all
    frames that arrived: one that was dropped is infinitely old, and shown as '-'. The rows 'cheapest' and 'dearest' are
    one network alone on the newest frame, with nothing carried.
    """
    from budgetseg.app.model import load as load_model
    from budgetseg.evaluation.bench_live import KINDS, bench_live, cases_of

    unknown = [own for own in source or [] if own not in KINDS]
    if unknown:
        raise UsageError(f"no source '{unknown[0]}'; choose from {', '.join(KINDS)}")
    if load not in ("idle", "loaded", "both"):
        raise UsageError(f"--load must be idle, loaded or both. Got '{load}'")
    latencies_s = [parse_seconds("latency", text, "33ms, 50ms") for text in latency.split(",")]
    loads = ("idle", "loaded") if load == "both" else (load,)
    seconds = parse_seconds("time", time, "10s, 5m")
    cases = cases_of(data or _usual_place("camvid", "film"), source or KINDS)
    if not cases:
        raise UsageError("there is no RTSP server; install GStreamer's, or choose another --source")
    loaded = load_model(model, cores_for(threads), space="frames")
    with progress("bench live", len(loads) * len(cases) * len(latencies_s), "streams") as advance:
        rows = bench_live(loaded, cases, latencies_s, loads, seconds, advance)
    _print("live", rows, as_json)


def _print(name: str, rows: list[dict[str, str | int | float | None]], as_json: bool) -> None:
    from budgetseg.evaluation.environment import environment

    if as_json:
        print_json({"bench": name, "environment": environment(), "rows": rows})
        return
    print_table(tuple(rows[0]), [tuple(_cell(value) for value in row.values()) for row in rows])


def _with_camvid(data: Path | None) -> Path | None:
    """The given folder, which must hold CamVid, or the usual one."""
    if data is not None and not (data / "camvid").is_dir():
        raise UsageError(f"no camvid/ in '{data}'; give the folder that holds it, or leave out --data")
    return data or _usual_place("camvid")


def _usual_place(*names: str) -> Path | None:
    """The usual folder of data, if it holds one of the datasets."""
    place = Path(os.pardir) / "shared" / "data"
    return place if any((place / name).is_dir() for name in names) else None


def _cell(value: str | float | None) -> str:
    """A value as text: three decimals below ten, none above."""
    if value is None:
        return "-"
    if isinstance(value, float):
        return f"{value:.3f}" if value < 10 else f"{value:.0f}"
    return str(value)
