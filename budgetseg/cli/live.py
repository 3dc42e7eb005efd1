"""`budgetseg live`: labels for the newest frame of a camera, within a latency."""

import json
import webbrowser
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from budgetseg.cli.console import say
from budgetseg.cli.label import AnyModel, Network
from budgetseg.cli.options import BackEnd, Precision, Threads, cores_for, parse_seconds
from budgetseg.cli.stop import ended_by_ctrl_c
from budgetseg.errors import BudgetsegError, UsageError

if TYPE_CHECKING:
    from budgetseg.app.model import LoadedModel
    from budgetseg.live.loop import Live
    from budgetseg.live.page import Page
    from budgetseg.live.record import Recorder

__all__ = ["live"]

DEFAULT_MODEL = "camvid"
INTERRUPTED = 130
SOME_LOST = 4
"""Exit status where some sources were lost for good, and others were not."""
STOPPING = "Ctrl-C: the stream ends; press it again to leave at once"


def live(
    sources: Annotated[
        list[str],
        typer.Argument(
            metavar="SOURCE",
            help="Cameras and streams: a device number such as 0, /dev/video0, rtsp://, http://, udp://, tcp:// or "
            "srt:// addresses, - for a pipe; files with --as-if-live.",
            show_default=False,
        ),
    ],
    latency: Annotated[
        str, typer.Option(help="Time from the arrival of a frame to its labels, at most: 50ms, 0.1s.")
    ] = "100ms",
    fps: Annotated[
        float | None, typer.Option(help="Frames a second of each source to label, at most.", show_default="all")
    ] = None,
    model: AnyModel = None,
    network: Network = None,
    threads: Threads = None,
    backend: BackEnd = "auto",
    precision: Precision = "auto",
    as_if_live: Annotated[
        bool, typer.Option("--as-if-live", help="Treat files as cameras: each frame arrives at its own time.")
    ] = False,
    time: Annotated[
        str | None, typer.Option(help="End after this time: 30s, 5m, 1h.", show_default="when the sources end")
    ] = None,
    serve: Annotated[
        int | None,
        typer.Option(min=0, max=65535, help="Port of a page that shows the stream; 0 for any.", show_default="no page"),
    ] = None,
    host: Annotated[
        str, typer.Option(help="Address of the page. With 0.0.0.0 everybody in your network sees it.")
    ] = "127.0.0.1",
    show: Annotated[bool, typer.Option("--show", help="Open the page in a browser.")] = False,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for overlays, labels and a ledger.", show_default="nothing is written"
        ),
    ] = None,
    every: Annotated[int, typer.Option(min=1, help="With -o: write the labels of one frame in so many.")] = 30,
    no_overlay: Annotated[bool, typer.Option("--no-overlay", help="With -o: write no overlays.")] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a line of JSON once a second, and the ledger as the last one.")
    ] = False,
) -> None:
    """Label the newest frame of cameras and streams within a latency.

    Every frame has labels within the latency, counted from its arrival, or it is counted as dropped. The oldest are
    dropped first. Networks think beside the stream, and their answers are carried along optical flow to the newest
    frame. So a network that takes longer than the latency serves, too. Several sources share the networks by need.

    A line a second tells frames in and out, ages, dropped frames, and which network was asked how often. The load is
    that of this program, as a share of all cores.

    A lost stream is opened again, after ever longer waits. The exit status is 0 when the sources or the time are over.
    It is 2 for bad input or a source that is lost for good, 4 where that is one of several, and 130 after Ctrl-C.

    \b
    budgetseg live 0 --latency 100ms --show
    budgetseg live rtsp://camera/main --latency 200ms --serve 8080 -o out
    budgetseg live rtsp://one/main rtsp://two/main --latency 200ms --json
    budgetseg live drive.mp4 --as-if-live --latency 50ms --time 30s
    budgetseg live udp://0.0.0.0:9000 --network my.onnx --fps 10
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.app.backends import wanted_of
    from budgetseg.app.live import LiveOrder, ledger_of, live_of, watch
    from budgetseg.app.model import load
    from budgetseg.live.status import Status
    from budgetseg.timing.clock import WallClock

    if network and model is not None:
        raise UsageError("--network and --model cannot be combined; give one of them")
    limit_s = float("inf") if time is None else parse_seconds("time", time, "30s, 5m")
    order = LiveOrder(parse_seconds("latency", latency, "50ms, 0.1s"), fps, as_if_live, limit_s)
    say("getting ready")
    loaded = load(
        None if network else model or DEFAULT_MODEL,
        cores_for(threads),
        space="frames",
        networks=network or [],
        tell=say,
        wanted=wanted_of(backend, precision, None),
    )
    clock = WallClock()
    with ended_by_ctrl_c(STOPPING) as stopped, ExitStack() as ends:
        loop = live_of(loaded, sources, order, stopped, clock)
        ends.callback(loop.close)
        began_s = clock.now_s()
        status = Status(loop, clock)
        page = _page(loop, status, loaded, (host, 0 if serve is None and show else serve))
        if page is not None:
            ends.callback(page.close)
        recorder = _recorder(loop, loaded, output, every, not no_overlay)
        if show and page is not None:
            webbrowser.open(page.url)
        error = _run(lambda: watch(loop, status, clock, _teller(as_json), page, recorder))
        if error is not None and not any(stream.meter.total.n_labelled for stream in loop.streams):
            raise error
        _finish(ledger_of(loop, loaded.classes, clock.now_s() - began_s, recorder), recorder, as_json)
        if error is not None:
            raise error
        if stopped():
            raise typer.Exit(INTERRUPTED)
    if any(stream.feed.error is not None for stream in loop.streams):
        raise typer.Exit(SOME_LOST)


def _page(loop: "Live", status: Any, loaded: "LoadedModel", place: tuple[str, int | None]) -> "Page | None":
    """The page, where one is wanted; its address is printed."""
    host, port = place
    if port is None:
        return None
    from budgetseg.live.page import Page

    page = Page(loop, status, loaded.classes, host, port)
    typer.echo(f"the page is at {page.url}", err=True)
    return page


def _recorder(loop: "Live", loaded: "LoadedModel", output: Path | None, every: int, overlay: bool) -> "Recorder | None":
    if output is None:
        return None
    from budgetseg.live.record import Recorder, Recording

    names = [stream.feed.name for stream in loop.streams]
    return Recorder(output, loaded.classes, names, Recording(every=every, overlay=overlay))


def _run(watch: Callable[[], None]) -> BudgetsegError | None:
    """Watch the streams to their end; the error that ended them, so that the ledger comes first."""
    try:
        watch()
    except BudgetsegError as error:
        return error
    return None


def _teller(as_json: bool) -> Callable[[dict[str, Any]], None]:
    """Prints what a look has found."""
    from budgetseg.live.status import line_of

    if as_json:
        return lambda latest: print(json.dumps(latest), flush=True)
    return lambda latest: typer.echo(line_of(latest), err=True)


def _finish(ledger: dict[str, Any], recorder: "Recorder | None", as_json: bool) -> None:
    """Print the ledger, and write it where files are wanted; the error of writing, if there was one."""
    if as_json:
        print(json.dumps(ledger), flush=True)
    else:
        for source in ledger["sources"]:
            ages = ", ".join(f"{name} {_age(source[f'age_{name}_ms'])}" for name in ("p50", "p99"))
            counts = f"{source['labelled']} of {source['arrived']} frames labelled"
            share = f"{100 * source['dropped_share']:.1f} % dropped"
            typer.echo(f"{source['name']}: {counts}, {share}, age {ages}")
        for note in ledger["notes"]:
            typer.echo(f"note: {note}")
    if recorder is None:
        return
    if recorder.error is not None:
        raise recorder.error
    recorder.write_ledger(ledger)


def _age(ms: float | None) -> str:
    return "-" if ms is None else f"{ms:.0f} ms"
