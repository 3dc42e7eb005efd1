"""`budgetseg supervoxels`: any video to a folder of supervoxels."""

import os
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.console import AsJson, print_json, print_table, progress

__all__ = ["supervoxels"]


def supervoxels(
    video: Annotated[Path, typer.Argument(help="A video file, or a folder of PNG or JPEG frames.", show_default=False)],
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("supervoxels"),
    n: Annotated[int, typer.Option("-n", help="How many supervoxels in the whole video.")] = 1000,
    level: Annotated[
        int | None,
        typer.Option(help="Level of the hierarchy, 0 (fine) to 20 (coarse), instead of -n; 9 is the paper's."),
    ] = None,
    tier: Annotated[str, typer.Option(help="'quality', or 'fast' for a few milliseconds a frame.")] = "quality",
    size: Annotated[str | None, typer.Option(help="Resize frames first, for example 480x360.")] = None,
    stride: Annotated[int, typer.Option(help="Take every so-manieth frame.")] = 1,
    start: Annotated[int, typer.Option(help="First frame, from 0.")] = 0,
    end: Annotated[int | None, typer.Option(help="Frame to stop before.")] = None,
    window: Annotated[
        int | None, typer.Option(help="Frames to segment at once; long videos are cut into windows by themselves.")
    ] = None,
    threads: Annotated[int, typer.Option(help="Cores to use; the result does not depend on it.")] = os.cpu_count() or 1,
    overlay: Annotated[bool, typer.Option(help="Write overlay.mp4, the video with the boundaries drawn in.")] = True,
    pngs: Annotated[bool, typer.Option(help="Write ids/*.png as well, id = red + 256 green + 65536 blue.")] = False,
    as_json: AsJson = False,
) -> None:
    """Cut a video into supervoxels: connected regions of space and time that look alike.

    Writes ids.npz (array `ids`, frames × rows × columns), graph.npz (who touches whom, where everyone lies) and
    overlay.mp4. Example: budgetseg supervoxels drive.mp4 -n 1000 -o out
    """
    from budgetseg.cli.options import parse_size
    from budgetseg.supervoxels import Request, export_supervoxels, warm_up
    from budgetseg.video import open_video

    request = Request(n, level, tier, window, threads, overlay, pngs)
    request.check()
    source = open_video(video, size=parse_size(size), stride=stride, start=start, end=end)
    if not as_json:
        typer.echo(_announce(source.n_frames, source.duration_s, source.width, source.height))
    warm_up()
    with progress("supervoxels", source.n_frames) as advance:
        summary = export_supervoxels(source, output, request, advance)
    if as_json:
        print_json({**asdict(summary), "output": str(output)})
        return
    print_table(
        ("supervoxels", "edges", "mean voxels", "mean frames", "read s", "segment s", "write s"),
        [
            (
                str(summary.n),
                str(summary.n_edges),
                f"{summary.mean_voxels:.0f}",
                f"{summary.mean_frames:.1f}",
                f"{summary.read_s:.2f}",
                f"{summary.segment_s:.2f}",
                f"{summary.write_s:.2f}",
            )
        ],
    )
    typer.echo(f"Results are in {output}")


def _announce(n_frames: int | None, duration_s: float | None, width: int, height: int) -> str:
    frames = "an unknown number of" if n_frames is None else str(n_frames)
    seconds = "" if duration_s is None else f", {duration_s:.1f} s"
    return f"{frames} frames of {width}×{height}{seconds}"
