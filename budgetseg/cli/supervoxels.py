"""`budgetseg supervoxels`: cut any video into supervoxels."""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from budgetseg.cli.console import AsJson, print_json, print_table, progress
from budgetseg.cli.options import Tier, cores_for, parse_size

if TYPE_CHECKING:
    from budgetseg.supervoxels import Summary

__all__ = ["supervoxels"]


def supervoxels(
    video: Annotated[Path, typer.Argument(help="Video file, or folder of PNG or JPEG frames.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("supervoxels"),
    n: Annotated[
        int | None,
        typer.Option(
            "-n", help="Number of supervoxels in the whole video.", show_default="1000, unless --level is given"
        ),
    ] = None,
    level: Annotated[
        int | None,
        typer.Option(help="Level of the hierarchy, 0 (fine) to 20 (coarse), instead of -n. The paper's is 9."),
    ] = None,
    tier: Tier = "quality",
    size: Annotated[
        str | None,
        typer.Option(
            help="Width and height in pixels to resize frames to, such as 480x360.", show_default="no resizing"
        ),
    ] = None,
    stride: Annotated[int, typer.Option(help="Distance of the frames to use: 2 takes every second frame.")] = 1,
    start: Annotated[int, typer.Option(help="First frame to use, counted from 0.")] = 0,
    end: Annotated[
        int | None, typer.Option(help="Frame to stop before, counted from 0.", show_default="end of the video")
    ] = None,
    window: Annotated[
        int | None,
        typer.Option(help="Number of frames to segment at once.", show_default="as many as 700 MB allow"),
    ] = None,
    threads: Annotated[
        int | None,
        typer.Option(min=1, help="Number of CPU cores to use; the result is the same.", show_default="all"),
    ] = None,
    overlay: Annotated[bool, typer.Option(help="Write overlay.mp4: the video with supervoxel boundaries.")] = True,
    pngs: Annotated[bool, typer.Option(help="Write ids/*.png: id = red + 256 green + 65536 blue.")] = False,
    as_json: AsJson = False,
) -> None:
    """Cut a video into supervoxels: connected regions of space and time that look alike.

    Writes ids.npz (array `ids`, frames × rows × columns), graph.npz (neighbours, sizes, positions), summary.json and
    overlay.mp4.

    \b
    budgetseg supervoxels drive.mp4 -n 1000 -o out
    """  # noqa: D301  # the parser keeps the lines after a real backspace
    from budgetseg.supervoxels import Request, export_supervoxels, warm_up
    from budgetseg.video import open_video

    request = Request(n, level, tier, window, cores_for(threads), overlay, pngs)
    request.check()
    source = open_video(video, size=parse_size(size), stride=stride, start=start, end=end)
    n_frames = source.count()
    if not as_json:
        seconds = "" if source.duration_s is None else f", {source.duration_s:.1f} s"
        typer.echo(f"{n_frames} frames of {source.width}×{source.height}{seconds}")
    warm_up()
    with progress("supervoxels", n_frames) as advance:
        summary = export_supervoxels(source, output, request, advance)
    if as_json:
        print_json({**asdict(summary), "output": str(output)})
    else:
        _print_summary(summary, request.n)
        typer.echo(f"Results are in {output}")


def _print_summary(summary: "Summary", asked: int | None) -> None:
    figures = {
        "supervoxels": str(summary.n),
        "edges": str(summary.n_edges),
        "mean voxels": f"{summary.mean_voxels:.0f}",
        "mean frames": f"{summary.mean_frames:.1f}",
        "read s": f"{summary.read_s:.2f}",
        "segment s": f"{summary.segment_s:.2f}",
        "write s": f"{summary.write_s:.2f}",
    }
    print_table(tuple(figures), [tuple(figures.values())])
    if asked is not None and summary.n < asked:
        typer.echo(f"This video has only {summary.n} supervoxels at the finest level; {asked} were asked for.")
