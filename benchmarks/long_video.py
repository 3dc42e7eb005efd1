"""Time and peak memory of a 3,000-frame video of 480x360: CamVid's dense run, back and forth, as H.264.

Usage: python benchmarks/long_video.py DATA FOLDER [supervoxels|label|short], where DATA holds camvid/ and FOLDER has 1
GB to spare. Supervoxels of it in both tiers, labels by both spaces, or labels within about the time that decoding
takes and less, with their accuracy.
"""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import budgetseg
from budgetseg.app.spaces import FRAMES, REGIONS
from budgetseg.datasets import open_dataset
from budgetseg.evaluation.accuracy import accuracy_of, confusion_of_pixels
from budgetseg.supervoxels import TIERS
from budgetseg.timing.clock import WallClock
from budgetseg.video import VideoWriter, open_video

N_FRAMES = 3000
BUDGET = "30s"
SHORT_S = (0.25, 0.5, 1.0, 2.0, 4.0, 8.0)


def write_long_video(data: Path, path: Path) -> None:
    """The dense run forwards and backwards until it is long enough."""
    (dense,) = open_dataset("camvid", data / "camvid").videos("val")
    frames = dense.video().frames
    with VideoWriter(path, (480, 360), 15.0) as writer:
        for k in range(N_FRAMES):
            writer.write(frames[place_of(k, len(frames))])


def place_of(k: int, n: int) -> int:
    """Which of the n frames of the dense run is frame k."""
    turn, t = divmod(k, n)
    return t if turn % 2 == 0 else n - 1 - t


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
    """Print a line for each space."""
    for space in (FRAMES, REGIONS):
        arguments = ("label", str(video), "--budget", BUDGET, "--space", space, "-o", str(folder / space))
        (ledger,), peak_mb = (found := run(*arguments))[0]["ledgers"], found[1]
        print(
            f"{space}: {BUDGET}, spent {ledger['spent_s']:.2f} s  peak {peak_mb:.0f} MB  {'; '.join(ledger['notes'])}"
        )


def short(video: Path, data: Path) -> None:
    """Print a line for decoding alone, and one for each budget."""
    truth = open_dataset("camvid", data / "camvid").videos("val")[0].labels()
    clock = WallClock()
    n_frames = sum(1 for _ in open_video(video))
    print(f"decoding {n_frames} frames: {clock.now_s():.2f} s")
    model = budgetseg.load("camvid")
    for budget_s in SHORT_S:
        result = model.label(video, budget_s=budget_s)
        pairs = ((truth[place_of(k, len(truth))], result.labels[k]) for k in range(N_FRAMES))
        accuracy = accuracy_of(sum(confusion_of_pixels(*pair, len(model.classes)) for pair in pairs))  # type: ignore[arg-type]
        figures = " / ".join(f"{100 * x:.1f}" for x in (accuracy.class_average, accuracy.overall, accuracy.miou))
        n_asked = sum(entry.count for entry in result.ledger.sources.values())
        print(f"{budget_s:g} s: spent {result.ledger.spent_s:.3f}, {n_asked} questions, {figures}")


if __name__ == "__main__":
    root, place = Path(sys.argv[1]), Path(sys.argv[2])
    film = place / "long.mp4"
    write_long_video(root, film)
    wanted = sys.argv[3] if len(sys.argv) > 3 else "supervoxels"
    short(film, root) if wanted == "short" else {"supervoxels": supervoxels, "label": label}[wanted](film, place)
