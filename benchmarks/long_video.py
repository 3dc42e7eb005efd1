"""Time and peak memory of a 3,000-frame video of 480x360: CamVid's dense run, back and forth, as H.264.

Usage: python benchmarks/long_video.py DATA FOLDER [supervoxels|label], where DATA holds camvid/ and FOLDER has 1 GB to
spare. Supervoxels of it in both tiers, or labels by both engines.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from budgetseg.datasets import open_dataset
from budgetseg.supervoxels import TIERS
from budgetseg.video import VideoWriter

N_FRAMES = 3000
BUDGET = "30s"


def write_long_video(data: Path, path: Path) -> None:
    """The dense run forwards and backwards until it is long enough."""
    (dense,) = open_dataset("camvid", data / "camvid").videos("val")
    frames = dense.video().frames
    with VideoWriter(path, (480, 360), 15.0) as writer:
        for k in range(N_FRAMES):
            turn, t = divmod(k, len(frames))
            writer.write(frames[t if turn % 2 == 0 else -1 - t])


def run(*arguments: str) -> tuple[dict[str, Any], float]:
    """What `budgetseg` prints as JSON, and the most memory that it had, in MB."""
    command = [sys.executable, "-m", "budgetseg", *arguments, "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        printed = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed")
    return json.loads(printed), usage.ru_maxrss / 1024


def supervoxels(video: Path, folder: Path) -> None:
    """Print a line for each tier."""
    for tier in sorted(TIERS):
        summary, peak_mb = run("supervoxels", str(video), "-n", "30000", "--tier", tier, "-o", str(folder / tier))
        times = "  ".join(f"{stage} {summary[f'{stage}_s']:.1f} s" for stage in ("read", "segment", "write"))
        print(f"{tier}: {summary['n']} supervoxels in {summary['n_windows']} windows  {times}  peak {peak_mb:.0f} MB")


def label(video: Path, folder: Path) -> None:
    """Print a line for each engine."""
    for engine in ("frames", "supervoxels"):
        arguments = ("label", str(video), "--budget", BUDGET, "--engine", engine, "-o", str(folder / engine))
        (ledger,), peak_mb = (found := run(*arguments))[0]["ledgers"], found[1]
        print(
            f"{engine}: {BUDGET}, spent {ledger['spent_s']:.2f} s  peak {peak_mb:.0f} MB  {'; '.join(ledger['notes'])}"
        )


if __name__ == "__main__":
    place = Path(sys.argv[2])
    write_long_video(Path(sys.argv[1]), place / "long.mp4")
    {"supervoxels": supervoxels, "label": label}[sys.argv[3] if len(sys.argv) > 3 else "supervoxels"](
        place / "long.mp4", place
    )
