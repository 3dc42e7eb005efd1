"""`budgetseg demo`: the main job, as far as it goes today, on a street that is rendered on the spot."""

from pathlib import Path
from typing import Annotated

import typer

from budgetseg.cli.console import print_table, progress

__all__ = ["demo"]


def demo(
    output: Annotated[Path, typer.Option("--output", "-o", help="Folder for the results.")] = Path("demo"),
    seed: Annotated[int, typer.Option(help="Which street to render.")] = 0,
) -> None:
    """Render a street, cut it into supervoxels in both tiers, and say how well they fit its exact labels."""
    from budgetseg.datasets.synthetic import render
    from budgetseg.evaluation.demo import N_STEPS, demo_supervoxels

    with progress("demo", 1 + N_STEPS, "steps") as advance:
        video, truth = render(seed)
        advance(1)
        rows = demo_supervoxels(video, truth, output, advance)
    typer.echo(f"A street of {len(video.frames)} frames, {video.shape[2]}×{video.shape[1]}, cut into supervoxels.")
    typer.echo("'reachable' is the accuracy of a perfect labelling of these supervoxels.\n")
    print_table(
        ("tier", "supervoxels", "ms a frame", "reachable"),
        [(row.tier, str(row.n), f"{row.ms_per_frame:.1f}", f"{100 * row.reachable:.1f} %") for row in rows],
    )
    typer.echo(f"Look at {output / 'street.mp4'}, {output / 'truth.mp4'} and {output / 'quality-1000.mp4'}")
